"""Checkpoints that appear only when they are whole, in a folder for each run."""

import concurrent.futures
import contextlib
import dataclasses
import hashlib
import json
import logging
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import keras
import numpy.typing as npt
import tensorflow as tf

from firth import storage
from firth.recipes.run.run_recipe import RunRecipe

_LOG = logging.getLogger(__name__)
_FORMAT = 5
_PROGRESS = "progress.json"
_VARIABLES = "variables"
# Keys of `training` that decide which rows a device reads at once.
_PARTS = ("strategy", "replicas", "mesh", "gradient_accumulation_steps")
# Keys of `training` whose values may change when a run resumes.
_INCIDENTAL = (
    "steps",
    "rematerialisation",
    "backend",
    "jit_compile",
    "flash_attention",
    "steps_per_execution",
    "checkpoint_every_steps",
    "log_every_steps",
    "eval_every_steps",
    "eval_rows",
)
_NAME = re.compile(r"step-(\d+)")
# Names of runs' folders; see `run_key` and `run_folder`.
_RUN = re.compile(r"[0-9a-f]{24}(-\d+)?")


@dataclasses.dataclass(frozen=True)
class Progress:
    """The progress of a run.

    Attributes:
        step: Number of updates made.
        tokens: Number of tokens seen so far, padding not counted.
        seconds: Seconds of training so far, over all starts.
        planned_steps: Number of steps that the run was to have; 0 before its first step.
    """

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    planned_steps: int = 0


def run_key(recipe: RunRecipe, data_digest: str, tokenizer_digest: str) -> str:
    """Returns the name of the folder of a run's checkpoints.

    It changes with everything that the weights depend on: seed, tokenizer, sequences, objective, model and
    training of the recipe, and the content of the rows. It does not change with values that
    only change rounding, such as the steps between logs and, unless the goal compares examples, the devices.
    Nor does it with the number of steps, so that a run can be made longer.
    """
    incidental = {*_INCIDENTAL, *(() if recipe.goal.compares_examples else _PARTS)}
    parts = {
        "format": _FORMAT,
        "seed": recipe.seed,
        "sequences": recipe.sequences.model_dump(exclude={"shards"}),
        recipe.goal_key: recipe.goal.model_dump(),
        "model": recipe.model.model_dump(),
        "vocabulary_size": recipe.tokenizer.vocabulary_size,
        "training": recipe.training.model_dump(exclude=incidental),
        "data": data_digest,
        "tokenizer": tokenizer_digest,
        **recipe.start_key,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]


def state_by_name(model: keras.Model, optimizer: keras.optimizers.Optimizer) -> dict[str, tf.Variable]:
    """Returns TensorFlow's variables of a run, by names such as `model/backbone/token_embedding/table`."""
    return {name: variable.value for name, variable in variables_by_name(model, optimizer).items()}


def variables_by_name(model: keras.Model, optimizer: keras.optimizers.Optimizer) -> dict[str, keras.Variable]:
    """Returns all variables of a run, by the names of `state_by_name`, on whichever backend.

    Variables of the same name get a number after it.
    """
    state: dict[str, keras.Variable] = {}
    seen: Counter[str] = Counter()
    for part, variables in (("model", model.variables), ("optimizer", optimizer.variables)):
        for variable in variables:
            # The first part of a path is the model's own name, or the optimizer's.
            name = f"{part}/{variable.path.split('/', 1)[-1]}"
            state[f"{name}:{seen[name]}" if seen[name] else name] = variable
            seen[name] += 1
    return state


