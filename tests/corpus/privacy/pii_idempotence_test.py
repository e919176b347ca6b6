"""Personal data next to personal data: what is scrubbed once stays as it is."""

import pytest
from hypothesis import example, given, settings, strategies as st

from firth.corpus.privacy.pii import Pii
from firth.recipes.corpus.privacy import PII_TYPES, PiiStep
from tests.corpus.privacy.pii_table_test import TABLE
from tests.repeating import often

OPTIONS = {
    "placeholder": {},
    "surrogate": {"replacement": "surrogate", "private_addresses": True, "phone_regions": ("US", "GB", "DE")},
    "regions": {"phone_regions": ("US", "GB", "DE", "FR"), "private_addresses": True},
    "emails": {"types": ("email", "phone")},
}
STEPS = {name: Pii(PiiStep(kind="pii", **options)) for name, options in OPTIONS.items()}
VALUES = sorted({row.text[each.start : each.end] for row in TABLE for each in row.expected})
WORDS = [
    "tel",
    "call",
    "SSN",
    "password is",
    "IP",
    "PAN:",
    "card",
    "12",
    "1.2.3.4",
    "2127365000",
    "at",
    "dot",
    "x",
]
SEPARATORS = ["", " ", ", ", "-", ".", ":", "/", "\n", "@", "+", " (", ")", "\u00a0", "=", "://"]
PARTS = st.sampled_from(VALUES) | st.sampled_from(WORDS)
TEXTS = st.lists(st.tuples(PARTS, st.sampled_from(SEPARATORS)), min_size=1, max_size=8).map(
    lambda parts: "".join(value + separator for value, separator in parts)
)


@pytest.mark.parametrize("name", often(STEPS, ("surrogate", "emails")))
@settings(max_examples=30, deadline=None, derandomize=True)
@example("tel 2127365000 1.2.3.4")
@example("tel 2127365000 8.8.8.8")
@example("call 212-736-5000 2127365000 from 9.9.9.9:2127365000")
@given(text=TEXTS)
def test_a_second_pass_finds_nothing(name, text):
    step = STEPS[name]
    once = step.scrub(text)
    assert step.find(once) == []
    assert step.scrub(once) == once


@pytest.mark.parametrize("name", often(STEPS, ("surrogate", "emails")))
@settings(max_examples=10, deadline=None, derandomize=True)
@given(text=st.lists(TEXTS | st.just("It was the best of times. " * 40), min_size=2, max_size=8).map("".join))
def test_a_second_pass_finds_nothing_in_a_long_text(name, text):
    assert STEPS[name].find(STEPS[name].scrub(text)) == []


@pytest.mark.parametrize("name", PII_TYPES)
def test_placeholders_are_no_values_and_no_words_before_one(name):
    step = STEPS["placeholder"]
    text = f"<{name.upper()}> 2127365000 <{name.upper()}>536904399 <{name.upper()}>"
    assert step.find(text) == []


def test_values_that_others_hide_are_replaced_in_one_pass():
    once = STEPS["placeholder"].scrub("tel 2127365000 185.220.101.4")
    assert once == "tel <PHONE> <IPV4>"
