"""Answers of models that read no record, which tasks compare their scores with."""

import json
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

_LONGEST_TITLE = 40
Answer = TypeVar("Answer", bound=Hashable)


def most_frequent(answers: Sequence[Answer]) -> list[Answer]:
    """Returns the most frequent of some answers, the first of equally frequent ones; nothing of none.

    Example:

    >>> most_frequent(["b", "a", "a", "b"]), most_frequent([])
    (['b'], [])
    """
    return [answer for answer, _ in Counter(answers).most_common(1)]


def title_of(answer: object) -> str:
    """Returns an answer as it is named in a sentence: in quotes, in one line, cut after 40 characters.

    Example:

    >>> title_of("O"), title_of(2)
    ('"O"', '"2"')
    """
    text = " ".join(str(answer).split())
    return json.dumps(
        text if len(text) <= _LONGEST_TITLE else f"{text[:_LONGEST_TITLE]}...", ensure_ascii=False
    )
