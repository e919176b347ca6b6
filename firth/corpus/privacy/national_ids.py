"""Detection of national identification numbers."""

import csv
import dataclasses
import functools
import importlib
import pathlib
import re
from collections.abc import Callable, Iterator, Sequence

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
Check = Callable[[str], bool]
_LETTERS_TAIWAN = "ABCDEFGHJKLMNPQRSTUVXYWZIO"


@dataclasses.dataclass(frozen=True)
class Scheme:
    """A country's national number, a row of `national_ids.tsv`.

    Attributes:
        country: ISO 3166-1 code of the country.
        module: Name of the module of stdnum, or of a function of this file, that checks the digits;
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
    own = _OWN_CHECKS.get(module)
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


def _weighted(digits: Sequence[int], weights: Sequence[int]) -> int:
    return sum(weight * digit for weight, digit in zip(weights, digits))


def _written(form: str) -> Callable[[Check], Check]:
    """Returns a decorator of checks that only strings of a form can pass."""

    def of_form(check: Check) -> Check:
        return functools.wraps(check)(lambda value: bool(re.fullmatch(form, value)) and check(value))

    return of_form


def gb_nino(value: str) -> bool:
    """Returns whether a string has the form of a British National Insurance number (no check digit)."""
    return bool(re.fullmatch(r"(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]", value))


@_written(r"\d{11}")
def ru_snils(value: str) -> bool:
    """Returns whether a string is a Russian insurance number (SNILS) with the right check digits.

    Example:

    >>> ru_snils("11223344595"), ru_snils("11223344596")
    (True, False)
    """
    digits = list(map(int, value))
    return _weighted(digits, range(9, 0, -1)) % 101 % 100 == int(value[9:])


@_written(r"\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[0-6]\d{5}")
def kz_iin(value: str) -> bool:
    """Returns whether a string is an individual number of Kazakhstan (IIN) with the right check digit."""
    digits = list(map(int, value))
    check = _weighted(digits, range(1, 12)) % 11
    if check == 10:
        check = _weighted(digits, (3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2)) % 11
    return check == digits[11]


@_written(r"\d{12}")
def jp_individual(value: str) -> bool:
    """Returns whether a string is a Japanese individual number with the right check digit."""
    digits = list(map(int, value))
    rest = _weighted(digits, (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return digits[11] == (11 - rest if rest > 1 else 0)


@_written(r"[A-Z][1289]\d{8}")
def tw_id(value: str) -> bool:
    """Returns whether a string is an identity number of Taiwan with the right check digit.

    Example:

    >>> tw_id("A123456789"), tw_id("A123456780")
    (True, False)
    """
    number = 10 + _LETTERS_TAIWAN.index(value[0])
    digits = [number // 10, number % 10, *map(int, value[1:])]
    return _weighted(digits, (1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1)) % 10 == 0


@_written(r"[A-Z]{1,2}\d{6}[\dA]")
def hk_id(value: str) -> bool:
    """Returns whether a string is the number of a Hong Kong identity card with the right check digit."""
    padded = [36] * (9 - len(value)) + [int(each, 36) for each in value]
    return _weighted(padded, range(9, 0, -1)) % 11 == 0


@_written(r"[STFG]\d{7}[A-Z]")
def sg_nric(value: str) -> bool:
    """Returns whether a string is an identity number of Singapore with the right check letter."""
    total = _weighted(list(map(int, value[1:8])), (2, 7, 6, 5, 4, 3, 2)) + 4 * (value[0] in "TG")
    return value[8] == ("JZIHGFEDCBA" if value[0] in "ST" else "XWUTRQPNMLK")[total % 11]


@_written(r"\d{7,8}")
def uy_ci(value: str) -> bool:
    """Returns whether a string is the number of a Uruguayan identity card with the right check digit."""
    digits = list(map(int, value.zfill(8)))
    return -_weighted(digits, (2, 9, 8, 7, 6, 3, 4)) % 10 == digits[7]


_OWN_CHECKS: dict[str, Check] = {
    each.__name__: each for each in (gb_nino, hk_id, jp_individual, kz_iin, ru_snils, sg_nric, tw_id, uy_ci)
}
