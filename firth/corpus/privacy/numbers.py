"""Payment cards and bank accounts."""

import re
from collections.abc import Iterator

from firth.corpus.privacy.boundaries import WORD
from firth.corpus.privacy.finder import Finder, Span
from firth.recipes.privacy import PiiStep

_SEPARATORS = re.compile(r"[ \u00a0.-]")


class CreditCards(Finder):
    """Numbers of payment cards: an issuer's prefix and length, usual groups, and Luhn's check digit."""

    _candidate = re.compile(rf"\d(?<![{WORD}.,+-]\d)(?:[ \u00a0.-]?\d){{11,18}}(?![{WORD}%]|[.,-]\d)")
    # Visa; Mastercard; American Express; Discover and RuPay; JCB; Diners Club; UnionPay; Mir; Troy; RuPay;
    # Elo; Verve; Dankort and Maestro.
    _issued = re.compile(
        r"4\d{12}(?:\d{3}){0,2}|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|3[47]\d{13}"
        r"|(?:6011|64[4-9]\d|65\d\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}|62\d{14,17}"
        r"|220[0-4]\d{12,15}|9792\d{12}|(?:60|8[12]|508)\d{13,14}|(?:636368|636297|504175|438935|451416)\d{10}"
        r"|(?:506[01]|6500|507[89])\d{12}(?:\d{3})?|(?:50(?:18|19|20|38)|5[68]\d\d|5893|6304|67[0-9]\d)\d{8,15}"
    )
    _groups = re.compile(
        r"\d+|\d{4}([ \u00a0.-])\d{4}\1\d{4}(?:\1\d{1,4}(?:\1\d{3})?)?|\d{4}([ \u00a0.-])\d{6}\2\d{4,5}"
    )

    def __init__(self, config: PiiStep):
        del config

    def find(self, text: str) -> Iterator[Span]:  # noqa: D102
        for candidate in self._candidate.finditer(text):
            if self.accepts(candidate.group()):
                yield candidate.span()

    def accepts(self, value: str) -> bool:  # noqa: D102
        from stdnum import luhn

        digits = _SEPARATORS.sub("", value)
        return bool(
            self._groups.fullmatch(value) and self._issued.fullmatch(digits) and luhn.is_valid(digits)
        )


class Ibans(Finder):
    """International bank account numbers, with their check digits and their country's structure."""

    # A search for digits is quicker than one for letters, so the country's code is looked for after them.
    _candidate = re.compile(
        rf"\d(?<=[A-Za-z]{{2}}\d)(?:(?<![{WORD}]..\d)|(?<=(?i:iban)..\d))\d"
        rf"(?:[ \u00a0-]?[A-Za-z0-9]){{11,30}}"
        rf"(?![{WORD}])"
    )
    _separator = re.compile("[ \u00a0-]")

    def __init__(self, config: PiiStep):
        del config

    def find(self, text: str) -> Iterator[Span]:  # noqa: D102
        for candidate in self._candidate.finditer(text):
            start = candidate.start() - 2
            value = text[start : candidate.end()]
            # Words that follow belong to the candidate until it is tried without them.
            while value:
                if self.accepts(value):
                    yield start, start + len(value)
                    break
                value = value[: _last_separator(value)]

    def accepts(self, value: str) -> bool:  # noqa: D102
        from stdnum import iban

        # The check of a country may go by a list of its banks, which grows old.
        return iban.is_valid(self._separator.sub("", value).upper(), check_country=False)


def _last_separator(value: str) -> int:
    """Returns where the last group begins to be apart from those before; 0 for a single group."""
    return max(0, *(value.rfind(each) for each in " \u00a0-"))
