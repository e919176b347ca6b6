"""The objectives by their kind in a recipe, and their measured rates."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from firth.objectives.bidirectional_lm import BidirectionalLMObjective
from firth.objectives.causal_lm import CausalLMObjective
from firth.objectives.denoising import DenoisingObjective
from firth.objectives.masked_lm import MaskedLMObjective
from firth.objectives.permutation_lm import PermutationLMObjective
from firth.objectives.prefix_lm import PrefixLMObjective
from firth.objectives.rates.rate_checks import Rates, Sample
from firth.objectives.replaced_token_detection import ReplacedTokenDetectionObjective
from firth.objectives.salient_spans import SalientSpansObjective
from firth.objectives.span_corruption import IidDenoisingObjective, SpanCorruptionObjective
from firth.objectives.span_masking import SpanMaskingObjective
from firth.objectives.unilm import UniLMObjective

OBJECTIVES: dict[str, Any] = {
    "masked_lm": MaskedLMObjective,
    "span_masking": SpanMaskingObjective,
    "replaced_token_detection": ReplacedTokenDetectionObjective,
    "unilm": UniLMObjective,
    "permutation_lm": PermutationLMObjective,
    "causal_lm": CausalLMObjective,
    "prefix_lm": PrefixLMObjective,
    "bidirectional_lm": BidirectionalLMObjective,
    "span_corruption": SpanCorruptionObjective,
    "iid_denoising": IidDenoisingObjective,
    "salient_spans": SalientSpansObjective,
    "denoising": DenoisingObjective,
}
"""Classes of the objectives, by `recipe.objective.kind`."""


def measure_rates(
    config: Any,
    tokenizer: Any,
    rows: Mapping[str, Any],
    negatives: Mapping[str, Any],
    made: Mapping[str, Any],
) -> Rates:
    """Returns the rates of an objective on some rows, each with the bounds that the recipe sets.

    Bounds are exact for a count that is not left to chance (special tokens touched: 0; random next sentences
    from the same document: 0; noise tokens), and otherwise five standard deviations of so many draws wide.

    Args:
        config: Objective of the recipe.
        tokenizer: Tokenizer of the rows.
        rows: Arrays as `features.row_specs`, [n, ...] each.
        negatives: Negative rows in the same form.
        made: Features of these rows, [n, ...] each.

    Returns:
        The rates of the objective's kind. Several kinds share these:
            selected: Predicted tokens, of all that could be.
            masked, random, kept: Shares of the predicted tokens by their fate; a random piece that happens to
                be the original counts as kept.
            special_tokens_touched: Predicted or corrupted special tokens.
            random_next, same_document; swapped: Of next sentences, and of sentence order.
            label_told_by_form: Share of their labels that a small forest tells of documents it has not seen,
                from the lengths of A, of B and of both and the row's padding, or from B's sentence ends.
            pairs_without_label: Documents that are too short for a pair, or have no negative segment.
            text_left_out: Tokens that this epoch's random and cut segments leave out of the rows.
            noise, sentinels_per_document, mean_span, first_corrupted, last_corrupted: Of spans.
            removed, spans_per_infilled, permuted: Of BART's corruptions; also XLNet's orders.
            mask_<kind>: Of UniLM's mixture.
            padding: Places that hold nothing.
    """
    rows, negatives, made = (
        {name: np.asarray(value) for name, value in part.items()} for part in (rows, negatives, made)
    )
    return OBJECTIVES[config.kind].rates(Sample(config, tokenizer, rows, negatives, made))
