"""Check digits of national numbers that stdnum does not have."""

import functools
import re
from collections.abc import Callable, Sequence

Check = Callable[[str], bool]
_LETTERS_TAIWAN = "ABCDEFGHJKLMNPQRSTUVXYWZIO"


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
