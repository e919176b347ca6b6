"""TensorFlow's checkpoints on disk: their files, and their tensors one by one."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from google.protobuf import message
from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph

from firth import storage
from firth.interop.errors import InteropError, check_folder
from firth.interop.hugging_face.checkpoint_folder import SHARD_BYTES, shards_of
from firth.interop.hugging_face.rules import Array
from firth.recipes.base.errors import first_of
from firth.storage.tensor_files import TensorSpec, dtype_name

INDEX = ".index"
_STATE_FILE = "checkpoint"
_NEWEST = re.compile(r'^model_checkpoint_path: "(.*)"', re.MULTILINE)
_STEP = re.compile(r"-(\d+)$")
_SHARD = re.compile(r"\.data-(\d{5})-of-(\d{5})$")
# The state of optimizers and of the saver: of Adam, of LAMB, of Adafactor, and of Keras's optimizers.
_STATE = re.compile(
    r"/(adam_[mv]|Adam(_\d)?|AdamWeightDecayOptimizer(_\d)?|lamb_[mv]|LAMB(Optimizer)?(_\d)?|Momentum"
    r"|ExponentialMovingAverage)$"
    r"|_slot_(v|vr|vc|m)$"
    r"|(^|/)(global_step|beta[12]_power|current_loss_scale|good_steps)$"
    r"|/\.OPTIMIZER_SLOT/|^(optimizer|save_counter|global_step|_optimizer)\b"
)
# An object checkpoint keeps its graph of objects as a tensor too, which is neither a weight nor a state.
_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
# The reader of checkpoints has Python's errors for some of TensorFlow's: of a file cut short, IndexError.
_UNREADABLE = (tf.errors.OpError, ValueError, RuntimeError, IndexError)
# Rows of a tensor have a number in brackets after its name.
_ROW = re.compile(r"(.*)\[(\d+)\]")


def find_checkpoint(path: str | os.PathLike[str]) -> str:
    """Returns the path of a checkpoint without its endings: of a folder, the newest one that is there.

    Args:
        path: A folder, or a checkpoint's path with `.index` or without.

    Raises:
        InteropError: if there is no checkpoint, there are several and nothing says which, or a shard is
            missing.
    """
    given = os.fspath(path)
    prefix = given.removesuffix(INDEX)
    if not storage.exists(prefix + INDEX):
        check_folder(given)
        prefix = _newest(given)
    _check_shards(prefix)
    return prefix


def _newest(folder: str) -> str:
    names = storage.list_folder(folder)
    found = sorted(name.removesuffix(INDEX) for name in names if name.endswith(INDEX))
    if not found:
        raise InteropError(f"{folder} holds no checkpoint, which is files *{INDEX} and *.data-00000-of-00001")
    if len(found) > 1 and _STATE_FILE in names:
        line = _NEWEST.search(storage.read_text(os.path.join(folder, _STATE_FILE)))
        # The path may be another machine's.
        newest = re.split(r"[/\\]", line[1])[-1] if line else ""
        if newest in found:
            return os.path.join(folder, newest)
    steps = {name: int(step[1]) for name in found if (step := _STEP.search(name))}
    if len(found) > 1 and len(steps) < len(found):
        raise InteropError(f"{folder} holds {len(found)} checkpoints, give one of them: {', '.join(found)}")
    return os.path.join(folder, max(found, key=lambda name: steps.get(name, 0)))


def _check_shards(prefix: str) -> None:
    files = storage.glob(f"{prefix}.data-*-of-*")
    shards = [found for file in files if (found := _SHARD.search(file))]
    if not shards:
        raise InteropError(f"{prefix}{INDEX} is there without its data, {prefix}.data-00000-of-00001")
    count = int(shards[0][2])
    for number in range(count):
        file = f"{prefix}.data-{number:05}-of-{count:05}"
        if not storage.exists(file):
            raise InteropError(f"{prefix}{INDEX} is there without its shard {file}")


class Checkpoint:
    """The tensors of a checkpoint, each read when it is asked for.

    Attributes:
        states: Names of the tensors that are the state of an optimizer or of the saver.
        aside: Names of the weights that were left out.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix, self.aside = prefix, list[str]()
        try:
            self._reader: Any = tf.train.load_checkpoint(prefix)
            shapes: dict[str, list[int]] = self._reader.get_variable_to_shape_map()
            self._dtypes: dict[str, tf.DType] = self._reader.get_variable_to_dtype_map()
        except _UNREADABLE as error:
            raise InteropError(f"{prefix}{INDEX} cannot be read: {_first_line(error)}") from None
        self._shapes = {name: shape for name, shape in shapes.items() if name != _GRAPH}
        self.states = sorted(filter(self._is_state, self._shapes))
        # By the names that rules have, which may lack a scope.
        self._places = {name: name for name in sorted(set(self._shapes) - set(self.states))}
        if not self._places:
            names = first_of(self.states) if self.states else "nothing"
            raise InteropError(f"{prefix}{INDEX} holds no weights, only the state of a training run: {names}")

    def _is_state(self, name: str) -> bool:
        if _STATE.search(name):
            return True
        parent = name.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE").rpartition("/")[0]
        # A slot of any other optimizer is called after its variable.
        return parent in self._shapes

    @property
    def names(self) -> list[str]:
        """The names of the weights."""
        return list(self._places)

    def take_names(self, names: Mapping[str, str]) -> None:
        """Gives tensors other names; those that are not in the mapping are no longer there."""
        self._places = {new: self._places[old] for new, old in names.items()}

    def put_together(self, new: str, olds: Sequence[str]) -> None:
        """Gives tensors that are the same one name."""
        first = self._places[olds[0]]
        self._places = {name: there for name, there in self._places.items() if name not in olds}
        self._places[new] = first

    def put_aside(self, scopes: tuple[str, ...]) -> None:
        """Leaves tensors out that the model has no place for."""
        self.aside += [there for name, there in self._places.items() if name.startswith(scopes)]
        self._places = {name: there for name, there in self._places.items() if not name.startswith(scopes)}

    def __contains__(self, name: object) -> bool:
        whole, row = self._row(str(name))
        return whole in self._places and (row is None or row < self.rows(whole))

    def attributes_of(self, path: str) -> frozenset[str]:
        """Returns the names of the attributes of an object of an object checkpoint; none if it has no object.

        Args:
            path: Names of attributes from the root to the object, with slashes; empty for the root.
        """
        try:
            nodes = TrackableObjectGraph.FromString(self._reader.get_tensor(_GRAPH)).nodes
            node = nodes[0]
            for part in filter(None, path.split("/")):
                node = nodes[{child.local_name: child.node_id for child in node.children}[part]]
        except (*_UNREADABLE, KeyError, message.DecodeError):
            return frozenset()
        return frozenset(child.local_name for child in node.children)

    def file_name(self, name: str) -> str:
        """Returns the name of a tensor in the files."""
        return self._places[self._row(name)[0]]

    def spec(self, name: str) -> TensorSpec:
        """Returns the dtype and the shape of a tensor, which is not read."""
        whole, row = self._row(name)
        if whole not in self._places:
            raise InteropError(f"{self.prefix}: there is no tensor {whole}")
        there = self._places[whole]
        shape = tuple(self._shapes[there])
        dtype = np.dtype(self._dtypes[there].as_numpy_dtype)
        if dtype.kind == "O":
            raise InteropError(f"{self.prefix}: {there} holds texts, not numbers")
        return TensorSpec(dtype_name(dtype), shape if row is None else shape[1:])

    def __getitem__(self, name: str) -> Array:
        whole, row = self._row(name)
        try:
            tensor: Array = self._reader.get_tensor(self._places[whole])
        except _UNREADABLE as error:
            raise InteropError(f"{self.prefix}: {whole} cannot be read: {_first_line(error)}") from None
        return tensor if row is None else np.asarray(tensor[row])

    def parts(self, name: str) -> Iterator[Array]:
        """Yields a tensor's numbers, all at once."""
        yield self[name].reshape(-1)

    def rows(self, name: str) -> int:
        """Returns the length of a tensor's first axis."""
        return self._shapes[self._places[name]][0]

    def _row(self, name: str) -> tuple[str, int | None]:
        found = _ROW.fullmatch(name)
        return (found[1], int(found[2])) if found else (name, None)


