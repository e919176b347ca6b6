"""The signature `fill_mask`: the most probable pieces for each `[MASK]` of a text."""

from typing import NamedTuple

import tensorflow as tf

from firth import features as names
from firth.recipes.run.run_recipe import RunRecipe
from firth.serving.served_model import Served
from firth.serving.signature import Answer, Output, Reading, Signature, reading
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
        "places of the masks among the text's own pieces, from 0; zeros after", "int32", ("batch", "masks")
    ),
    "mask_count": Output("number of masks", "int32"),
    **reading("the text was longer than the row and was cut, and masks with it"),
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
    """Returns the signature, if the recipe's model fills masks."""
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


class Masked(NamedTuple):
    """Texts with masks, as a model reads them.

    Attributes:
        features: Features of the texts, by name; those of the masks' places among them.
        positions: Places of the masks among a text's own pieces, int32 [batch, columns], at least one.
        count: Number of masks, int32 [batch].
        reading: How much of each text is read.
    """

    features: dict[str, tf.Tensor]
    positions: tf.Tensor
    count: tf.Tensor
    reading: Reading


def fill_mask(served: Served, text: tf.Tensor) -> dict[str, tf.Tensor]:
    """Proposes pieces for each `[MASK]`.

    Args:
        text: Texts with the tokenizer's mask, such as `[MASK]`, string [batch].
    """
    masked = encode_masked(served, text)
    positions, count = masked.positions, masked.count
    logits = tf.cast(served.model.logits(masked.features, training=False)["mlm"], tf.float32)
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
        **masked.reading.outputs,
    }


def encode_masked(served: Served, text: tf.Tensor) -> Masked:
    """Returns texts with masks as the model reads them; the model is not called.

    Args:
        text: Texts with the tokenizer's mask, string [batch].
    """
    # The mask, and no other special piece, though the recipe may ask for more of them in its texts.
    mask = served.tokenizer.id_to_token(served.tokenizer.mask_id)
    encoded = served.encode(text, list(dict.fromkeys([*served.tokenizer.special_texts, mask])))
    positions, count = _mask_positions(encoded.ids, served.tokenizer.mask_id)
    features = {**encoded.features, names.MASKED_POSITIONS: positions + encoded.before}
    return Masked(features, positions, count, encoded.reading)


def _mask_positions(pieces: tf.RaggedTensor, mask_id: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the places of `[MASK]`, int32 [batch, columns], zeros after, and their number, int32 [batch].

    There is at least one column, because the model's gather cannot take an empty one.
    """
    positions = tf.ragged.range(pieces.row_lengths())
    masked = tf.ragged.boolean_mask(tf.cast(positions, tf.int32), pieces == mask_id)
    count = tf.cast(masked.row_lengths(), tf.int32)
    columns = tf.maximum(tf.reduce_max(count), 1)
    return masked.to_tensor(0, shape=tf.stack([-1, columns])), count
