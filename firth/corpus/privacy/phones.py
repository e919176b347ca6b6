"""Detection of phone numbers, which are checked by the countries' numbering plans if they can be."""

import functools
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from firth.corpus.privacy.finder import WORD, Finder, Run, Span, reshape, words_before

if TYPE_CHECKING:
    from phonenumbers import PhoneMetadata, PhoneNumber

_DIGITS = rf"(?:(?:[ \u00a0.-]|\) ?| ?\(| ?/ ?|- )?\d){{6,16}}(?![{WORD}%]|[.,:/-]\d)"
_CANDIDATE = re.compile(
    rf"[+(\d](?<![{WORD}+.,/#$€£@%-].)(?<!\d:.)(?:(?<=\d)|(?<=\()\+?\d|(?<=\+)\(?\d){_DIGITS}"
)
# A number directly after another one.
_NEXT = re.compile(rf"\+\(?\d{_DIGITS}")
# Rows of tables, IP addresses, dates and decimals are frequent, and phone numbers only after such a word.
_ROW = re.compile(r"\d+(?:[ \u00a0]\d+){6,}(?!\d)")
_OTHER = re.compile(
    r"\d{1,3}(?:\.\d{1,3}){3}(?![\d.])|(?:19|20)\d\d-[01]\d-[0-3]\d(?![\d-])|\d+\.\d+(?![\d./-])"
)
_CUE = re.compile(
    rf"(?:(?<![{WORD}])(?:tele?(?:phone|fon|fono|foon|f)?|tél(?:éphone)?|telefax|phones?|ph|call|calling"
    r"|mob(?:ile|il)?|cell|cel|fax|whatsapp|wa|sms|te?xt|dial|ring|hotline|handy|portable|numéro|nummer|appelez"
    r"|joindre|m[óo]vil|celular|cellulare|chiamami|ll[áa]mame|llame|ligue"
    r"|fone|fono|bel(?: ons)?|gsm|natel|tfn"
    r"|puh|rufnummer|oficina|hubungi|тел(?:ефон)?|моб|звоните|дзвоніть|τηλ|volejte|sunați|"
    rf"contact(?: no| number)?)(?![{WORD}])"
    r"|电话|電話|手机|携帯|전화|휴대폰|جوال|هاتف|טלפון|התקשרו|โทร|ফোন|फ़ोन)"
    r"[^\d\n]{0,20}\Z"
)
_CUE_CHARACTERS = 40
_GROUP = re.compile(r"\d+")
_MIN_DIGITS = 6
_INTERNATIONAL = re.compile(r"(?:00|011[ -]?|001[ -]?(?=[2-9]))[ -]?(?=[1-9])")
_WIDTH = re.compile(r"(?:\\d|\[[^]]*\]|\d)(?:\{(\d+)(?:,(\d+))?\})?")
_FORMAT_GROUP = re.compile(r"\((?!\?)((?:[^()]|\(\?:[^()]*\))*)\)")
_OUTPUT = re.compile(r"(?:\\\d|\d)+")
_FIRST = re.compile(r"\\\d")
_ANY = (1, 15)
Widths = tuple[tuple[int, int], ...]
_MAX_CODE_DIGITS = 3
_NOTHING = re.compile(r"(?!)")


