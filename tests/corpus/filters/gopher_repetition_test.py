"""Each rule with a document just inside of its threshold and one just outside."""

import math

import pytest

from firth.corpus.curation.step_table import STEPS
from firth.recipes.corpus.filters import GopherRepetitionStep
from tests.corpus.filters.texts import apart, check_threshold, unique, with_repeat

REPETITION = GopherRepetitionStep(kind="gopher_repetition")
DUPLICATE_NGRAMS = GopherRepetitionStep(kind="gopher_repetition", top_ngrams=())
RULES = [
    (REPETITION, "duplicate_paragraphs",
     "\n\n".join(apart(6)), "\n\n".join(apart(5))),
    (REPETITION, "duplicate_paragraph_characters",
     "\n\n".join([*unique(3), "abcde", "abcde"]), "\n\n".join([*unique(3), "abcdef", "abcdef"])),
    (REPETITION, "duplicate_lines", "\n".join(apart(6)), "\n".join(apart(5))),
    (REPETITION, "duplicate_line_characters",
     "\n".join([*unique(3), "abcde", "abcde"]), "\n".join([*unique(3), "abcdef", "abcdef"])),
    *(
        (REPETITION, f"top_{each.n}_gram", *(
            with_repeat(each.n, math.ceil(2 * each.n / each.max_character_fraction) - less) for less in (0, 1)
        ))
        for each in REPETITION.top_ngrams
    ),
    *(
        (DUPLICATE_NGRAMS, f"duplicate_{each.n}_grams", *(
            with_repeat(each.n, math.ceil(each.n / each.max_character_fraction) - less) for less in (0, 1)
        ))
        for each in REPETITION.duplicate_ngrams
    ),
]  # fmt: skip


@pytest.mark.parametrize(("config", "reason", "inside", "outside"), RULES, ids=[row[1] for row in RULES])
def test_at_the_threshold(config, reason, inside, outside):
    check_threshold(config, reason, inside, outside)


def test_every_rule_has_its_row():
    assert {row[1] for row in RULES} == STEPS[REPETITION.kind](REPETITION).reasons
