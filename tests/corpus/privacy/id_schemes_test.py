"""Any digits are a number of a scheme or are not: none ends a run."""

import random

import pytest

from firth.corpus.privacy.id_schemes import SCHEMES


def test_a_place_that_the_tables_lack():
    (identity_card,) = (scheme for scheme in SCHEMES if scheme.module == "cn.ric")
    assert not identity_card.is_valid("332796747504107114")
    assert identity_card.is_valid("11010519491231002X")


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: f"{scheme.country} {scheme.module}")
def test_random_values_are_judged(scheme):
    draw = random.Random(scheme.module)
    for length in range(5, 21):
        for _ in range(60):
            value = "".join(draw.choices("0123456789", k=length))
            assert scheme.is_valid(value) in (True, False)
