import xml.etree.ElementTree as ElementTree

import pytest

from firth.recipes.goals.goal import MLM, NSP
from firth.reports import plots
from firth.reports.distributions import Distribution
from tests.repeating import often
from tests.reports.records import corpus_report, run_record, step_reports

HISTORY = run_record().history
NO_LENGTHS = {f"{stage}_characters": {"lower": [], "documents": []} for stage in ("read", "cleaned")}
DRAWN = {
    "loss": lambda: plots.loss_plot(HISTORY, MLM, 6.7),
    "loss without a baseline": lambda: plots.loss_plot(HISTORY, MLM),
    "learning rate": lambda: plots.learning_rate_plot(HISTORY),
    "one point": lambda: plots.learning_rate_plot(HISTORY[:1]),
    "next sentence": lambda: plots.loss_plot(HISTORY, NSP),
    "speed": lambda: plots.speed_plot(HISTORY),
    "lengths": lambda: plots.length_plot(corpus_report()["lengths"], "words"),
    "no lengths": lambda: plots.length_plot(NO_LENGTHS, "characters"),
    "languages": lambda: plots.language_plot(corpus_report()["languages"]),
    "no languages": lambda: plots.language_plot({"read": {}, "cleaned": {}}),
    "scores": lambda: plots.score_plot("classifier", step_reports()["classifier"]["scores"]),
    "measured": lambda: plots.distribution_plot(Distribution("length", "words", (2, 900), (5, 5))),
    "one value": lambda: plots.distribution_plot(Distribution("length", "words", (0,), (5,))),
    "vocabulary": lambda: plots.vocabulary_plot(["a", "##b", "abc"]),
}
# One of each function.
FEW = ("loss", "one point", "speed", "no lengths", "languages", "scores", "one value", "vocabulary")


@pytest.fixture(scope="module", autouse=True)
def remembered_plots():
    """Draws each plot anew."""


@pytest.mark.parametrize("name", often(DRAWN, FEW))
def test_plots_are_svg_in_the_colours_of_the_page(name):
    svg = DRAWN[name]()
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert "var(--ink)" in svg or "var(--muted)" in svg
    assert not any(color in svg for color in plots._THEMED)


# A plot of lines, one of bars, and one of both.
@pytest.mark.parametrize("name", often(["loss", "languages", "measured"], ["loss"]))
def test_a_plot_is_the_same_each_time(name):
    assert DRAWN[name]() == DRAWN[name]()


def test_a_plot_scales_with_the_page():
    root = ElementTree.fromstring(DRAWN["loss"]())
    assert "viewBox" in root.attrib and "width" not in root.attrib and "height" not in root.attrib