class Phones(Finder):
    """Finds phone numbers that are valid according to phonenumbers, Google's library of numbering plans.

    Numbers with a country code after `+` or `00` are found anywhere. Numbers without one must belong to one
    of the configured regions, and either be written in the groups that are usual there or come after a word
    such as `call`, since almost any ten digits are a valid number of the United States. In a row of seven or
    more groups of digits, numbers are found only after such a word.
    """

    def find(self, text: str, runs: Sequence[Run]) -> Iterator[Span]:  # noqa: D102
        position = 0
        for run_start, run_end in runs:
            if run_end - run_start > _MIN_DIGITS:
                position = max(position, run_start - len("(+"))
                position = yield from self._find_from(text, position, run_end)

    def _find_from(self, text: str, position: int, run_end: int) -> Generator[Span, None, int]:
        """Yields the numbers that begin in a run of digits, and returns how far they reach."""
        end, length = run_end + len(",1"), 0
        while candidate := (length and _NEXT.match(text, position, end)) or _CANDIDATE.search(
            text, position, end
        ):
            start, value, length = candidate.start(), candidate.group(), 0
            if start >= run_end:
                break
            words = words_before(text, start, _CUE_CHARACTERS)
            cued = bool(words and _CUE.search(words.lower()))
            other = None if cued else _ROW.match(text, start) or _OTHER.match(text, start)
            if other:
                position = other.end()
                continue
            length = self._number_length(value, cued)
            if length:
                yield start, start + length
            # The candidate may begin with a year or another number.
            position = start + (length or len(value) - len(value.partition(" ")[2]))
        return position

    def accepts(self, value: str) -> bool:  # noqa: D102
        return bool(_CANDIDATE.fullmatch(value)) and self._is_number(value, cued=True)

    def reshape(self, value: str, key: bytes) -> str:  # noqa: D102
        kept = self._code_characters(value) if value.startswith("+") else 0
        return value[:kept] + reshape(value[kept:], key)

    def _number_length(self, value: str, cued: bool) -> int:
        """Returns the length of the longest number at the beginning that ends at a space or the end, or 0."""
        groups = tuple(map(len, _GROUP.findall(value)))
        if not cued and value[0] not in "+(0" and not _may_begin(self._config.phone_regions, groups):
            return 0
        while len(value) > _MIN_DIGITS:
            if self._is_number(value, cued):
                return len(value)
            value = value.rpartition(" ")[0].rstrip(" (./-")
        return 0

    def _is_number(self, value: str, cued: bool) -> bool:
        if value.startswith(("+", "(+")):
            return _is_valid(value, None, True)
        groups = tuple(map(len, _GROUP.findall(value)))
        international = value[0] == "0" and (cued or len(groups) > 1) and _INTERNATIONAL.match(value)
        if international:
            rest = value[international.end() :]
            if _is_valid("+1 " + rest if value.startswith("001") else "+" + rest, None, True):
                return True
        regions = _may_be_of(self._config.phone_regions, groups, cued)
        return any(_is_valid(value, region, cued) for region in regions)

    def _code_characters(self, value: str) -> int:
        """Returns the number of characters of `+` and the country code."""
        import phonenumbers

        try:
            return 1 + len(str(phonenumbers.parse(value).country_code))
        except phonenumbers.NumberParseException:
            return 1


@functools.lru_cache(maxsize=2**12)
def _is_valid(value: str, region: str | None, any_groups: bool) -> bool:
    import phonenumbers

    digits = "".join(_GROUP.findall(value))
    known = is_valid(digits, region)
    if known is False or (known and any_groups):
        return bool(known)
    try:
        number = _number(digits, region) if known and region else phonenumbers.parse(value, region)
    except phonenumbers.NumberParseException:
        return False
    return (known or phonenumbers.is_valid_number(number)) and (any_groups or _is_grouped(value, number))


def _number(digits: str, region: str) -> "PhoneNumber":
    """Returns the number that parsing of valid digits without a prefix would return."""
    import phonenumbers

    if digits[0] == "0":
        return phonenumbers.parse(digits, region)
    return phonenumbers.PhoneNumber(phonenumbers.country_code_for_region(region), int(digits))


@functools.lru_cache(maxsize=2**14)
def _may_be_of(regions: tuple[str, ...], groups: tuple[int, ...], cued: bool) -> tuple[str, ...]:
    """Returns the regions that may have a number in groups of these lengths."""
    if not cued and not _are_a_few(groups):
        return ()
    return tuple(
        region
        for region in regions
        if sum(groups) in _possible_lengths(region) and (cued or may_be_groups(region, groups))
    )


@functools.lru_cache(maxsize=2**14)
def _may_begin(regions: tuple[str, ...], groups: tuple[int, ...]) -> bool:
    """Returns whether the first groups, or all of them, may be a number of a region."""
    return any(_may_be_of(regions, groups[:n], False) for n in range(2, len(groups) + 1))


