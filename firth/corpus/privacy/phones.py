"""Phone numbers."""

import functools
import re
from collections.abc import Iterator

from firth.corpus.privacy.boundaries import WORD, words_before
from firth.corpus.privacy.finder import Finder, Span, reshape
from firth.corpus.privacy.phone_groups import may_be_groups
from firth.recipes.privacy import PiiStep

_CANDIDATE = re.compile(
    rf"[+(\d](?<![{WORD}+.,/#$€£@%-].)(?<!\d:.)(?:(?<=\d)|(?<=\()\+?\d|(?<=\+)\(?\d)"
    rf"(?:(?:[ \u00a0.-]|\) ?| ?\(| ?/ ?|- )?\d){{6,16}}(?![{WORD}%]|[.,:/-]\d)"
)
# Rows of a table, addresses of the internet, days and decimals: many, and no numbers without a word before.
_ROW = re.compile(r"\d+(?:[ \u00a0]\d+){6,}(?!\d)")
_OTHER = re.compile(
    r"\d{1,3}(?:\.\d{1,3}){3}(?![\d.])|(?:19|20)\d\d-[01]\d-[0-3]\d(?![\d-])|\d+\.\d+(?![\d./-])"
)
_CUE = re.compile(
    rf"(?i)(?:(?<![{WORD}])(?:tele?(?:phone|fon|fono|foon|f)?|tél(?:éphone)?|telefax|phones?|ph|call|calling"
    r"|mob(?:ile|il)?|cell|cel|fax|whatsapp|wa|sms|te?xt|dial|ring|hotline|handy|portable|numéro|nummer|appelez"
    r"|joindre|m[óo]vil|celular|cellulare|chiamami|ll[áa]mame|llame|ligue"
    r"|fone|fono|bel(?: ons)?|gsm|natel|tfn"
    r"|puh|rufnummer|oficina|hubungi|тел(?:ефон)?|моб|звоните|дзвоніть|τηλ|volejte|sunați|"
    rf"contact(?: no| number)?)(?![{WORD}])"
    r"|电话|電話|手机|携帯|전화|휴대폰|جوال|هاتف|טלפון|התקשרו|โทร|ফোন|फ़ोन)"
    r"[^\d\n]{0,20}\Z"
)
_CUE_CHARACTERS = 40
_MIN_DIGITS = 6
_INTERNATIONAL = re.compile(r"(?:00|011[ -]?|001[ -]?(?=[2-9]))[ -]?(?=[1-9])")


class Phones(Finder):
    """Phone numbers that phonenumbers, Google's library of all countries' plans, takes for valid.

    With country code after `+` or `00` they are known anywhere. Without, they belong to one of the regions,
    and are written in the groups that are usual there or come after a word such as `call`: any ten digits may
    be a number in the United States. In a row of seven groups or more no number is found without a word.
    """

    def __init__(self, config: PiiStep):
        self._regions = config.phone_regions

    def find(self, text: str) -> Iterator[Span]:  # noqa: D102
        position = 0
        while candidate := _CANDIDATE.search(text, position):
            start, value = candidate.start(), candidate.group()
            cued = bool(_CUE.search(words_before(text, start, _CUE_CHARACTERS)))
            other = None if cued else _ROW.match(text, start) or _OTHER.match(text, start)
            if other:
                position = other.end()
                continue
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
        if value.startswith(("+", "(+")):
            return _is_valid(value, None, True)
        international = _INTERNATIONAL.match(value)
        if international and (cued or len(re.findall(r"\d+", value)) > 1):
            rest = value[international.end() :]
            if _is_valid("+1 " + rest if value.startswith("001") else "+" + rest, None, True):
                return True
        groups = tuple(map(len, re.findall(r"\d+", value)))
        if not cued and not _are_a_few(groups):
            return False
        digits = sum(groups)
        return any(
            digits in _possible_lengths(region)
            and (cued or may_be_groups(region, groups))
            and _is_valid(value, region, cued)
            for region in self._regions
        )

    def _code_characters(self, value: str) -> int:
        """Returns how many characters `+` and country code take."""
        import phonenumbers

        try:
            return 1 + len(str(phonenumbers.parse(value).country_code))
        except phonenumbers.NumberParseException:
            return 1


def _is_valid(value: str, region: str | None, any_groups: bool) -> bool:
    import phonenumbers

    try:
        number = phonenumbers.parse(value, region)
    except phonenumbers.NumberParseException:
        return False
    return phonenumbers.is_valid_number(number) and (any_groups or _is_grouped(value, number))


@functools.cache
def _possible_lengths(region: str) -> frozenset[int]:
    """Returns how many digits a number of a region may have, with its code or the prefix for trunk calls."""
    from phonenumbers import PhoneMetadata

    metadata = PhoneMetadata.metadata_for_region(region)
    if metadata is None or metadata.general_desc is None:
        return frozenset()
    further = {0, len(metadata.national_prefix or ""), len(str(metadata.country_code))}
    return frozenset(n + more for n in metadata.general_desc.possible_length for more in further)


def _are_a_few(groups: tuple[int, ...]) -> bool:
    """Returns whether the digits stand in a few groups, of which only the first may be a single digit.

    Groups of two are usual where there are five of them, as in France; else they are a table's.
    """
    return 2 <= len(groups) <= 6 and min(groups[1:]) > 1 and (max(groups) > 2 or len(groups) == 5)


def _is_grouped(value: str, number) -> bool:
    """Returns whether the digits stand in the groups that are usual for the number."""
    import phonenumbers

    groups = re.findall(r"\d+", value)
    formats = (phonenumbers.PhoneNumberFormat.NATIONAL, phonenumbers.PhoneNumberFormat.INTERNATIONAL)
    usual = (re.findall(r"\d+", phonenumbers.format_number(number, each)) for each in formats)
    return len(groups) > 1 and groups in usual
