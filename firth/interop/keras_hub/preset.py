"""A preset of KerasHub on disk: its configuration, its weights and its tokenizer's settings."""

import inspect
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import keras
import keras_hub

from firth import storage
from firth.interop.errors import InteropError, check_folder
from firth.interop.hugging_face.rules import Array
from firth.interop.keras_hub.families import FAMILIES
from firth.interop.keras_hub.family import PresetFamily
from firth.interop.untrusted_files import check_file, read_mapping
from firth.recipes.base.errors import suggest
from firth.recipes.objectives.objective import AnyObjective

CONFIG_FILE, TASK_FILE, PREPROCESSOR_FILE = "config.json", "task.json", "preprocessor.json"
WEIGHTS_FILE, SHARDS_FILE, TASK_WEIGHTS_FILE = "model.weights.h5", "model.weights.json", "task.weights.h5"
# KerasHub's name, and its former one.
_PACKAGES = ("keras_hub", "keras_nlp")
# Keys of every backbone; they state no shape.
_COMMON = ("name", "trainable", "dtype")
# Quantized weights are others: they are not read.
_POLICIES = ("float32", "bfloat16", "float16", "mixed_bfloat16", "mixed_float16")


class Preset:
    """A folder that `save_to_preset` wrote.

    Only plain values are read of its configurations. Nothing that they name is looked up but for the classes
    of `FAMILIES`, and no object is made of them.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        check_folder(self.path)
        self._check_is_preset()
        name, self._given = self.read_object(CONFIG_FILE, FAMILIES)
        self.family: PresetFamily = FAMILIES[name]
        self._check_keys()

    @property
    def config(self) -> dict[str, Any]:
        """Arguments of the backbone's class, but for its name and dtype."""
        return {key: value for key, value in self._given.items() if key not in _COMMON}

    @property
    def vocabulary_size(self) -> int:
        """The number of rows of the token table."""
        size = self._given[self.family.vocabulary_key]
        if not isinstance(size, int):
            raise self.problem(
                f"{CONFIG_FILE}: config.{self.family.vocabulary_key}: {size!r} is not a number"
            )
        return size

    @property
    def objective(self) -> AnyObjective:
        """The family's objective, whose texts begin as the preprocessor of KerasHub's task has them begin."""
        objective = self.family.objective
        stated = self._read_json(PREPROCESSOR_FILE) if storage.exists(self.place(PREPROCESSOR_FILE)) else {}
        config = stated.get("config")
        # It puts the token in front unless it is stated otherwise.
        begins = not isinstance(config, Mapping) or config.get("add_start_token", True)
        made: AnyObjective = objective if begins else objective.with_start_tokens(())
        return made

    def model(self) -> Any:
        """Returns the recipe's model that the configuration describes.

        Raises:
            InteropError: for a value that cannot be expressed here.
        """
        try:
            return self.family.read_model(self.config)
        except InteropError as error:
            raise self.problem(f"{CONFIG_FILE}: config.{error}") from error

    def weights(self) -> dict[str, Array]:
        """Returns the weights of the backbone by name, and of the task's head if it is exactly ours.

        Raises:
            InteropError: if a file is missing, damaged, or does not fit its configuration.
        """
        size = {self.family.vocabulary_key: self.vocabulary_size}
        # Made of what was understood, not of what the file says.
        backbone = make_backbone(self.family, {**self.family.write_config(self.model()), **size})
        with storage.local_copy(self.path) as folder:
            file = self._weights_file()
            self._load(backbone.load_weights, folder, file)
            weights = arrays_of(by_name(backbone.weights))
            if self.has_task_head:
                task = getattr(keras_hub.models, str(self.family.task))(backbone=backbone, preprocessor=None)
                self._load(task.load_task_weights, folder, TASK_WEIGHTS_FILE)
                weights |= arrays_of(by_name(task.weights))
        return weights

    @property
    def has_task_head(self) -> bool:
        """True if there are weights of a task whose head is exactly ours."""
        task = self.family.task
        is_ours = task is not None and self._task_name() == task
        return is_ours and storage.exists(self.place(TASK_WEIGHTS_FILE))

    @property
    def surplus(self) -> tuple[str, ...]:
        """Files whose weights have no place here."""
        is_surplus = storage.exists(self.place(TASK_WEIGHTS_FILE)) and not self.has_task_head
        return (TASK_WEIGHTS_FILE,) if is_surplus else ()

    def read_object(self, file: str, known: Collection[str]) -> tuple[str, dict[str, Any]]:
        """Returns the class and the configuration of an object that a file describes; it is not made.

        Raises:
            InteropError: if the file is missing or damaged, or names another class.
        """
        content = self._read_json(file)
        registered, config = content.get("registered_name"), content.get("config")
        package, _, name = str(registered).rpartition(">")
        if package not in _PACKAGES or name not in known:
            raise self.problem(
                f"{file}: registered_name: {registered!r} is not known; {suggest(name, list(known))}"
            )
        if not isinstance(config, dict):
            raise self.problem(f"{file}: config: must be a mapping")
        return name, config

    def place(self, name: str) -> str:
        """Returns the path of a file."""
        return os.path.join(self.path, name)

    def not_expressed(self, file: str, key: str, found: Any, wanted: Any) -> InteropError:
        """Returns the error of a value that cannot be expressed here."""
        return self.problem(f"{file}: config.{key}: {found!r} cannot be expressed here, {wanted!r} can")

    def problem(self, text: str) -> InteropError:
        """Returns the error that names the folder."""
        return InteropError(self.place(text))

    def _check_is_preset(self) -> None:
        if not storage.exists(self.place(CONFIG_FILE)):
            if storage.exists(self.place(TASK_FILE)):
                raise InteropError(
                    f"{self.path} holds {TASK_FILE}, a task, but no {CONFIG_FILE}, its backbone"
                )
            raise InteropError(f"{self.path} holds no {CONFIG_FILE}: it is not a preset of KerasHub")
        if "model_type" in self._read_json(CONFIG_FILE):
            raise self.problem(f"{CONFIG_FILE}: is in Hugging Face's format: `firth import hf` reads it")

    def _check_keys(self) -> None:
        for key in _needed(getattr(keras_hub.models, self.family.backbone)):
            if key not in self._given:
                raise self.problem(f"{CONFIG_FILE}: config.{key}: is missing")
        known = (*self.family.keys, *_COMMON)
        for key in self._given:
            if key not in known:
                raise self.problem(f"{CONFIG_FILE}: config.{key}: is not known; {suggest(key, known)}")
        dtype = self._given.get("dtype")
        policy = dtype.get("config", {}).get("name") if isinstance(dtype, Mapping) else dtype
        if policy is not None and policy not in _POLICIES:
            raise self.problem(
                f"{CONFIG_FILE}: config.dtype: {policy or dtype!r} cannot be expressed here; "
                f"{', '.join(_POLICIES)} can"
            )

    def _task_name(self) -> str | None:
        if not storage.exists(self.place(TASK_FILE)):
            return None
        return str(self._read_json(TASK_FILE).get("registered_name")).rpartition(">")[2]

    def _read_json(self, name: str) -> dict[str, Any]:
        if not storage.exists(self.place(name)):
            raise InteropError(f"{self.path} holds no {name}")
        return read_mapping(self.place(name))

    def _weights_file(self) -> str:
        if storage.exists(self.place(WEIGHTS_FILE)):
            return WEIGHTS_FILE
        if not storage.exists(self.place(SHARDS_FILE)):
            raise InteropError(f"{self.path} holds neither {WEIGHTS_FILE} nor {SHARDS_FILE}")
        shards = self._read_json(SHARDS_FILE).get("weight_map")
        named = shards.values() if isinstance(shards, Mapping) else ()
        for shard in sorted({each for name in named for each in ([name] if isinstance(name, str) else name)}):
            if os.path.basename(shard) != shard:
                raise self.problem(f"{SHARDS_FILE}: weight_map: {shard!r} is not a file of the folder")
            if not storage.exists(self.place(shard)):
                raise self.problem(f"{SHARDS_FILE}: weight_map: names {shard}, which does not exist")
            check_file(self.place(shard), most=None)
        return SHARDS_FILE

    def _load(self, load: Callable[[str], None], folder: str, file: str) -> None:
        check_file(os.path.join(folder, file), most=None)
        try:
            load(os.path.join(folder, file))
        except (OSError, ValueError, KeyError, TypeError) as error:
            # Keras tells the first object that failed, and lists all of them after that.
            text = " ".join(str(error).partition("List of objects")[0].split())
            raise self.problem(f"{file}: is damaged, or does not fit {CONFIG_FILE}: {text}") from error


