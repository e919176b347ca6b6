"""Detection of national identification numbers."""

import csv
import dataclasses
import functools
import importlib
import pathlib
import re
from collections.abc import Callable, Iterator, Sequence

from firth.corpus.privacy import check_digits
from firth.corpus.privacy.finder import WORD, Finder, Run, Span, search, words_before
from firth.recipes.corpus.privacy import PiiStep

_SEPARATORS = re.compile(r"[ \u00a0./()-]")
# After a word such as `SSN` any grouping is accepted, with letters at one end.
_CUED = re.compile(
    rf"[A-Z\d](?<![{WORD}.,+-].)(?:(?<=\d)(?:[ \u00a0./-]?\d){{6,17}}(?:[ -]?[A-Za-z]{{1,2}}(?![{WORD}]))?"
    rf"|(?<=[A-Z])(?:[A-Z]{{0,5}}|[A-Z] )\d(?:[ -]?[A-Z\d]){{5,12}}(?:\([\dA]\))?)(?![{WORD}%]|[.,-]\d)"
)
# The beginnings of all ways of writing, in a form that is quick to search.
_START = re.compile(
    rf"[A-Z\d](?<![{WORD}.,+-].)(?:(?<=\d)(?=(?:[ .-]?\d){{5}})"
    rf"|(?<=[A-Z])(?=[A-Z]{{3,5}}\d\d|[A-Z]?-?\d{{6}}))"
)
_CUE_CHARACTERS = 48
# Most letters before the first digit and after the last, and least number of digits without a letter before.
_BEFORE, _AFTER, _MIN_DIGITS = 8, 32, 6


@dataclasses.dataclass(frozen=True)
class Scheme:
    """A country's national number, a row of `national_ids.tsv`.

    Attributes:
        country: ISO 3166-1 code of the country.
        module: Name of the module of stdnum, or of the function of `check_digits`, that checks the digits;
            empty if the number has no check digits.
        written: Pattern of a way of writing that is rarely used for anything else; empty for a number without
            such a way.
        cues: Pattern of words that announce the number, after which any grouping is accepted; empty for
            a number that no word announces.
        form: Pattern of the number without separators after such a word.
    """

    country: str
    module: str = ""
    written: str = ""
    cues: str = ""
    form: str = r"[A-Z\d]+"

    def is_valid(self, value: str) -> bool:
        """Returns whether the form, the check digits and the date of birth, if there is one, are right."""
        compact = _SEPARATORS.sub("", value)
        if not re.fullmatch(self.form, compact):
            return False
        is_valid = _check(self.module)
        return is_valid(compact) or is_valid(value)


@functools.cache
def _check(module: str) -> Callable[[str], bool]:
    if not module:
        return lambda value: True
    own = getattr(check_digits, module, None)
    return own or _without_errors(importlib.import_module(f"stdnum.{module}").is_valid)


def _without_errors(is_valid: Callable[[str], bool]) -> Callable[[str], bool]:
    # stdnum raises these errors for numbers whose place of issue is missing in its tables.
    def checked(value: str) -> bool:
        try:
            return is_valid(value)
        except (LookupError, ValueError):
            return False

    return checked


_ROWS = pathlib.Path(__file__).with_name("national_ids.tsv").read_text(encoding="utf-8").splitlines()
SCHEMES = tuple(
    Scheme(**{name: value for name, value in row.items() if value})
    for row in csv.DictReader(_ROWS, delimiter="\t", quoting=csv.QUOTE_NONE)
)


class NationalIds(Finder):
    """Finds national numbers with right check digits and a distinctive form or an announcing word."""

    def __init__(self, config: PiiStep) -> None:
        self._schemes = tuple(each for each in SCHEMES if each.country in config.id_countries)
        written = "|".join(each.written for each in self._schemes if each.written)
        self._written = re.compile(rf"(?:{written})(?![{WORD}%-]|[.,]\d)") if written else None
        self._forms = [(each, re.compile(each.written)) for each in self._schemes if each.written]
        self._cued = [(each, re.compile(each.cues)) for each in self._schemes if each.cues]
        cues = "|".join(each.cues for each, _ in self._cued)
        self._cue = re.compile(rf"(?<![{WORD}])({cues})(?![{WORD}])") if cues else None
        self._schemes_of_cue: dict[str, list[Scheme]] = {}

    def find(self, text: str, runs: Sequence[Run]) -> Iterator[Span]:  # noqa: D102
        possible = [
            (start, end)
            for start, end in runs
            if end - start >= _MIN_DIGITS or (start and text[start - 1].isupper())
        ]
        yield from sorted({*self._find_written(text, possible), *self._find_cued(text, possible)})

    def _find_written(self, text: str, runs: Sequence[Run]) -> Iterator[Span]:
        starts = search(_START, text, runs, 1, _BEFORE)
        for start in starts if self._written else ():
            candidate = self._written and self._written.match(text, start.start())
            if candidate and self._is_one(candidate.group()):
                yield candidate.span()

    def _is_one(self, value: str) -> bool:
        return any(form.fullmatch(value) and scheme.is_valid(value) for scheme, form in self._forms)

    def _find_cued(self, text: str, runs: Sequence[Run]) -> Iterator[Span]:
        for candidate in search(_CUED, text, runs, 1, _BEFORE, _AFTER):
            start = candidate.start()
            schemes = self._announced_by(words_before(text, start, _CUE_CHARACTERS).lower())
            length = _length(candidate.group(), schemes) if schemes else 0
            if length:
                yield start, start + length

    def _announced_by(self, words: str) -> list[Scheme]:
        """Returns the schemes whose cues are among the words, which are in lower case."""
        cues = {each[1] for each in self._cue.finditer(words)} if words and self._cue else set()
        for cue in cues - self._schemes_of_cue.keys():
            self._schemes_of_cue[cue] = [scheme for scheme, known in self._cued if known.fullmatch(cue)]
        return [scheme for cue in cues for scheme in self._schemes_of_cue[cue]]

    def accepts(self, value: str) -> bool:  # noqa: D102
        return any(scheme.module and scheme.is_valid(value) for scheme in self._schemes)


def _length(value: str, schemes: Sequence[Scheme]) -> int:
    """Returns the length of the number at the beginning of a candidate, which may have words after it."""
    while value:
        if any(scheme.is_valid(value) for scheme in schemes):
            return len(value)
        value = value.rpartition(" ")[0]
    return 0
