"""The signature `fill_mask`: the most probable pieces for each `[MASK]` of a text."""

import tensorflow as tf

from firth import features as names
from firth.recipes.run.run_recipe import RunRecipe
from firth.serving.descriptions.output import Output, truncated
from firth.serving.encoding import Encoded
from firth.serving.served import Served
from firth.serving.signature import Answer, Signature
from firth.tokenizers.graph.special_pieces import MASK

_OF_MASKS = ("batch", "masks", "k")
OUTPUTS = {
    "pieces": Output(
        "the likeliest pieces for each mask, the likeliest first; empty after a text's last mask",
        "string",
        _OF_MASKS,
        is_invariant=False,
    ),
    # Special pieces and unused rows of the vocabulary take no part.
    "scores": Output("their probabilities among all pieces of text; zeros after", shape=_OF_MASKS),
    "mask_positions": Output(
        "where the masks stand among the text's own pieces, from 0; zeros after", "int32", ("batch", "masks")
    ),
    "mask_count": Output("number of masks", "int32"),
    "truncated": truncated("the text was longer than the row and was cut, and masks with it"),
}
_ANSWER = Answer(
    {"pieces": "piece", "scores": "score"},
    count="mask_count",
    records="masks",
    lines=(
        "{% for mask in masks %}[MASK]{{ ' %d' % loop.index if masks | length > 1 }}:"
        "{% for found in mask %}{{ ' ' if loop.first else '  ' }}{{ found.piece }} {{ '%.3f' % found.score }}"
        "{% endfor %}\n{% endfor %}"
    ),
)


def offer(recipe: RunRecipe) -> Signature | None:
    """Returns the signature, if the recipe's model fills masks.

    Args:
        recipe: Recipe of the model.
    """
    if not recipe.goal.fills_masks:
        return None
    return Signature(
        fill_mask,
        OUTPUTS,
        "Proposes pieces for each mask of a text.",
        {"text": "text with masks"},
        {"text": f"The {MASK} of the house."},
        needs=MASK,
        answer=_ANSWER,
        reads_heads=True,
    )


def fill_mask(served: Served, text: tf.Tensor) -> dict[str, tf.Tensor]:
    """Proposes pieces for each `[MASK]`.

    Args:
        served: Model and tokenizer.
        text: Texts with the tokenizer's mask, such as `[MASK]`, string [batch].

    Returns:
        What `OUTPUTS` describes.
    """
    encoded = served.encode(text)
    positions, count = _mask_positions(encoded.ids, served.tokenizer.mask_id)
    logits = _masked_logits(served, encoded, positions)
    proposable = served.proposable()
    k = min(served.recipe.export.top_k, int(proposable.sum()))
    scores, ids = tf.math.top_k(tf.nn.softmax(tf.where(proposable, logits, logits.dtype.min)), k)
    vocabulary = tf.constant(served.tokenizer.get_vocabulary())
    # The maximum over an empty batch is the smallest integer.
    masks = tf.maximum(tf.reduce_max(count), 0)
    real = tf.sequence_mask(count, masks)[:, :, tf.newaxis]
    return {
        "pieces": tf.where(real, tf.gather(vocabulary, ids[:, :masks]), ""),
        "scores": tf.where(real, scores[:, :masks], 0.0),
        "mask_positions": positions[:, :masks],
        "mask_count": count,
        "truncated": encoded.truncated,
    }


def _mask_positions(pieces: tf.RaggedTensor, mask_id: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns where `[MASK]` stands, int32 [batch, columns] with zeros after, and how often, int32 [batch].

    There is at least one column, because the model's gather cannot take an empty one.
    """
    positions = tf.ragged.range(pieces.row_lengths())
    masked = tf.ragged.boolean_mask(tf.cast(positions, tf.int32), pieces == mask_id)
    count = tf.cast(masked.row_lengths(), tf.int32)
    columns = tf.maximum(tf.reduce_max(count), 1)
    return masked.to_tensor(0, shape=tf.stack([-1, columns])), count


def _masked_logits(served: Served, encoded: Encoded, positions: tf.Tensor) -> tf.Tensor:
    """Returns the model's logits at the masks, float32 [batch, columns, rows of the vocabulary]."""
    model = served.model
    features = {**encoded.features, names.MASKED_POSITIONS: positions + encoded.before}
    logits = model.logits(features, training=False)["mlm"]
    return tf.cast(logits, tf.float32)