def _first_line(error: Exception) -> str:
    return str(getattr(error, "message", error)).splitlines()[0]


def write_state(prefix: str) -> str:
    """Writes the file that says which checkpoint of a folder is the newest, and returns its name."""
    folder, name = os.path.split(prefix)
    lines = (f'{key}: "{name}"\n' for key in ("model_checkpoint_path", "all_model_checkpoint_paths"))
    storage.write_text(os.path.join(folder, _STATE_FILE), "".join(lines))
    return _STATE_FILE


def write_checkpoint(
    prefix: str, specs: Mapping[str, TensorSpec], read: Any, shard_bytes: int = SHARD_BYTES
) -> list[str]:
    """Writes tensors as a checkpoint of the second format, and returns the names of its files.

    Args:
        prefix: Path of the checkpoint without endings, in a folder on this machine.
        specs: Dtype and shape of each tensor.
        read: Function from names to their tensors, by name.
        shard_bytes: Most bytes that are held at once.
    """
    shards = shards_of(specs, shard_bytes)
    parts = [f"{prefix}_part_{number}" for number in range(len(shards))]
    for part, names in zip(parts, shards):
        found = dict(read(names))
        tf.raw_ops.SaveV2(
            prefix=part,
            tensor_names=names,
            shape_and_slices=[""] * len(names),
            tensors=[tf.constant(found[name]) for name in names],
        )
        del found
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=prefix, delete_old_dirs=False)
    folder, name = os.path.split(prefix)
    return sorted(each for each in storage.list_folder(folder) if each.startswith(f"{name}."))
