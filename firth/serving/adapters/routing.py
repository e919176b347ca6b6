"""A signature whose records are answered by the adapters that they name."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import tensorflow as tf

# From one string [batch] tensor for each input to tensors by name, whose first axis is the batch.
Ask: TypeAlias = Callable[..., dict[str, tf.Tensor]]


def route(asks: Mapping[str, Ask], ranks: Sequence[int]) -> Ask:
    """Returns the function that asks about each record the function that it names.

    It reads one input more, the last one: string [batch], names. Each function is asked once about all
    records that name it, and is not asked if no record does. An unknown name is an `InvalidArgumentError`.

    Raises:
        ValueError: if outputs differ, or their shapes do, or a shape is not known before texts are.
    """
    kinds = {name: _outputs(ask, ranks) for name, ask in asks.items()}
    _check(kinds)

    def routed(*given: tf.Tensor) -> dict[str, tf.Tensor]:
        *texts, named = given
        chosen = _places(tuple(asks), named)
        places, parts = [], []
        for number, (name, ask) in enumerate(asks.items()):
            own = tf.where(tf.equal(chosen, number))[:, 0]
            places.append(own)
            parts.append(_asked(ask, kinds[name], [tf.gather(text, own) for text in texts]))
        back = tf.math.invert_permutation(tf.concat(places, axis=0))
        return {name: tf.gather(tf.concat([each[name] for each in parts], axis=0), back) for name in parts[0]}

    return routed


def _asked(ask: Ask, outputs: Mapping[str, tf.TensorSpec], texts: Sequence[tf.Tensor]) -> Any:
    def nothing() -> dict[str, tf.Tensor]:
        return {name: tf.zeros([0, *each.shape[1:]], each.dtype) for name, each in outputs.items()}

    return tf.cond(tf.shape(texts[0])[0] > 0, lambda: ask(*texts), nothing)


def _outputs(ask: Ask, ranks: Sequence[int]) -> dict[str, tf.TensorSpec]:
    specs = [tf.TensorSpec([None] * rank, tf.string) for rank in ranks]
    traced = tf.function(ask, input_signature=specs, autograph=False).get_concrete_function()
    return {name: tf.TensorSpec(each.shape, each.dtype) for name, each in traced.structured_outputs.items()}


def _check(kinds: Mapping[str, Mapping[str, tf.TensorSpec]]) -> None:
    (first, expected), *others = kinds.items()
    for name, each in expected.items():
        if not each.shape[1:].is_fully_defined():
            raise ValueError(
                f"the output {name} of adapter {first} is as long as its texts ask for, so that records of "
                "several adapters do not stand in one tensor; export each adapter's run alone"
            )
    for name, found in others:
        if found != expected:
            differing = sorted(key for key in found.keys() | expected if found.get(key) != expected.get(key))
            shapes = {key: [_shape(each.get(key)) for each in (expected, found)] for key in differing}
            said = "; ".join(f"{key} is {one} and {other}" for key, (one, other) in shapes.items())
            raise ValueError(f"adapters {first} and {name} do not answer with the same outputs: {said}")


def _shape(spec: tf.TensorSpec | None) -> str:
    return "not there" if spec is None else str(spec.shape.as_list())


def _places(names: Sequence[str], named: tf.Tensor) -> tf.Tensor:
    """Returns the number of each record's adapter, int64 [batch]."""
    found = tf.equal(named[:, tf.newaxis], tf.constant(names)[tf.newaxis])
    is_known = tf.reduce_any(found, axis=1)
    said = [f"adapter: there are {', '.join(names)}; unknown:", tf.boolean_mask(named, ~is_known)]
    with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(is_known), said)]):
        return tf.argmax(tf.cast(found, tf.int32), axis=1)