class SavedState(Mapping[str, npt.NDArray[Any]]):
    """The variables of a whole checkpoint, by the names of `state_by_name`; each is read when asked for."""

    def __init__(self, folder: str) -> None:
        self._reader = tf.train.load_checkpoint(os.path.join(folder, _VARIABLES))
        shapes = self._reader.get_variable_to_shape_map()
        self._keys = {_name_of(key): key for key in shapes if key.endswith(_VALUE)}
        self.shapes = {name: tuple(shapes[key]) for name, key in self._keys.items()}
        dtypes = self._reader.get_variable_to_dtype_map()
        self.dtypes = {name: dtypes[key] for name, key in self._keys.items()}

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self._reader.get_tensor(self._keys[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


# TensorFlow puts these around the name of a variable in a dict, and escapes its slashes and dots.
_DICT, _VALUE = "variables/", "/.ATTRIBUTES/VARIABLE_VALUE"


def _name_of(key: str) -> str:
    escaped = key.removeprefix(_DICT).removesuffix(_VALUE)
    return re.sub(r"\.([S.])", lambda found: "/" if found[1] == "S" else ".", escaped)


def run_folder(root: str, key: str, steps: int) -> str:
    """Returns the folder of a run's checkpoints: that of its key, unless that one has come further."""
    folder = os.path.join(root, key)
    is_further = any(step > steps for step, _ in _found_in(folder))
    return f"{folder}-{steps}" if is_further else folder


def remove_runs(root: str) -> None:
    """Removes the checkpoints of all runs in a folder, and leaves the rows next to them."""
    for name in storage.list_folder(root):
        if _RUN.fullmatch(name):
            storage.remove(os.path.join(root, name))


def newest_state(directory: str) -> SavedState | None:
    """Returns the newest whole checkpoint in a folder; None without one."""
    for _, path in reversed(_found_in(directory)):
        if storage.is_unchanged(path):
            with _damage_logged(path):
                return SavedState(path)
    return None


@contextlib.contextmanager
def _damage_logged(path: str) -> Iterator[None]:
    """Logs that a checkpoint is skipped if TensorFlow finds damage in files of the right sizes."""
    try:
        yield
    except tf.errors.OpError as error:
        # A damaged index has no error code of its own.
        if error.error_code not in (tf.errors.DATA_LOSS, tf.errors.UNKNOWN):
            raise
        _LOG.warning("the checkpoint %s is damaged (%s); trying the one before it", path, error.message)


def _found_in(directory: str) -> list[tuple[int, str]]:
    matches = [_NAME.fullmatch(name) for name in storage.list_folder(directory)]
    return sorted((int(m[1]), os.path.join(directory, m[0])) for m in matches if m)


class Checkpoints:
    """The newest checkpoints of one run, in a directory of its own.

    A checkpoint appears whole or not at all, and one that has lost a part of its files, or that is
    damaged, is skipped.

    Args:
        directory: Folder of this run's checkpoints; made if it does not exist.
        variables: Variables that make up the run's state, by name.
        keep: Number of checkpoints that stay; older ones are deleted.
        writes: False in a process that only reads what another one writes.

    Example:

    >>> import tempfile
    >>> weight = tf.Variable(1.0)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     checkpoints = Checkpoints(directory, {"weight": weight})
    ...     path = checkpoints.save(Progress(step=5, tokens=640))
    ...     _ = weight.assign(2.0)
    ...     checkpoints.restore(), float(weight)
    (Progress(step=5, tokens=640, seconds=0.0, planned_steps=0), 1.0)
    """

    def __init__(
        self, directory: str, variables: Mapping[str, tf.Variable], keep: int = 2, writes: bool = True
    ) -> None:
        self.directory = directory
        self._keep, self._writes = keep, writes
        self._variables = dict(variables)
        self._checkpoint = tf.train.Checkpoint(variables=self._variables)
        self._thread = concurrent.futures.ThreadPoolExecutor(1, "checkpoint")
        self._writing: concurrent.futures.Future[None] | None = None
        for name in storage.list_folder(directory) if writes else ():
            # Left by a process that was killed.
            if name.startswith("."):
                storage.remove(os.path.join(directory, name))

    def save(self, progress: Progress) -> str:
        """Writes the variables as they are, and returns the checkpoint's folder.

        Args:
            progress: Progress of the run.
        """
        folder = self.start(progress)
        self.wait()
        return folder

    def start(self, progress: Progress) -> str:
        """Begins to write the variables as they are now, and returns the checkpoint's folder.

        They may change while they are written. One checkpoint is written at a time.

        Args:
            progress: Progress of the run.

        Raises:
            Exception: the error of writing the previous one.
        """
        final = self.folder_of(progress)
        self.wait()
        if self._writes:
            # A copy in the memory of the host, which shares unchanged values.
            with tf.device("CPU:0"):
                held = {name: tf.Variable(tf.identity(each)) for name, each in self._variables.items()}
            self._writing = self._thread.submit(self._write, final, progress, held)
        return final

    def folder_of(self, progress: Progress) -> str:
        """Returns the folder of a checkpoint, whether it is there or not.

        Args:
            progress: Progress of the run.
        """
        return os.path.join(self.directory, f"step-{progress.step:010d}")

    def wait(self) -> None:
        """Returns when the checkpoint that was begun is whole.

        Raises:
            Exception: the error of writing it.
        """
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.result()

    def _write(self, final: str, progress: Progress, held: Mapping[str, tf.Variable]) -> None:
        storage.remove(final)
        with storage.whole_folder(final) as folder:
            tf.train.Checkpoint(variables=dict(held)).write(os.path.join(folder, _VARIABLES))
            storage.write_json(os.path.join(folder, _PROGRESS), dataclasses.asdict(progress))
        # Checkpoints after this step cannot be read; otherwise the run would have resumed from them.
        made = [path for step, path in _found_in(self.directory) if step <= progress.step]
        for path in made[: -self._keep]:
            try:
                storage.remove(path)
            except OSError as error:
                _LOG.warning("%s cannot be removed, and stays: %s", path, error)

    def restore(self) -> Progress:
        """Sets the variables to the newest whole checkpoint; a `Progress` of zeros without one."""
        for _, path in reversed(_found_in(self.directory)):
            if not storage.is_unchanged(path):
                _LOG.warning("the checkpoint %s is not whole; trying the one before it", path)
                continue
            with _damage_logged(path), storage.local_copy(path) as folder:
                self._checkpoint.read(os.path.join(folder, _VARIABLES)).assert_consumed()
                return Progress(**storage.read_json(os.path.join(folder, _PROGRESS)))
        return Progress()
