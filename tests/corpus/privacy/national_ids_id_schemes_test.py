"""Any digits are a number of a scheme or are not: none ends a run."""

import random

import pytest

from firth.corpus.privacy.national_ids import SCHEMES, jp_individual, uy_ci


def test_a_place_that_the_tables_lack():
    (identity_card,) = (scheme for scheme in SCHEMES if scheme.module == "cn.ric")
    assert not identity_card.is_valid("332796747504107114")
    assert identity_card.is_valid("11010519491231002X")


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: f"{scheme.country} {scheme.module}")
def test_random_values_are_judged(scheme):
    draw = random.Random(scheme.module)
    for length in range(5, 21):
        for _ in range(20):
            value = "".join(draw.choices("0123456789", k=length))
            assert scheme.is_valid(value) in (True, False)


@pytest.mark.parametrize(
    "is_valid, number, digit",
    [
        # The weighted sum leaves 0, 1, 2 and 3.
        (jp_individual, "12345678905", 0),
        (jp_individual, "12345678914", 0),
        (jp_individual, "12345678906", 9),
        (jp_individual, "12345678901", 8),
        (uy_ci, "1234567", 2),
        (uy_ci, "0000010", 7),
    ],
)
def test_one_check_digit_is_right(is_valid, number, digit):
    assert [each for each in range(10) if is_valid(f"{number}{each}")] == [digit]
