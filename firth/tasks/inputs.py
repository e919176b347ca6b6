"""What a model reads of a row of records."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from firth import features as names
from firth.objectives.transforms.layout import Layout
from firth.objectives.transforms.spelling import spell
from firth.recipes.tasks.forms import Form
from firth.tasks.both_sides import decoder_side


def specs_of_inputs(form: Form, length: int, max_characters: int) -> dict[str, names.Spec]:
    """Returns the specs of what a model reads of one row.

    Args:
        form: Form of the texts.
        length: Tokens of the row.
        max_characters: Characters of a word, for tokenizers of words.
    """
    if form.of_words:
        words = names.Spec("int32", (length, max_characters))
        return {names.DOCUMENT_IDS: names.Spec("int32", (length,)), names.CHARACTERS: words}
    encoder = names.encoder_specs(length, segments=form.has_segments)
    return {**encoder, **names.decoder_specs(length)} if form.decoder_start else encoder


def inputs_of(
    layout: Layout, row: Mapping[str, tf.Tensor], form: Form, tokenizer: Any
) -> dict[str, tf.Tensor]:
    """Returns what a model reads of one row, by `specs_of_inputs`.

    Args:
        layout: Laid out texts of the row.
        row: Tensors of the row, as `row_specs` of the task.
        form: Form of the texts.
        tokenizer: Tokenizer of the base.
    """
    if form.of_words:
        return {names.DOCUMENT_IDS: layout.document_ids, names.CHARACTERS: spell(layout, row, tokenizer)}
    read = layout.encoder_features(form.has_segments)
    return {**read, **decoder_side(read, form, tokenizer)}
