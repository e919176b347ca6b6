"""ROUGE of summaries, by rouge-score: the mean over examples of F, from 0 to 1.

Words of ASCII letters and digits are those of rouge-score, which knows no others; words of other letters are
those of `firth.segmentation`, in lower case and without punctuation.
"""

import functools
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

from firth.scores.bleu import Texts, texts_of
from firth.scores.inputs import mean_over_pairs
from firth.segmentation.sentences import split_sentences
from firth.segmentation.words import CharacterSet, split_words

# The names that rouge-score has for them.
VARIANTS = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL", "rouge_lsum": "rougeLsum"}

# Letters and digits of all scripts, and marks on letters. The selectors are of emoji.
_WORD_CHARACTERS = "[[a-z0-9][[:L:][:Mn:][:Mc:][:Nd:]-[\\u0000-\\u007f]-[:Variation_Selector:]]]"
# They join letters, or keep them apart, without being seen.
_JOINERS = dict.fromkeys(map(ord, "\u200c\u200d"))


def words_of(text: str, stemmer: bool = False) -> list[str]:
    """Returns the words of a text that ROUGE compares.

    Example:

    >>> words_of("The naïve cat's mat."), words_of("वह है।"), words_of("我們在 Berlin。")
    (['the', 'naïve', 'cat', 's', 'mat'], ['वह', 'है'], ['我們', '在', 'berlin'])
    """
    of_english = _english(stemmer)
    if text.isascii():
        return list(of_english(text))
    lower = unicodedata.normalize("NFC", text.lower()).translate(_JOINERS)
    words = [word for word in split_words(_separators().sub(" ", lower)) if any(map(str.isalnum, word))]
    return [each for word in words for each in (of_english(word) if stemmer and word.isascii() else [word])]


@functools.cache
def _english(stemmer: bool) -> Callable[[str], Sequence[str]]:
    from rouge_score.tokenizers import DefaultTokenizer

    return DefaultTokenizer(stemmer).tokenize


@functools.cache
def _separators() -> re.Pattern[str]:
    return re.compile(f"[^{CharacterSet(_WORD_CHARACTERS).inside}]+")


def sentence_lines(text: str) -> str:
    r"""Returns a text with one sentence on each line, which ROUGE-Lsum is defined on.

    A text that has several lines stays as it is. Another has the sentences of `firth.segmentation`.

    Example:

    >>> sentence_lines('He left. "Why?" She stayed at 5 p.m. sharp.').split("\n")
    ['He left.', '"Why?"', 'She stayed at 5 p.m. sharp.']
    """
    return text if "\n" in text.strip() else "\n".join(map(str.rstrip, split_sentences(text)))


def rouge_of(variant: str, reference: Texts, prediction: str, *, stemmer: bool = False) -> float:
    """Returns the greatest F of a summary and each right one.

    Raises:
        KeyError: for another variant.

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

    Raises:
        ValueError: as of `rouge_of`, or as `check_pairs` says.
    """
    return mean_over_pairs(functools.partial(rouge_of, variant, stemmer=stemmer), references, predictions)


def rouge_functions(variant: str) -> tuple[Callable[..., float], Callable[..., float]]:
    """Returns the functions `rouge` and `rouge_of` of one variant."""
    return functools.partial(rouge, variant), functools.partial(rouge_of, variant)


@functools.cache
def _scorer(name: str, stemmer: bool) -> Any:
    from rouge_score.rouge_scorer import RougeScorer
    from rouge_score.tokenizers import Tokenizer

    class _Words(Tokenizer):
        """The words of a text, as rouge-score asks for them."""

        def tokenize(self, text: str) -> list[str]:
            return words_of(text, stemmer)

    # Its own splitter of sentences downloads a model.
    return RougeScorer([name], split_summaries=False, tokenizer=_Words())


def lead(text: str, sentences: int = 3) -> str:
    r"""Returns the first sentences of a text, one on each line.

    Sentences end as `firth.scores.rouge.sentence_lines` says, and at each line end.

    Example:

    >>> lead("One. Two!\nThree? Four.")
    'One.\nTwo!\nThree?'
    """
    lines = (line for part in text.splitlines() for line in sentence_lines(part).split("\n"))
    return "\n".join([line.strip() for line in lines if line.strip()][:sentences])