@functools.cache
def _possible_lengths(region: str) -> frozenset[int]:
    """Returns the numbers of digits that a region's numbers may have, with code or trunk prefix."""
    from phonenumbers import PhoneMetadata

    metadata = PhoneMetadata.metadata_for_region(region)
    if metadata is None or metadata.general_desc is None:
        return frozenset()
    further = {0, len(metadata.national_prefix or ""), len(str(metadata.country_code))}
    return frozenset(n + more for n in metadata.general_desc.possible_length for more in further)


def _are_a_few(groups: tuple[int, ...]) -> bool:
    """Returns whether there are a few groups, of which only the first may be a single digit.

    Groups of two are usual if there are five of them, as in France; others are mostly rows of tables.
    """
    return 2 <= len(groups) <= 6 and min(groups[1:]) > 1 and (max(groups) > 2 or len(groups) == 5)


def _is_grouped(value: str, number: "PhoneNumber") -> bool:
    """Returns whether the digits are written in the groups that are usual for the number."""
    import phonenumbers

    groups = _GROUP.findall(value)
    formats = (phonenumbers.PhoneNumberFormat.NATIONAL, phonenumbers.PhoneNumberFormat.INTERNATIONAL)
    usual = (_GROUP.findall(phonenumbers.format_number(number, each)) for each in formats)
    return len(groups) > 1 and groups in usual


@functools.lru_cache(maxsize=2**14)
def may_be_groups(region: str, groups: tuple[int, ...]) -> bool:
    """Returns whether a number of a region may be written in groups of these lengths.

    It allows every format of phonenumbers for the region, and is much faster than formatting the number.

    Example:

    >>> may_be_groups("US", (3, 3, 4)), may_be_groups("US", (3, 3, 3))
    (True, False)
    """
    return any(
        len(widths) == len(groups) and all(low <= group <= high for group, (low, high) in zip(groups, widths))
        for widths in _usual_widths(region)
    )


@functools.cache
def _usual_widths(region: str) -> frozenset[Widths]:
    from phonenumbers import PhoneMetadata, region_code_for_country_code

    metadata = PhoneMetadata.metadata_for_region(region)
    if metadata is None or metadata.country_code is None:
        return frozenset()
    code = str(metadata.country_code)
    main = PhoneMetadata.metadata_for_region(region_code_for_country_code(metadata.country_code)) or metadata
    usual: set[Widths] = {((len(code), len(code)), _ANY)}
    for each in (*main.number_format, *main.intl_number_format):
        widths = [_width(group) for group in _FORMAT_GROUP.findall(each.pattern or "")]
        prefixed = (each.national_prefix_formatting_rule or r"\1").replace("$FG", r"\1")
        written = each.format or ""
        found = _FIRST.search(written)
        first = written.replace(found[0], prefixed.replace(r"\1", found[0]), 1) if found else written
        for output in (written, first):
            groups = tuple(_output_width(run, widths) for run in _OUTPUT.findall(output))
            usual |= {groups, ((len(code), len(code)), *groups)}
    return frozenset(usual)


def _width(pattern: str) -> tuple[int, int]:
    """Returns the smallest and the largest number of digits that a group of a pattern matches."""
    if "(" in pattern or "|" in pattern:
        return _ANY
    tokens = [(int(low or 1), int(high or low or 1)) for low, high in _WIDTH.findall(pattern)]
    return sum(low for low, _ in tokens), sum(high for _, high in tokens)


def _output_width(run: str, widths: list[tuple[int, int]]) -> tuple[int, int]:
    parts = [widths[int(part[1]) - 1] if part[0] == "\\" else (1, 1) for part in re.findall(r"\\\d|\d", run)]
    return sum(low for low, _ in parts), sum(high for _, high in parts)


