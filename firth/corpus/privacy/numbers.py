"""Payment cards and bank accounts."""

import re
from collections.abc import Iterator

from firth.corpus.privacy.finder import Finder, Span
from firth.recipes.privacy import PiiStep


class CreditCards(Finder):
    """Numbers of payment cards: an issuer's prefix and length, usual groups, and Luhn's check digit."""

    _candidate = re.compile(r"\d(?<![\w.,+-]\d)(?:[ -]?\d){12,18}(?![\w%]|[.,-]\d)")
    # Visa; Mastercard; American Express; Discover; JCB; Diners Club; UnionPay.
    _issued = re.compile(
        r"4\d{12}(?:\d{3}){0,2}|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|3[47]\d{13}"
        r"|(?:6011|64[4-9]\d|65\d\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}|62\d{14}"
    )
    _groups = re.compile(r"\d+|(?:\d{4}([ -])\d{4}\1\d{4}\1\d{1,4}(?:\1\d{3})?)|\d{4}([ -])\d{6}\2\d{4,5}")

    def __init__(self, config: PiiStep):
        del config

    def find(self, text: str) -> Iterator[Span]:  # noqa: D102
        for candidate in self._candidate.finditer(text):
            if self.accepts(candidate.group()):
                yield candidate.span()

    def accepts(self, value: str) -> bool:  # noqa: D102
        from stdnum import luhn

        digits = value.replace(" ", "").replace("-", "")
        return bool(
            self._groups.fullmatch(value) and self._issued.fullmatch(digits) and luhn.is_valid(digits)
        )


class Ibans(Finder):
    """International bank account numbers, with their check digits and their country's structure."""

    _candidate = re.compile(r"[A-Z](?<![A-Za-z0-9][A-Z])[A-Z]\d{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])")

    def __init__(self, config: PiiStep):
        del config

    def find(self, text: str) -> Iterator[Span]:  # noqa: D102
        for candidate in self._candidate.finditer(text):
            start, value = candidate.start(), candidate.group()
            # Words in capitals that follow belong to the candidate until it is tried without them.
            while value:
                if self.accepts(value):
                    yield start, start + len(value)
                    break
                value = value.rpartition(" ")[0]

    def accepts(self, value: str) -> bool:  # noqa: D102
        from stdnum import iban

        # The check of a country may go by a list of its banks, which grows old.
        return iban.is_valid(value, check_country=False)
