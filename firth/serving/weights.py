"""The weights of a SavedModel: held by a model, or read from a bundle tensor by tensor."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from firth.models.build import initial_values
from firth.models.bundle import check_weights, weights_by_path
from firth.storage.tensor_files import TensorFile

ReadTensor = Callable[[], tf.Tensor]


class HeldWeights:
    """The variables of a model that is held in memory.

    Args:
        model: The model.
    """

    sharding = None

    def __init__(self, model: keras.Model) -> None:
        # Keras's own variables would save too, but TF Serving's loader does not find them.
        self.variables = [variable.value for variable in model.variables]

    def bind(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Returns the function, which computes with the model's own variables.

        Args:
            function: Function that calls the model.
        """
        return function


class StreamedWeights:
    """The variables of an outline, whose values a file has.

    Graphs are made with them, and the file is read when they are written, some tensors at a time.

    Args:
        model: Outline that `firth.models.build.build_outline` made.
        file: Weights that `firth.models.bundle.open_weights` opened; it stays open until they are written.

    Raises:
        firth.models.BundleError: if the file's weights are not those of the model.
    """

    def __init__(self, model: keras.Model, file: TensorFile) -> None:
        stored = weights_by_path(model)
        check_weights(file, stored)
        paths = {id(each): path for path, each in stored.items()}
        self._model = model
        self.variables = [_room(each) for each in model.variables]
        # A seed, and state that is carried from batch to batch: a bundle has neither.
        others = {str(place): each for place, each in enumerate(model.variables) if id(each) not in paths}
        made = initial_values(others)
        reads: dict[int, ReadTensor] = {}
        for place, (each, room) in enumerate(zip(model.variables, self.variables)):
            path = paths.get(id(each))
            source = (made, str(place)) if path is None else (file, path)
            reads[id(room)] = functools.partial(_read, *source)
        self.sharding = _ShardsOfFile(reads)

    def bind(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Returns a function that computes with the variables here in the place of the model's own.

        Args:
            function: Function that calls the model; it is traced.
        """

        @functools.wraps(function)
        def bound(*arguments: tf.Tensor) -> Any:
            values = zip(self._model.variables, self.variables)
            with keras.StatelessScope(values, initialize_variables=False):
                return function(*arguments)

        return bound


class _ShardsOfFile(tf.train.experimental.ShardingCallback):
    """Divides a checkpoint into shards no larger than its largest tensor, each read when it is written.

    Args:
        reads: Functions that read the values of variables, by the variables' identity.
    """

    def __init__(self, reads: Mapping[int, ReadTensor]) -> None:
        self._reads = reads

    @property
    def description(self) -> str:
        return "Reads each shard from a file when it is written."

    def __call__(self, shardable_tensors: Sequence[Any]) -> Sequence[Mapping[str, Any]]:
        sizes = {each: each.shape.num_elements() * each.dtype.size for each in shardable_tensors}
        shards: list[dict[str, tuple[str, ReadTensor]]] = [{}]
        filled, limit = 0, max(sizes.values())
        for each, size in sizes.items():
            if filled + size > limit:
                shards.append({})
                filled = 0
            filled += size
            read = self._reads.get(id(each.trackable), functools.partial(tf.identity, each.tensor))
            shards[-1][each.checkpoint_key] = (each.slice_spec, read)
        return [_Shard(shard) for shard in shards if shard]


class _Shard(Mapping[str, Mapping[str, tf.Tensor]]):
    """Tensors by key and slice, each read when it is asked for."""

    def __init__(self, parts: Mapping[str, tuple[str, ReadTensor]]) -> None:
        self._parts = parts

    def __getitem__(self, key: str) -> Mapping[str, tf.Tensor]:
        slice_spec, read = self._parts[key]
        return {slice_spec: read()}

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


def _read(source: Mapping[str, Any], name: str) -> tf.Tensor:
    with tf.device("CPU"):
        return tf.convert_to_tensor(source[name])


def _room(variable: keras.Variable) -> tf.Variable:
    """Returns a variable of the same kind. Nothing writes to its memory, so that it takes none."""
    dtype = tf.as_dtype(variable.dtype)
    with tf.device("CPU"):
        value = tf.raw_ops.Empty(shape=tuple(variable.shape), dtype=dtype, init=False)
        return tf.Variable(value, trainable=variable.trainable, name=variable.path)
