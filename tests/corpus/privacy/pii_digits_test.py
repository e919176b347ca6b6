"""Searches near digits alone and phone plans change no finding."""

import ipaddress
import random
import re

import phonenumbers
import pytest
from hypothesis import example, given, settings, strategies as st

from firth.corpus.privacy import phones
from firth.corpus.privacy.addresses import Ipv4Addresses
from firth.corpus.privacy.finder import find_runs, search
from firth.recipes.corpus.privacy import PiiStep
from tests.repeating import often

PATTERN = re.compile(r"[A-Z+(]{0,3}(?<![A-Z].)\d(?:[ .]?\d){2,9}[a-z]{0,2}(?!\d)")
TEXTS = st.lists(st.sampled_from([*"12 .A+(ax\n", "345 678", " " * 9, "word "]), max_size=60).map("".join)


@settings(max_examples=75, deadline=None, derandomize=True)
@example("A1" * 2000)
@example("12 345 " * 700)
@given(text=TEXTS)
def test_a_search_near_digits_finds_what_a_search_finds(text):
    near = [each.span() for each in search(PATTERN, text, find_runs(text), length=3, before=3)]
    assert near == [each.span() for each in PATTERN.finditer(text)]


def test_runs_are_where_digits_are_near():
    text = "It was the best of times. " * 40 + "Call 212-736-5000. " + "x" * 5000 + " 2024"
    assert [text[start:end] for start, end in find_runs(text)] == ["212-736-5000", "2024"]
    many = "1 " * 5000
    assert find_runs(many) == [(0, len(many) - 1)]


def is_valid(value, region):
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(value, region))
    except phonenumbers.NumberParseException:
        return False


def numbers_like(region, draw):
    """Yields numbers that differ from a region's in a few digits, and in what is dialled before."""
    code, trunk = (
        phonenumbers.country_code_for_region(region),
        phonenumbers.ndd_prefix_for_region(region, True),
    )
    for kind in sorted(phonenumbers.supported_types_for_region(region)):
        number = phonenumbers.example_number_for_type(region, kind)
        digits = list(phonenumbers.national_significant_number(number))
        for each in draw.sample(range(len(digits)), draw.randint(0, 2)):
            digits[each] = draw.choice("0123456789")
        national = "".join(digits)[: draw.choice([None, None, -1])]
        yield from ((national, region), (f"{trunk}{national}", region), (f"00{code}{national}", region))
        yield from ((f"+{code}{national}", None), (f"+{code}{trunk}{national}", None))


@pytest.mark.parametrize("seed", often(range(2), [0]))
def test_plans_never_say_other_than_phonenumbers(seed):
    draw = random.Random(seed)
    told = [
        (phones.is_valid(value.lstrip("+"), region), value, region)
        for each in draw.sample(sorted(phonenumbers.SUPPORTED_REGIONS), 60)
        for value, region in numbers_like(each, draw)
    ]
    sure = [each for each in told if each[0] is not None]
    assert len(sure) > len(told) / 3
    assert [each for each in sure if each[0] != is_valid(*each[1:])] == []


def test_addresses_that_begin_as_global_ones_are_global():
    finder, draw = Ipv4Addresses(PiiStep(kind="pii", private_addresses=True)), random.Random(1)
    for first in range(256):
        ends = [
            "0.0.0",
            "255.255.255",
            *(".".join(str(draw.randrange(256)) for _ in range(3)) for _ in range(3)),
        ]
        for address in (f"{first}.{end}" for end in ends):
            if finder._GLOBAL.fullmatch(address):
                assert ipaddress.IPv4Address(address).is_global and super(Ipv4Addresses, finder).accepts(
                    address
                )