def _needed(backbone: type) -> list[str]:
    """Returns the arguments that a class, or the nearest of its bases that names any, has no default for."""
    for each in backbone.__mro__:
        named = [
            parameter
            for parameter in inspect.signature(each).parameters.values()
            if parameter.kind == parameter.POSITIONAL_OR_KEYWORD
        ]
        if named:
            return [parameter.name for parameter in named if parameter.default is parameter.empty]
    return []


# Keras numbers layers without a name by how many a process has made.
_UNNAMED = re.compile(r"t5_layer_norm(_\d+)?/")


def make_backbone(family: PresetFamily, config: Mapping[str, Any]) -> keras.Model:
    """Returns KerasHub's backbone, with weights of float32 that are not yet those of a model."""
    return getattr(keras_hub.models, family.backbone)(**config, dtype="float32")


def by_name(variables: Iterable[keras.Variable]) -> dict[str, keras.Variable]:
    """Returns variables by names that do not depend on what else a process has made.

    Names are paths. Norms without a name are `norm_0`, `norm_1`, ... of their block; a second variable of the
    same name is `self_attention_1/embeddings`.
    """
    named: dict[str, keras.Variable] = {}
    for variable in variables:
        paths = _candidates(variable.path)
        named[next(path for path in paths if path not in named)] = variable
    return named


def _candidates(path: str) -> Iterable[str]:
    if _UNNAMED.search(path):
        return (_UNNAMED.sub(f"norm_{number}/", path) for number in range(3))
    layer, _, name = path.rpartition("/")
    return (f"{layer}{suffix}/{name}" for suffix in ("", "_1"))


def arrays_of(variables: Mapping[str, keras.Variable]) -> dict[str, Array]:
    """Returns the values of variables."""
    return {name: keras.ops.convert_to_numpy(each.value) for name, each in variables.items()}