class _Plan(NamedTuple):
    """The numbers of a country code, as they are dialled in a region.

    Attributes:
        lengths: Possible numbers of digits.
        any: Pattern of the numbers of all regions that share the code.
        main: Lengths and patterns of the code's main region; empty if the number is dialled in another one,
            or if the patterns alone do not decide.
        abroad: Pattern of the prefix for numbers of other countries.
        trunk: Pattern of the prefix for other areas of the same country.
        is_rewritten: True if the dialled digits do not end with the number itself.
    """

    lengths: tuple[int, ...]
    any: re.Pattern[str]
    main: tuple[tuple[frozenset[int], re.Pattern[str]], ...]
    abroad: re.Pattern[str]
    trunk: re.Pattern[str]
    is_rewritten: bool


def is_valid(digits: str, region: str | None) -> bool | None:
    """Returns whether digits are a valid phone number, or None if only parsing can decide.

    The answer is that of phonenumbers, and much faster than its parser.

    Example:

    >>> is_valid("2127365000", "US"), is_valid("1127365000", "US"), is_valid("12127365000", "US")
    (True, False, None)
    >>> is_valid("12127365000", None)
    True
    """
    if not digits.isascii():
        return None
    code = country_code(digits, region)
    if not code:
        return False
    plan = _plan(int(code), region)
    number = digits if region else digits[len(code) :]
    if plan.is_rewritten or (region and plan.abroad.match(digits)):
        return None
    if not any(plan.any.fullmatch(number, len(number) - n) for n in plan.lengths if n <= len(number)):
        return False
    if plan.trunk.match(number) or (region and digits.startswith(code)):
        return None
    return any(len(number) in lengths and each.fullmatch(number) for lengths, each in plan.main) or None


def country_code(digits: str, region: str | None) -> str:
    """Returns the country code of a region, or the one with which digits begin; empty if no code is known."""
    from phonenumbers import COUNTRY_CODE_TO_REGION_CODE, country_code_for_region

    if region:
        return str(country_code_for_region(region) or "")
    codes = (digits[:n] for n in range(1, _MAX_CODE_DIGITS + 1))
    return next((code for code in codes if int(code) in COUNTRY_CODE_TO_REGION_CODE and code[0] != "0"), "")


@functools.cache
def _plan(code: int, region: str | None) -> _Plan:
    from phonenumbers import COUNTRY_CODE_TO_REGION_CODE, PhoneMetadata

    metadata_for = PhoneMetadata.metadata_for_region_or_calling_code
    found = (metadata_for(code, each) for each in COUNTRY_CODE_TO_REGION_CODE[code])
    metadata = [(each, each.general_desc) for each in found if each and each.general_desc]
    main, _ = metadata[0]
    own = (metadata_for(code, region) if region else None) or main
    is_main = own.id == main.id and not main.leading_digits
    return _Plan(
        tuple(sorted({n for _, general in metadata for n in general.possible_length})),
        _either(pattern for each, _ in metadata for _, pattern in _types(each)),
        tuple((lengths, re.compile(each)) for lengths, each in _types(main)) if is_main else (),
        _either([own.international_prefix]),
        _either([own.national_prefix_for_parsing]),
        bool(own.national_prefix_transform_rule),
    )


def _types(metadata: "PhoneMetadata") -> Iterator[tuple[frozenset[int], str]]:
    """Yields lengths and pattern of each type of number, since a number without a type is not valid."""
    general = metadata.general_desc
    assert general
    for description in (
        metadata.fixed_line, metadata.mobile, metadata.toll_free, metadata.premium_rate,
        metadata.shared_cost, metadata.personal_number, metadata.voip, metadata.pager, metadata.uan,
        metadata.voicemail,
    ):  # fmt: skip
        if description and description.national_number_pattern:
            lengths = frozenset(description.possible_length or general.possible_length)
            # It also has to match the general description.
            pattern = rf"(?=(?:{general.national_number_pattern})\Z)(?:{description.national_number_pattern})"
            yield lengths & frozenset(general.possible_length), pattern


def _either(patterns: Iterable[str | None]) -> re.Pattern[str]:
    alternatives = "|".join(f"(?:{each})" for each in dict.fromkeys(patterns) if each)
    return re.compile(alternatives) if alternatives else _NOTHING
