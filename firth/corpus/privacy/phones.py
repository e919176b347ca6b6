"""Phone numbers."""

import functools
import re
from collections.abc import Iterator

from firth.corpus.privacy.finder import Finder, Span, reshape
from firth.recipes.privacy import PiiStep

_CANDIDATE = re.compile(
    r"[+(\d](?<![\w+.,/#$€£@%-].)(?<!\d:.)(?:(?<=\d)|(?<=\()\d|(?<=\+)\(?\d)"
    r"(?:(?:[ \u00a0.-]|\) ?| ?\(| ?/ ?|- )?\d){6,16}(?![\w%]|[.,:/-]\d)"
)
_CUE = re.compile(
    r"(?i)\b(?:tele?(?:phone|fon|f)?|tél|telefax|phones?|ph|call|calling|mob(?:ile)?|cell|fax|whatsapp|sms|text"
    r"|dial|hotline|handy|móvil|rufnummer)\b[^\d\n]{0,20}\Z"
)
_CUE_CHARACTERS = 40
_MIN_DIGITS = 6


class Phones(Finder):
    """Phone numbers that phonenumbers, Google's library of all countries' plans, takes for valid.

    With `+` and country code they are known anywhere. Without, they belong to one of the regions, and are
    written in the groups that are usual there or stand behind a word such as `call`: any ten digits may be a
    number in the United States.
    """

    def __init__(self, config: PiiStep):
        self._regions = config.phone_regions

    def find(self, text: str) -> Iterator[Span]:  # noqa: D102
        position = 0
        while candidate := _CANDIDATE.search(text, position):
            start, value = candidate.start(), candidate.group()
            cued = bool(_CUE.search(text, max(0, start - _CUE_CHARACTERS), start))
            length = self._number_length(value, cued)
            if length:
                yield start, start + length
            # A year or another number may stand before.
            position = start + (length or len(value) - len(value.partition(" ")[2]))

    def accepts(self, value: str) -> bool:  # noqa: D102
        return bool(_CANDIDATE.fullmatch(value)) and self._is_number(value, cued=True)

    def reshape(self, value: str, key: bytes) -> str:  # noqa: D102
        kept = self._code_characters(value) if value.startswith("+") else 0
        return value[:kept] + reshape(value[kept:], key)

    def _number_length(self, value: str, cued: bool) -> int:
        """Returns how many of the characters, up to a space or the end, are a number, at most; 0 for none."""
        while len(value) > _MIN_DIGITS:
            if self._is_number(value, cued):
                return len(value)
            value = value.rpartition(" ")[0].rstrip(" (./-")
        return 0

    def _is_number(self, value: str, cued: bool) -> bool:
        import phonenumbers

        abroad = value.startswith("+")
        if not abroad and not cued and not _may_be_grouped(value):
            return False
        digits = sum(map(str.isdigit, value))
        regions = tuple(each for each in self._regions if digits in _possible_lengths(each))
        for region in (None,) if abroad else regions:
            try:
                number = phonenumbers.parse(value, region)
            except phonenumbers.NumberParseException:
                continue
            known = phonenumbers.is_valid_number(number)
            if known and (abroad or cued or _is_grouped(value, number)):
                return True
        return False

    def _code_characters(self, value: str) -> int:
        """Returns how many characters `+` and country code take."""
        import phonenumbers

        try:
            return 1 + len(str(phonenumbers.parse(value).country_code))
        except phonenumbers.NumberParseException:
            return 1


@functools.cache
def _possible_lengths(region: str) -> frozenset[int]:
    """Returns how many digits a number of a region may have, with its code or the prefix for trunk calls."""
    from phonenumbers import PhoneMetadata

    metadata = PhoneMetadata.metadata_for_region(region)
    if metadata is None or metadata.general_desc is None:
        return frozenset()
    further = {0, len(metadata.national_prefix or ""), len(str(metadata.country_code))}
    return frozenset(n + more for n in metadata.general_desc.possible_length for more in further)


def _may_be_grouped(value: str) -> bool:
    """Returns whether the digits stand in a few groups, of which only the first may be a single digit.

    Groups of two are usual where there are five of them, as in France; else they are a table's.
    """
    groups = [len(group) for group in re.findall(r"\d+", value)]
    return 2 <= len(groups) <= 6 and min(groups[1:]) > 1 and (max(groups) > 2 or len(groups) == 5)


def _is_grouped(value: str, number) -> bool:
    """Returns whether the digits stand in the groups that are usual for the number."""
    import phonenumbers

    groups = re.findall(r"\d+", value)
    formats = (phonenumbers.PhoneNumberFormat.NATIONAL, phonenumbers.PhoneNumberFormat.INTERNATIONAL)
    usual = (re.findall(r"\d+", phonenumbers.format_number(number, each)) for each in formats)
    return len(groups) > 1 and groups in usual
