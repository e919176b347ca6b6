"""The work of finding personal data grows with the text alone, whatever is in it."""

import itertools
import random
import re

import phonenumbers
import pytest

from firth.corpus.privacy.phones import may_be_groups
from firth.corpus.privacy.pii import Pii
from firth.recipes.corpus.privacy import PiiStep

REGIONS = ("US", "GB", "DE", "FR")
FORMATS = (phonenumbers.PhoneNumberFormat.NATIONAL, phonenumbers.PhoneNumberFormat.INTERNATIONAL)


def numbers(lengths, count, seed=1):
    generator = random.Random(seed)
    return ["".join(generator.choices("0123456789", k=generator.choice(lengths))) for _ in range(count)]


TABLES = {
    "pairs": " ".join(numbers([2], 2000)),
    "any": " ".join(numbers(range(1, 8), 1500)),
    "of phones' groups": " ".join(numbers([3, 3, 4], 1800)),
    "rows": "\n".join(" ".join(numbers([2, 3, 4], 12, seed)) for seed in range(100)),
    "tabs": "\t".join(numbers(range(1, 8), 1500)),
    "commas": ",".join(numbers(range(1, 8), 1500)),
    "decimals": " ".join(f"{a}.{b}" for a, b in zip(numbers([2], 800), numbers([4], 800))),
    "dates": " ".join(f"20{a}-01-1{b}" for a, b in zip(numbers([2], 600), numbers([1], 600))),
    "addresses": " ".join(".".join(numbers([2, 3], 4, seed)) for seed in range(400)),
    "log": "\n".join(f"185.{seed}.7.9 - - [10/Oct/2020:13:55:36] {seed} 404" for seed in range(150)),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_hardly_looked_up(name, monkeypatch):
    calls = []
    parse = phonenumbers.parse
    monkeypatch.setattr(phonenumbers, "parse", lambda *given: calls.append(given) or parse(*given))
    text = TABLES[name]
    Pii(PiiStep(kind="pii", phone_regions=REGIONS)).find(text)
    # Before, a table of pairs needed 167 a thousand characters with one region.
    assert len(calls) <= 5 * len(text) / 1000


@pytest.mark.parametrize("region", [*REGIONS, "IT", "BR", "IN", "JP", "AR"])
def test_groups_that_phonenumbers_writes_are_looked_up(region):
    written = 0
    for kind in (
        phonenumbers.PhoneNumberType.MOBILE,
        phonenumbers.PhoneNumberType.FIXED_LINE,
        phonenumbers.PhoneNumberType.TOLL_FREE,
    ):
        number = phonenumbers.example_number_for_type(region, kind)
        for each in FORMATS if number else ():
            written += 1
            groups = tuple(map(len, re.findall(r"\d+", phonenumbers.format_number(number, each))))
            assert len(groups) == 1 or may_be_groups(region, groups), (region, groups)
    assert written >= 2 * len(FORMATS)


LISTS = {
    "addresses between colons": lambda n: "".join(f"name{i}@host{i}.org:" for i in range(n)),
    "phone numbers without a space": lambda n: "+12127365000" * n,
    "both": lambda n: "+12127365000" * n + " " + "a@b.org:" * n,
}


@pytest.mark.parametrize("name", LISTS)
def test_neighbours_that_hide_each_other_are_looked_at_in_proportion(name, monkeypatch):
    step = Pii(PiiStep(kind="pii"))
    find, looked_at = step.find, []
    monkeypatch.setattr(step, "find", lambda text: looked_at.append(len(text)) or find(text))
    totals = []
    for n in (100, 200):
        looked_at.clear()
        text = LISTS[name](n)
        assert re.sub(r"<(?:EMAIL|PHONE)>|[: ]", "", step.scrub(text)) == ""
        totals.append(sum(looked_at))
    assert totals[1] < 2.5 * totals[0], totals


def test_a_long_text_has_as_many_values_as_its_neighbours_make():
    step = Pii(PiiStep(kind="pii"))
    lines = ["Ask a@b.org:c@d.org:e@f.org. ", "It was the best of times. " * 40]
    text = "".join(itertools.islice(itertools.cycle(lines), 12))
    assert step.scrub(text) == text.replace("a@b.org:c@d.org:e@f.org", "<EMAIL>:<EMAIL>:<EMAIL>")
