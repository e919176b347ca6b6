"""Cross-entropy over a vocabulary, in few passes over the logits."""

from keras import ops


def cross_entropy(logits, labels):
    """Returns `-log softmax(logits)[label]` of each row, in float32.

    Its gradient is written out: `softmax(logits) - one_hot(label)`, made from the exponentials that the
    forward pass has, with one value a row replaced in place of a one-hot matrix.

    Args:
        logits: Float tensor [count, classes].
        labels: Int tensor [count].

    Returns:
        float32 [count], in nats.

    Example:

    >>> import numpy as np
    >>> np.round(np.array(cross_entropy(np.zeros((1, 4), "float32"), np.array([2]))), 4).tolist()
    [1.3863]
    """
    labels = ops.cast(labels, "int32")

    @ops.custom_gradient
    def loss(logits):
        shifted = logits - ops.max(logits, axis=-1, keepdims=True)
        label_logits = ops.take_along_axis(shifted, ops.expand_dims(labels, -1), axis=-1)[:, 0]
        exponentials = ops.exp(shifted)
        total = ops.sum(exponentials, axis=-1)

        def gradient(*args, upstream=None):
            upstream = args[0] if upstream is None else upstream
            slope = exponentials * ops.expand_dims(upstream / total, -1)
            at_labels = (ops.exp(label_logits) / total - 1.0) * upstream
            rows = ops.arange(ops.shape(labels)[0], dtype="int32")
            return ops.scatter_update(slope, ops.stack([rows, labels], axis=-1), at_labels)

        return ops.log(total) - label_logits, gradient

    return loss(ops.cast(logits, "float32"))
