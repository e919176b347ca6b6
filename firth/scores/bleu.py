"""BLEU of a set of translations, by sacrebleu, with the signature that says how it was computed."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from firth.scores.inputs import Ints, check_pairs

Texts = str | Sequence[str]

# Those of sacrebleu that download nothing and need no other package.
TOKENIZERS = ("13a", "intl", "zh", "char", "none")


def bleu(
    references: Sequence[Texts], predictions: Sequence[str], *, tokenize: str = "13a", lowercase: bool = False
) -> float:
    """Returns BLEU of the whole set, from 0 to 100; 0 of no examples.

    Args:
        references: One or more right translations of each example, not tokenized.
        predictions: Predicted translation of each example, not tokenized.
        tokenize: Tokenizer of sacrebleu, one of `TOKENIZERS`.
        lowercase: Whether case counts nothing.

    Raises:
        ValueError: for another tokenizer, an example without a right translation, or as `check_pairs` says.

    Example:

    >>> round(bleu(["The dog bit the man."], ["The dog bit the man."]), 2)
    100.0
    """
    check_pairs(references, predictions)
    metric = _metric(tokenize, lowercase)
    return float(metric.corpus_score(list(predictions), _streams(references)).score) if predictions else 0.0


def bleu_of_places(
    references: Sequence[Texts], predictions: Sequence[str], *, tokenize: str = "13a", lowercase: bool = False
) -> Callable[[Ints], float]:
    """Returns BLEU as a function of the places of some examples, for intervals.

    BLEU is made of counts, which are added up over examples: n-grams are counted once for all resamples.

    Args:
        references: One or more right translations of each example, not tokenized.
        predictions: Predicted translation of each example, not tokenized.
        tokenize: Tokenizer of sacrebleu, one of `TOKENIZERS`.
        lowercase: Whether case counts nothing.

    Raises:
        ValueError: for another tokenizer, or an example without a right translation.
    """
    metric = _metric(tokenize, lowercase, of_sentences=True)
    _streams(references)
    found = [
        metric.sentence_score(prediction, texts_of(reference))
        for reference, prediction in zip(references, predictions, strict=True)
    ]
    counts = np.array([[*each.counts, *each.totals, each.sys_len, each.ref_len] for each in found])

    def value_of(places: Ints) -> float:
        sums = counts[places].sum(axis=0).tolist()
        orders = (len(sums) - 2) // 2
        right, total = sums[:orders], sums[orders : 2 * orders]
        return float(metric.compute_bleu(right, total, *sums[-2:], smooth_method="exp").score)

    return value_of


def bleu_signature(references: Sequence[Texts], *, tokenize: str = "13a", lowercase: bool = False) -> str:
    """Returns sacrebleu's signature of `bleu` with these references; without it a BLEU says little.

    Args:
        references: One or more right translations of each example.
        tokenize: Tokenizer of sacrebleu, one of `TOKENIZERS`.
        lowercase: Whether case counts nothing.

    Raises:
        ValueError: for another tokenizer, or an example without a right translation.

    Example:

    >>> bleu_signature(["The dog bit the man."])
    'nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:...'
    """
    metric = _metric(tokenize, lowercase)
    metric.corpus_score([""] * len(references or [""]), _streams(references or [""]))
    return str(metric.get_signature())


def _metric(tokenize: str, lowercase: bool, of_sentences: bool = False) -> Any:
    from sacrebleu.metrics import BLEU

    if tokenize not in TOKENIZERS:
        raise ValueError(f"there is no tokenizer {tokenize!r} of BLEU here; one of: {', '.join(TOKENIZERS)}")
    return BLEU(tokenize=tokenize, lowercase=lowercase, effective_order=of_sentences)


def _streams(references: Sequence[Texts]) -> list[list[str | None]]:
    """Returns lists of the first right translations, of the second ones, and so on, as sacrebleu has them."""
    each = [texts_of(reference) for reference in references]
    for place, texts in enumerate(each):
        if not texts:
            raise ValueError(f"example {place} has no right translation")
    return [list(stream) for stream in itertools.zip_longest(*each)]


def texts_of(reference: Texts) -> list[str]:
    """Returns the right texts of an example as a list.

    Args:
        reference: One text, or several.
    """
    return [reference] if isinstance(reference, str) else list(reference)
