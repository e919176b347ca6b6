"""SavedModels of the shapes that TF Serving's own tests ask."""

import pathlib

import tensorflow as tf

_EXAMPLES = [tf.TensorSpec([None], tf.string, name="inputs")]


def _half(x: tf.Tensor, plus: float) -> tf.Tensor:
    return x * 0.5 + plus


def _parsed(examples: tf.Tensor) -> tf.Tensor:
    return tf.io.parse_example(examples, {"x": tf.io.FixedLenFeature([1], tf.float32)})["x"]


def write_half_plus_two(folder: pathlib.Path, version: int = 123) -> None:
    """Writes a version of a model: half of x plus two, asked directly and about examples.

    Args:
        folder: Folder of the versions.
        version: The version.
    """

    def function(signature):
        return lambda body: tf.function(body, input_signature=signature, autograph=False)

    # TF Serving's test feeds x in any shape.
    any_shape = tf.TensorSpec(None, tf.float32, name="x")
    rows = tf.TensorSpec([None, 2], tf.float32, name="x")
    keys = tf.TensorSpec([None], tf.string, name="key_bytes")
    count = tf.TensorSpec([], tf.int64, name="count")
    signatures = {
        "serving_default": function([any_shape])(lambda x: {"y": _half(x, 2.0)}),
        "regress_x_to_y": function(_EXAMPLES)(lambda inputs: {"outputs": _half(_parsed(inputs), 2.0)}),
        "regress_x_to_y2": function(_EXAMPLES)(lambda inputs: {"outputs": _half(_parsed(inputs), 3.0)}),
        "classify_x_to_y": function(_EXAMPLES)(lambda inputs: {"scores": _half(_parsed(inputs), 2.0)}),
        "classify_sign": function(_EXAMPLES)(
            lambda inputs: {
                "classes": tf.where(_parsed(inputs) < 0, "negative", "positive"),
                "scores": tf.abs(_parsed(inputs)),
            }
        ),
        "keyed": function([rows, keys, count])(
            lambda x, key_bytes, count: {"y": _half(x, 2.0), "key_bytes": key_bytes, "next": count + 1}
        ),
        "rows": function([rows, keys])(
            lambda x, key_bytes: {"y": tf.reduce_sum(x, 1), "key_bytes": key_bytes}
        ),
    }
    module = tf.Module()
    module.functions = signatures
    tf.saved_model.save(
        module,
        str(folder / str(version)),
        {name: each.get_concrete_function() for name, each in signatures.items()},
    )
