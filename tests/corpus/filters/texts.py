"""Texts of so many words, lines and repeats, and a rule tried from both sides of its threshold."""

from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.steps import Drop, Keep
from tests.corpus.helpers import document


def words(n: int, word: str = "cat") -> list[str]:
    return ["the", "and", *[word] * (n - 2)]


def text(n: int, word: str = "cat") -> str:
    return " ".join(words(n, word))


def unique(n: int, start: int = 0) -> list[str]:
    """Returns n different words of five letters."""
    return [f"{chr(97 + i // 26 % 26)}{chr(97 + i % 26)}{i:03}" for i in range(start, start + n)]


def with_repeat(n: int, total: int) -> str:
    """Returns `total` words of five letters, of which the last n stood at the beginning."""
    return " ".join([*unique(total - n), *unique(n)])


def apart(n: int) -> list[str]:
    """Returns n different words and four times another, never side by side."""
    return [each for i, word in enumerate(unique(n)) for each in (["ab"] * (i < 4) + [word])]


def lines(n: int, first: int, mark: str) -> str:
    """Returns n lines of five words, of which the `first` ones have a mark where a `|` is in it."""
    plain = text(5, "whale")
    marked = mark.replace("|", plain)
    return "\n".join([marked] * first + [plain] * (n - first))


def check_threshold(config, reason: str, inside: str, outside: str) -> None:
    """Checks that a step keeps the one text and drops the other for the reason."""
    step = STEPS[config.kind](config)
    assert reason in step.reasons
    assert step.decide(document(inside)) == Keep(document(inside))
    assert step.decide(document(outside)) == Drop(reason)
