"""Each rule with a document just inside of its threshold and one just outside."""

import pytest

from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.steps import Drop, Keep
from firth.recipes.corpus.filters import GopherQualityStep
from tests.corpus.filters.texts import check_threshold, lines, text
from tests.corpus.helpers import document

QUALITY = GopherQualityStep(kind="gopher_quality")
RULES = [
    (QUALITY, "too_few_words", text(50), text(49)),
    (QUALITY, "too_many_words", text(100_000), text(100_001)),
    (QUALITY, "words_too_short", text(50), f"{text(49)} be"),
    (QUALITY, "words_too_long", f"{text(50, 'x' * 10)} {'x' * 24}", f"{text(50, 'x' * 10)} {'x' * 25}"),
    (QUALITY, "too_many_hashes", f"{text(50)} #####", f"{text(50)} ######"),
    (QUALITY, "too_many_ellipses", f"... ... ... … … {text(45, 'whale')}",
     f"... ... ... … … … {text(44, 'whale')}"),
    (QUALITY, "too_many_bullet_lines", lines(10, 9, "• |"), lines(10, 10, "• |")),
    (QUALITY, "too_many_ellipsis_lines", lines(10, 3, "|…"), lines(10, 4, "|…")),
    (QUALITY, "too_few_alphabetic_words", f"{text(40)}{' 123' * 10}", f"{text(40)}{' 123' * 11}"),
    (QUALITY, "too_few_stop_words", text(50), f"the {'cat ' * 50}"),
]  # fmt: skip


@pytest.mark.parametrize(("config", "reason", "inside", "outside"), RULES, ids=[row[1] for row in RULES])
def test_at_the_threshold(config, reason, inside, outside):
    check_threshold(config, reason, inside, outside)


def test_every_rule_has_its_row():
    assert {row[1] for row in RULES} == STEPS[QUALITY.kind](QUALITY).reasons


def test_thresholds_are_values():
    config = GopherQualityStep(kind="gopher_quality", min_words=3, stop_words=("und", "die"))
    step = STEPS["gopher_quality"](config)
    assert step.decide(document("the und cat")) == Drop("too_few_stop_words")
    step = STEPS["gopher_quality"](GopherQualityStep(kind="gopher_quality", min_words=3, min_stop_words=0))
    assert step.decide(document("the und cat")) == Keep(document("the und cat"))
