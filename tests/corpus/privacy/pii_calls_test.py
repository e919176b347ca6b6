"""The cost of finding personal data, counted in calls of functions for each character of any text."""

import random
import sys

import pytest

from firth.corpus.privacy.pii import Pii
from firth.recipes.corpus.privacy import PiiStep
from tests.repeating import often

WORDS = "ask from the main desk for room call or port and one more line".split()  # noqa: SIM905


def lines(make):
    """Returns a function that makes a text of so many lines; the values in them are new in each text."""
    return lambda n: "\n".join(make(random.Random(n + each)) for each in range(n))


def ip(draw):
    return ".".join(str(draw.randint(11, 99)) for _ in range(3)) + f".{draw.randint(100, 255)}"


def email(draw):
    return f"{draw.choice(WORDS)}{draw.getrandbits(20)}@host{draw.getrandbits(20)}.org"


def phone(draw):
    return f"{draw.randint(212, 989)}-{draw.randint(200, 999)}-{draw.randint(1000, 9999)}"


def log(draw):
    path = "/".join(draw.choices(WORDS, k=4))
    return f'{ip(draw)} - - [10/Oct/2020:13:55:36 +0000] "GET /{path} HTTP/1.1" {draw.randint(200, 404)} 2326'


def row(draw):
    return " ".join(str(draw.randint(0, 10 ** draw.randint(1, 4))) for _ in range(5))


# Calls a character: half as many again as were counted when this was written.
KINDS = {
    "prose": (lines(lambda draw: " ".join(draw.choices(WORDS, k=12)) + "."), 0.5),
    "log": (lines(log), 3.5),
    "rows": (lines(row), 25),
    "numbers": (lines(lambda draw: str(draw.randint(10**9, 10**10))), 5.5),
    "e-mails": (lines(email), 3),
    "IP addresses": (lines(ip), 8),
    "phone numbers": (lines(phone), 26),
    "international phone numbers": (lines(lambda draw: f"+1 {phone(draw)}"), 15),
    "card numbers": (lambda n: "4111 1111 1111 1111\n" * n, 9),
    "accounts": (lambda n: "DE89370400440532013000\n" * n, 5),
    "groups like accounts": (lambda n: "AB12 " * n, 6.5),
    "numbers after a word": (lambda n: "ssn 123456789 " * n, 18),
    "small IP addresses": (lambda n: "1.2.3.4 " * n, 7.5),
    "e-mails between colons": (lambda n: "a@b.org:" * n, 5.5),
    "phone numbers without a space": (lambda n: "+12127365000" * n, 4.5),
    "signs": (lambda n: "a@" * n, 2.5),
    "colons": (lambda n: "://a:" * n, 1),
}
# One of each form that values have.
FEW = ("prose", "log", "rows", "phone numbers", "card numbers", "accounts", "e-mails between colons", "signs")


# What they do, they do once: compile patterns and import the plans of countries.
ONCE = ("re.", "sre_", "enum", "importlib", "phonenumbers.data", "phonenumbers.phonemetadata")


def count_calls(function, *given):
    """Returns how many functions are called, those written in C too."""
    calls = 0

    def count(frame, event, called):
        nonlocal calls
        once = frame.f_globals.get("__name__", "").startswith(ONCE)
        calls += event in ("call", "c_call") and not once

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        function(*given)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("name", often(KINDS, FEW))
def test_calls_grow_with_the_text_alone(name):
    make, bound = KINDS[name]
    step = Pii(PiiStep(kind="pii"))
    # What is read once, such as the plans of countries, is not counted.
    step.scrub(make(50))
    for n in (100, 200):
        text = make(n)
        assert count_calls(step.scrub, text) <= bound * len(text) + 500
