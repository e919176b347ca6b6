"""ROUGE of summaries, by rouge-score: the mean over examples of F, from 0 to 1.

rouge-score keeps ASCII letters and digits alone, so that it is made for English.
"""

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

from firth.scores.bleu import Texts, texts_of
from firth.scores.inputs import check_pairs

# The names that rouge-score has for them.
VARIANTS = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL", "rouge_lsum": "rougeLsum"}

_SENTENCE_END = re.compile(r"([.!?][\"')\]’”]*)\s+(?=[^\sa-z])")


def sentence_lines(text: str) -> str:
    r"""Returns a text with one sentence on each line, which ROUGE-Lsum is defined on.

    A text that has several lines stays as it is. Another is cut after `.`, `!` and `?`, with closing quotes
    and brackets, unless a lower-case letter follows.

    Args:
        text: A summary.

    Example:

    >>> sentence_lines('He left. "Why?" She stayed at 5 p.m. sharp.').split("\n")
    ['He left.', '"Why?"', 'She stayed at 5 p.m. sharp.']
    """
    return text if "\n" in text.strip() else _SENTENCE_END.sub(r"\1\n", text)


def rouge_of(variant: str, reference: Texts, prediction: str, *, stemmer: bool = False) -> float:
    """Returns the greatest F of a summary and each right one.

    Args:
        variant: One of `VARIANTS`.
        reference: One or more right summaries.
        prediction: Predicted summary.
        stemmer: Whether words are compared by their stems (Porter's).

    Raises:
        KeyError: for another variant.
        ValueError: if there is no right summary.

    Example:

    >>> round(rouge_of("rouge_1", "the cat sat", "the cat sat down"), 4)
    0.8571
    """
    name = VARIANTS[variant]
    right = [sentence_lines(text) for text in texts_of(reference)]
    if not right:
        raise ValueError("an example has no right summary")
    scores = _scorer(name, stemmer).score_multi(right, sentence_lines(prediction))
    return float(scores[name].fmeasure)


def rouge(
    variant: str, references: Sequence[Texts], predictions: Sequence[str], *, stemmer: bool = False
) -> float:
    """Returns the mean of `rouge_of` over examples; 0 of no examples.

    Args:
        variant: One of `VARIANTS`.
        references: One or more right summaries of each example.
        predictions: Predicted summary of each example.
        stemmer: Whether words are compared by their stems (Porter's).

    Raises:
        ValueError: as of `rouge_of`, or as `check_pairs` says.
    """
    check_pairs(references, predictions)
    values = [rouge_of(variant, *pair, stemmer=stemmer) for pair in zip(references, predictions)]
    return sum(values) / len(values) if values else 0.0


def rouge_functions(variant: str) -> tuple[Callable[..., float], Callable[..., float]]:
    """Returns the functions `rouge` and `rouge_of` of one variant.

    Args:
        variant: One of `VARIANTS`.
    """
    return functools.partial(rouge, variant), functools.partial(rouge_of, variant)


@functools.cache
def _scorer(name: str, stemmer: bool) -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    # Its own splitter of sentences downloads a model.
    return RougeScorer([name], use_stemmer=stemmer, split_summaries=False)
