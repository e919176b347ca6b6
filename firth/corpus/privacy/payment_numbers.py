"""Detection of payment cards and bank accounts."""

import functools
import re
from collections.abc import Iterator, Sequence

from firth.corpus.privacy.finder import WORD, Finder, Run, Span, search

_SEPARATORS = re.compile(r"[ \u00a0.-]")


class CreditCards(Finder):
    """Finds numbers of payment cards by the issuer's prefix and length, usual groups and the check digit."""

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

    def find(self, text: str, runs: Sequence[Run]) -> Iterator[Span]:  # noqa: D102
        for candidate in search(self._candidate, text, runs, length=12):
            if self.accepts(candidate.group()):
                yield candidate.span()

    def accepts(self, value: str) -> bool:  # noqa: D102
        from stdnum import luhn

        digits = _SEPARATORS.sub("", value)
        return bool(
            self._groups.fullmatch(value) and self._issued.fullmatch(digits) and luhn.is_valid(digits)
        )


class Ibans(Finder):
    """Finds international bank account numbers with right check digits and the structure of their country."""

    # The digits of a text are known, so the country's code is looked for after them.
    _check_digits = re.compile(rf"\d(?<=[A-Za-z]{{2}}\d)(?:(?<![{WORD}]..\d)|(?<=(?i:iban)..\d))\d")
    _candidate = re.compile(rf"\d\d(?:[ \u00a0-]?[A-Za-z0-9]){{11,30}}(?![{WORD}])")
    _separator = re.compile("[ \u00a0-]")
    _group = re.compile("[^ \u00a0-]+")

    def find(self, text: str, runs: Sequence[Run]) -> Iterator[Span]:  # noqa: D102
        for check_digits in search(self._check_digits, text, runs, length=2):
            start = check_digits.start() - 2
            candidate = self._candidate.match(text, check_digits.start())
            if not candidate:
                continue
            value = self._without_words(text[start : candidate.end()])
            if self.accepts(value):
                yield start, start + len(value)

    def _without_words(self, value: str) -> str:
        """Returns the groups of a candidate that have the length of the country's accounts, or "".

        A candidate may continue with the words after the number.
        """
        wanted = _account(value[:2].upper())[0]
        for group in self._group.finditer(value):
            wanted -= len(group.group())
            if wanted <= 0:
                return value[: group.end()] if wanted == 0 else ""
        return ""

    def accepts(self, value: str) -> bool:  # noqa: D102
        from stdnum.iso7064 import mod_97_10

        compact = self._separator.sub("", value).upper()
        # stdnum's checks of single countries are not used: some need lists of banks, which become outdated.
        _, structure = _account(compact[:2])
        return bool(structure.fullmatch(compact)) and mod_97_10.is_valid(compact[4:] + compact[:4])


@functools.lru_cache(maxsize=2**11)
def _account(country: str) -> tuple[int, re.Pattern[str]]:
    """Returns the length of a country's account numbers and a pattern of their structure."""
    from stdnum import numdb

    facts = [facts for _, facts in numdb.get("iban").info(country)]
    parts = re.findall(r"(\d+)!([nac])", facts[0].get("bban", "") if facts else "")
    if not parts:
        return 0, re.compile(r"(?!)")
    classes = {"n": "[0-9]", "a": "[A-Z]", "c": "[A-Z0-9]"}
    structure = "".join(f"{classes[kind]}{{{count}}}" for count, kind in parts)
    return 4 + sum(int(count) for count, _ in parts), re.compile(rf"[A-Z]{{2}}\d\d{structure}")
