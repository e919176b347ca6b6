"""Validity of phone numbers by the countries' numbering plans, if it can be decided without parsing."""

import functools
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from phonenumbers import PhoneMetadata

_MAX_CODE_DIGITS = 3
_NOTHING = re.compile(r"(?!)")


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
