"""Masked LM over contiguous spans (Joshi et al. 2019, "SpanBERT", section 3)."""

import tensorflow as tf

from firth import features
from firth.objectives.base import Features, MaskingObjective, Row, Specs, Tokenizer
from firth.objectives.rates.selection_rates import span_masking_rates
from firth.objectives.transforms.masking import ChosenTokens
from firth.objectives.transforms.runs import geometric_lengths, select_runs


class SpanMaskingObjective(MaskingObjective):
    """Hides spans of whole words, and gives the positions of the two tokens around each span.

    The lengths of spans are geometric with `length_parameter`, in words, cut off at `max_span`: 3.8 in the
    mean by default (section 3.1). At most `max(1, round(mask_rate x maskable tokens))` tokens are predicted;
    the last span is cut after as many words as fit, so fewer are only where no word fits.

    All tokens of a span have the same fate, drawn once for the span: `[MASK]`, random pieces (each drawn for
    itself), or as they were. Spans never touch one another, so the tokens around a span are never hidden;
    `[CLS]` and `[SEP]` may be among them. No span crosses a document's end or a special token.

    For the span boundary objective (section 3.2) each prediction has the positions just outside its span and
    its place in it, counted from 1 in pieces. A piece after the first `boundary_places` of its span has place
    0: the boundary objective leaves it out, as the released code does.

    Args:
        config: Objective of the recipe.
        sequences: Rows of the recipe.
        tokenizer: Tokenizer of the rows; gives the special ids and the size of the vocabulary.

    Raises:
        ValueError: if `max_predictions` exceeds the length, or no piece is left to draw.

    Example: four of eleven tokens, in two spans.

    >>> from firth.recipes import Sequences, SpanMasking
    >>> from firth.tokenizers import WordPieceTokenizer
    >>> words = "Thank you for inviting me to your party last week .".split()
    >>> tokenizer = WordPieceTokenizer(
    ...     ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words], lowercase=False
    ... )
    >>> config = SpanMasking(mask_rate=0.35, max_predictions=5)
    >>> objective = SpanMaskingObjective(config, Sequences(length=13), tokenizer)
    >>> row = {
    ...     "tokens": tokenizer.tokenize(" ".join(words)),
    ...     "word_starts": tf.ones(11, tf.int32),
    ...     "chunk_lengths": tf.constant([11]),
    ... }
    >>> made = objective(row, None, seed=[1, 2])
    >>> for name in ("token_ids", "masked_labels"):
    ...     print(" ".join(map(tokenizer.id_to_token, made[name].numpy())))
    [CLS] [MASK] [MASK] for [MASK] [MASK] to your party last week . [SEP]
    Thank you inviting me [PAD]
    >>> for name in ("masked_positions", "boundary_left", "boundary_right", "boundary_offsets"):
    ...     print(f"{name:16}", *made[name].numpy())
    masked_positions 1 2 4 5 0
    boundary_left    0 0 3 3 0
    boundary_right   3 3 6 6 0
    boundary_offsets 1 2 1 2 0
    """

    rates = staticmethod(span_masking_rates)

    def _prepare(self, tokenizer: Tokenizer) -> None:
        super()._prepare(tokenizer)
        self._lengths = geometric_lengths(self._config.length_parameter, self._config.max_span)

    def specs(self) -> Specs:
        """Returns the specs of the features of one example."""
        names = (features.BOUNDARY_LEFT, features.BOUNDARY_RIGHT, features.BOUNDARY_OFFSETS)
        boundary = {name: features.Spec("int32", (self._config.max_predictions,)) for name in names}
        return {**super().specs(), **(boundary if self._config.boundary else {})}

    def __call__(self, row: Row, negative: Row, seed: tf.Tensor) -> Features:
        """Returns the features of one example.

        Args:
            row: Tensors as `features.row_specs`.
            negative: Not used.
            seed: int32 or int64 [2].
        """
        seeds = tf.random.split(seed, num=4, alg="philox")
        layout = self._lay_out_chunks(row)
        maskable, budget = self._maskable(layout, row)
        selected = select_runs(maskable, layout.word_starts, self._lengths, budget, seeds[:2], apart=True)
        chosen = self._choice.predict(layout.token_ids, selected)
        spans = chosen.numbered_spans()
        made = self._masked(layout, chosen, seeds[2:], spans)
        if self._config.boundary:
            made |= boundary_features(chosen, spans, self._config.boundary_places)
        return made


def boundary_features(chosen: ChosenTokens, spans: tf.Tensor, places: int) -> Features:
    """Returns the span around each prediction: int32 [max_predictions] each, zeros after.

    Args:
        spans: Number of each prediction's span, int32 [max_predictions], as `ChosenTokens.numbered_spans`.

    Example: a span at 2 and 3, and one at 7; nothing else is predicted.

    >>> positions = tf.constant([2, 3, 7, 9])
    >>> chosen = ChosenTokens(positions, tf.constant([5, 6, 5, 0]), tf.constant([True, True, True, False]))
    >>> for name, value in boundary_features(chosen, chosen.numbered_spans(), places=9).items():
    ...     print(f"{name:16}", value.numpy())
    boundary_left    [1 1 6 0]
    boundary_right   [4 4 8 0]
    boundary_offsets [1 2 1 0]
    """
    count = tf.size(spans)
    firsts = tf.gather(tf.math.unsorted_segment_min(chosen.positions, spans, count), spans)
    lasts = tf.gather(tf.math.unsorted_segment_max(chosen.positions, spans, count), spans)
    offsets = chosen.positions - firsts + 1
    made = {
        features.BOUNDARY_LEFT: firsts - 1,
        features.BOUNDARY_RIGHT: lasts + 1,
        features.BOUNDARY_OFFSETS: tf.where(offsets <= places, offsets, 0),
    }
    return {name: tf.where(chosen.is_used, value, 0) for name, value in made.items()}
