"""Looks up the records that a model is scored on among the evaluation data found in its corpora."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from firth.corpus.contamination.evidence import CorpusEvidence
from firth.corpus.text.words import comparable_words


class HeldOutSearch:
    """Finds held-out records in the corpora that a model was trained on, and counts them.

    Raises:
        ValueError: if a file is of another format.
        OSError: if a file cannot be read.

    Example: see `tests/corpus/contamination/held_out_search_test.py`.
    """

    def __init__(self, corpora: Sequence[CorpusEvidence]) -> None:
        self._corpora = {place: (each.model, each.load()) for place, each in enumerate(corpora)}
        self._counts: Counter[str] = Counter()
        self._found: Counter[tuple[int, str]] = Counter()

    def find(self, texts: Sequence[str], labels: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Returns which records were found in a corpus, and counts them.

        Returns:
            bool [records].
        """
        found = np.zeros(len(texts), bool)
        searched = np.zeros(len(texts), bool)
        joined = [f"{text} {label}" for text, label in zip(texts, labels, strict=True)]
        for place, (_, steps) in self._corpora.items():
            for step in steps:
                known = step.look_up(joined)
                self._found[place, step.step] += int(known.found.sum())
                found |= known.found
                searched |= known.searched
        is_short = np.array([len(comparable_words(text)) for text in texts]) < self._least_words
        self._counts.update(
            records=len(texts),
            found=int(found.sum()),
            too_short=int((is_short & ~found & ~searched).sum()),
            not_searched=int((~is_short & ~found & ~searched).sum()),
        )
        return found

    @property
    def _least_words(self) -> int:
        return min((step.ngram_words for _, steps in self._corpora.values() for step in steps), default=0)

    def report(self) -> dict[str, Any]:
        """Returns the counts as a JSON object."""
        if not self._corpora:
            return {}
        names = ("records", "found", "too_short", "not_searched")
        return {
            **{name: self._counts[name] for name in names},
            "corpora": [
                {"model": model, "steps": [self._step(place, step) for step in steps]}
                for place, (model, steps) in self._corpora.items()
            ],
        }

    def _step(self, place: int, step: Any) -> dict[str, Any]:
        return {
            "step": step.step,
            "action": step.action,
            "ngram_words": step.ngram_words,
            "benchmarks": [each["benchmark"] for each in step.benchmarks],
            "found": self._found[place, step.step],
        }
