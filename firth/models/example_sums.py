"""What training and evaluation sum up: losses, hits and weights of each example."""

from keras import ops

from firth import features as names
from firth.models.losses import cross_entropy

MASKED_LOGITS = "masked_logits"
NEXT_SENTENCE_LOGITS = "next_sentence_logits"


def example_sums(features, outputs) -> dict:
    """Returns the sums of one batch, for each example, from which every loss and metric follows.

    The loss of a batch is `sum(mlm_loss_sum) / sum(mlm_weight_sum)`, and the same for `nsp`, each 0 where
    its weight is 0. Summed over any number of batches they give the exact mean, which an average of batch
    means does not.

    Args:
        features: As `firth.features.masked_lm_specs`, batched.
        outputs: `masked_logits` float [batch, predictions, vocabulary]; `next_sentence_logits` float [batch,
            documents, 2] if the model predicts next sentences.

    Returns:
        `mlm_loss_sum` (nats), `mlm_correct_sum`, `mlm_weight_sum`, `nsp_loss_sum` (nats), `nsp_correct_sum`
        and `nsp_weight_sum`, each float32 [batch]. Those of `nsp` are zeros without next sentence logits.

    Example:

    >>> import numpy as np
    >>> features = {"masked_labels": np.array([[1, 0]]), "masked_weights": np.array([[1.0, 0.0]])}
    >>> sums = example_sums(features, {"masked_logits": np.array([[[0.0, 2.0], [0.0, 0.0]]])})
    >>> round(float(sums["mlm_loss_sum"][0]), 4), float(sums["mlm_correct_sum"][0])
    (0.1269, 1.0)
    """
    masked = _weighted_sums(
        outputs[MASKED_LOGITS], features[names.MASKED_LABELS], features[names.MASKED_WEIGHTS]
    )
    if NEXT_SENTENCE_LOGITS in outputs:
        pairs = _weighted_sums(
            outputs[NEXT_SENTENCE_LOGITS],
            features[names.NEXT_SENTENCE_LABELS],
            features[names.NEXT_SENTENCE_WEIGHTS],
        )
    else:
        pairs = {name: ops.zeros_like(value) for name, value in masked.items()}
    return {
        **{f"mlm_{name}": value for name, value in masked.items()},
        **{f"nsp_{name}": value for name, value in pairs.items()},
    }


def _weighted_sums(logits, labels, weights) -> dict:
    weights = ops.cast(weights, "float32")
    flat_logits = ops.reshape(logits, (-1, logits.shape[-1]))
    losses = ops.reshape(cross_entropy(flat_logits, ops.reshape(labels, (-1,))), ops.shape(weights))
    hits = ops.equal(ops.argmax(logits, axis=-1), ops.cast(labels, "int32"))
    return {
        "loss_sum": ops.sum(losses * weights, axis=-1),
        "correct_sum": ops.sum(ops.cast(hits, "float32") * weights, axis=-1),
        "weight_sum": ops.sum(weights, axis=-1),
    }


def total_loss(sums) -> dict:
    """Returns the mean losses of a batch from its `example_sums`: `loss`, `mlm_loss` and `nsp_loss`.

    Each is a float32 scalar, in nats; `loss` is the sum of the two others, each 0 where nothing is predicted.

    Example:

    >>> import numpy as np
    >>> one, two = np.array([1.0], "float32"), np.array([2.0], "float32")
    >>> sums = {"mlm_loss_sum": two, "mlm_weight_sum": one, "nsp_loss_sum": one, "nsp_weight_sum": one * 0}
    >>> {name: float(value) for name, value in total_loss(sums).items()}
    {'loss': 2.0, 'mlm_loss': 2.0, 'nsp_loss': 0.0}
    """
    means = {
        f"{task}_loss": ops.divide_no_nan(
            ops.sum(sums[f"{task}_loss_sum"]), ops.sum(sums[f"{task}_weight_sum"])
        )
        for task in ("mlm", "nsp")
    }
    return {"loss": means["mlm_loss"] + means["nsp_loss"], **means}
