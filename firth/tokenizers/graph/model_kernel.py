"""The kernel of tensorflow-text that reads a model of SentencePiece, kept for as long as the process."""

import hashlib
from typing import Any

import tensorflow as tf

# `tf_text.SentencepieceTokenizer` does not give the kernel a shared name.
from tensorflow_text.python.ops.sentencepiece_tokenizer import gen_sentencepiece_tokenizer as kernel_ops


class _SharedModel(tf.saved_model.experimental.TrackableResource):
    """The model in TensorFlow's memory, under a name that follows from its bytes.

    Without a shared name the model belongs to the operation that read it, and `tf.random.set_seed`, which
    `keras.utils.set_random_seed` calls, drops all operations. A loaded graph finds its models by these
    names too, so that two models need two names.
    """

    def __init__(self, model: bytes) -> None:
        super().__init__(device="CPU")
        self._model = model
        self._name = f"sentencepiece_{hashlib.sha256(model).hexdigest()[:16]}"

    def _create_resource(self) -> tf.Tensor:
        return kernel_ops.sentencepiece_op(model=self._model, shared_name=self._name, name=self._name)


class ModelKernel(tf.Module):
    """Text to pieces, or to their ids, as a model of SentencePiece reads it.

    Args:
        out_type: Type of what `tokenize` returns: ids (`tf.int32`) or pieces (`tf.string`).

    Raises:
        tf.errors.InternalError: if the bytes are not a model.
    """

    def __init__(self, model: bytes, out_type: tf.DType = tf.int32) -> None:
        super().__init__()
        self._out_type = out_type
        with tf.init_scope():
            self._shared = _SharedModel(model)
            # Made at once, outside of any graph.
            _ = self._shared.resource_handle

    def tokenize(self, text: Any) -> tf.RaggedTensor:
        """Returns the pieces or ids of texts, [batch, (pieces)], with int64 row splits.

        Args:
            text: string [batch].
        """
        settings = {"nbest_size": 0, "alpha": 1.0, "add_bos": False, "add_eos": False, "reverse": False}
        values, splits = kernel_ops.sentencepiece_tokenize_op(
            self._shared.resource_handle, text, out_type=self._out_type, **settings
        )
        return tf.RaggedTensor.from_row_splits(values, splits, validate=False)

    def string_to_id(self, pieces: Any) -> tf.Tensor:
        """Returns the ids of pieces, int32 of the same shape."""
        return kernel_ops.sentencepiece_string_to_id_op(self._shared.resource_handle, pieces)
