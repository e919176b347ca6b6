"""Each rule with a document just inside of its threshold and one just outside."""

import pytest

from firth.corpus.curation.step_table import STEPS
from firth.recipes.corpus.filters import FineWebStep
from tests.corpus.filters.texts import check_threshold

FINEWEB = FineWebStep(kind="fineweb")
SENTENCE = "The whale number {} swam all the way to the sea"
RULES = [
    (FINEWEB, "too_few_punctuated_lines",
     "\n".join(SENTENCE.format(i) + "." * (i < 4) for i in range(25)),
     "\n".join(SENTENCE.format(i) + "." * (i < 3) for i in range(25))),
    (FINEWEB, "too_many_short_lines",
     "\n".join(f"{i} of the sea." if i < 66 else f"{SENTENCE.format(i)}." for i in range(100)),
     "\n".join(f"{i} of the sea." if i < 67 else f"{SENTENCE.format(i)}." for i in range(100))),
    (FINEWEB, "duplicate_line_characters",
     "\n".join(f"{SENTENCE.format(f'{i % 100:02}')}." for i in range(101)),
     "\n".join(f"{SENTENCE.format(f'{i % 99:02}')}." for i in range(100))),
    (FINEWEB, "too_many_line_breaks",
     "\n".join([f"{'whale' * 3} {'sea' * 3} {i:09}." for i in range(10)] + [f"{'whale' * 6} to the sea."]),
     "\n".join(f"{'whale' * 3} {'sea' * 3} {i:09}." for i in range(11))),
]  # fmt: skip


@pytest.mark.parametrize(("config", "reason", "inside", "outside"), RULES, ids=[row[1] for row in RULES])
def test_at_the_threshold(config, reason, inside, outside):
    check_threshold(config, reason, inside, outside)


def test_every_rule_has_its_row():
    assert {row[1] for row in RULES} == STEPS[FINEWEB.kind](FINEWEB).reasons
