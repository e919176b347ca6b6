"""The weights of a SavedModel: held by a model or read from a bundle, and the loss by their type."""

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from firth.features import BYTES_SUM, TEXT_LOSS_SUM, is_over_vocabulary
from firth.models.builders import initial_values
from firth.models.bundle import check_weights, weights_by_path
from firth.serving.evaluate import evaluator
from firth.serving.served_model import Served
from firth.serving.stored_weights.weight_types import Parts, PartSpec, StoredWeight, stored_weights_of
from firth.storage.tensor_files import TensorFile

ReadTensor = Callable[[], tf.Tensor]
# The ending of the name of a variable that is a whole weight.
_WHOLE = ""
# Rows that are enough to see a difference, and cost a minute at most.
HELD_OUT_ROWS = 64


class HeldWeights:
    """The variables of a model that is held in memory."""

    sharding = None

    def __init__(self, model: keras.Model) -> None:
        # Keras's own variables would save too, but TF Serving's loader does not find them.
        self.variables = [variable.value for variable in model.variables]

    def bind(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Returns the function, which computes with the model's own variables."""
        return function


class _OtherWeights:
    """Variables instead of a model's own, one or more for each."""

    sharding: "_ShardsOfFile | None" = None

    def __init__(self, model: keras.Model, kind: str) -> None:
        self._model = model
        self._packings = stored_weights_of(model, kind)
        self._stored: list[dict[str, tf.Variable]] = []

    @property
    def variables(self) -> list[tf.Variable]:
        """The variables that are saved."""
        return [part for each in self._stored for part in each.values()]

    def bind(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Returns a function that computes with these variables instead of the model's own.

        Each call unpacks the stored weights once, before the function runs.
        """

        @functools.wraps(function)
        def bound(*arguments: tf.Tensor, **options: Any) -> Any:
            values = [self._value(*each) for each in zip(self._model.variables, self._stored)]
            with keras.StatelessScope(zip(self._model.variables, values), initialize_variables=False):
                return function(*arguments, **options)

        return bound

    def _value(self, variable: keras.Variable, stored: Mapping[str, tf.Variable]) -> Any:
        packing = self._packings.get(id(variable))
        return stored[_WHOLE] if packing is None else packing.type.unpack(stored)


class PackedWeights(_OtherWeights):
    """The weights of a model that is held in memory, in another type.

    Raises:
        ValueError: if the type cannot hold a weight, naming it.
    """

    def __init__(self, model: keras.Model, kind: str) -> None:
        super().__init__(model, kind)
        self._stored = [self._packed(each) for each in model.variables]

    def _packed(self, variable: keras.Variable) -> dict[str, tf.Variable]:
        packing = self._packings.get(id(variable))
        if packing is None:
            return {_WHOLE: variable.value}
        parts = _parts(variable.path, variable.value, packing)
        return {
            ending: tf.Variable(part, trainable=False, name=f"{variable.path}{ending}")
            for ending, part in parts.items()
        }


def model_weights(model: keras.Model, kind: str) -> HeldWeights | PackedWeights:
    """Returns the variables of a model that is held in memory, as an export stores them.

    Raises:
        ValueError: if the type cannot hold a weight, naming it.
    """
    return PackedWeights(model, kind) if stored_weights_of(model, kind) else HeldWeights(model)


class StreamedWeights(_OtherWeights):
    """The variables of an outline, whose values a file has.

    Graphs are made with them, and the file is read when they are written, some tensors at a time.

    Raises:
        firth.models.BundleError: if the file's weights are not those of the model.
    """

    def __init__(self, model: keras.Model, file: TensorFile, kind: str = "float32") -> None:
        super().__init__(model, kind)
        stored = weights_by_path(model)
        check_weights(file, stored)
        paths = {id(each): path for path, each in stored.items()}
        # A seed, and state that is carried from batch to batch: a bundle has neither.
        others = {str(place): each for place, each in enumerate(model.variables) if id(each) not in paths}
        made = initial_values(others)
        reads: dict[int, ReadTensor] = {}
        for place, each in enumerate(model.variables):
            path = paths.get(id(each))
            source, name = (made, str(place)) if path is None else (file, path)
            packing = self._packings.get(id(each))
            rooms = _rooms(each, packing)
            for ending, room in rooms.items():
                reads[id(room)] = functools.partial(_read, source, name, packing, ending)
            self._stored.append(rooms)
        self.sharding = _ShardsOfFile(reads)


class _ShardsOfFile(tf.train.experimental.ShardingCallback):
    """Divides a checkpoint into shards no larger than its largest tensor, each read when it is written."""

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


def _read(source: Mapping[str, Any], name: str, packing: StoredWeight | None, ending: str) -> tf.Tensor:
    with tf.device("CPU"):
        if packing is None:
            return tf.convert_to_tensor(source[name])
        return _parts(name, source[name], packing)[ending]


def _parts(path: str, values: Any, packing: StoredWeight) -> Parts:
    """Returns the tensors of a weight; an error names it."""
    try:
        return packing.type.pack(values, packing.axis)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _rooms(variable: keras.Variable, packing: StoredWeight | None) -> dict[str, tf.Variable]:
    """Returns variables for a weight. Nothing writes to their memory, so that they take none."""
    specs = {_WHOLE: PartSpec(variable.dtype, tuple(variable.shape))}
    if packing is not None:
        specs = packing.type.specs(variable.shape, packing.axis)
    rooms = {}
    with tf.device("CPU"):
        for ending, spec in specs.items():
            value = tf.raw_ops.Empty(shape=spec.shape, dtype=tf.as_dtype(spec.dtype), init=False)
            trainable = variable.trainable and packing is None
            rooms[ending] = tf.Variable(value, trainable=trainable, name=f"{variable.path}{ending}")
    return rooms


def describe_weights(
    served: Served, weights: HeldWeights | PackedWeights | StreamedWeights, rows: Sequence[bytes]
) -> dict[str, Any]:
    """Returns the description of an export's weights, fit for JSON.

    Returns:
        held_out: If they were measured, `quantity` (`bits_per_byte`, or `loss`, that of the main loss in nats
            for each answer), its value with the weights as they are stored and in float32 (`stored`,
            `float32`), and the number of `rows`.
    """
    found = {
        "type": served.recipe.export.weights,
        "bytes": sum(_bytes(each.shape, each.dtype) for each in weights.variables),
        "float32_bytes": sum(_bytes(each.shape, each.dtype) for each in served.model.variables),
    }
    if not rows or not isinstance(weights, PackedWeights):
        return found
    # Both see the same rows, masks and pairs.
    quantity, stored = _held_out(served, weights.bind, rows)
    _, whole = _held_out(served, lambda function: function, rows)
    held_out = {"quantity": quantity, "stored": stored, "float32": whole, "rows": len(rows)}
    return {**found, "held_out": held_out}


def _bytes(shape: Any, dtype: Any) -> int:
    return math.prod(shape) * int(tf.as_dtype(dtype).size)


def _held_out(
    served: Served, bind: Callable[[Callable[..., Any]], Callable[..., Any]], rows: Sequence[bytes]
) -> tuple[str, float]:
    recipe = served.recipe
    over_vocabulary = is_over_vocabulary(recipe.goal.loss_classes)
    # The losses of a unigram model are not read.
    unigram = np.zeros(recipe.tokenizer.vocabulary_size, np.float32) if over_vocabulary else None
    evaluate = tf.function(bind(evaluator(served, unigram, answering=False)), autograph=False)
    # It takes a batch at a time.
    sums = {name: float(np.sum(each)) for name, each in evaluate(tf.constant(list(rows))).items()}
    if over_vocabulary:
        return "bits_per_byte", sums[TEXT_LOSS_SUM] / math.log(2) / sums[BYTES_SUM]
    loss = recipe.goal.main_loss
    return "loss", sums[f"{loss}_loss_sum"] / sums[f"{loss}_weight_sum"]
