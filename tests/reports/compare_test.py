import dataclasses
import re

import pytest

from firth.recipes import load_recipe
from firth.recipes.goals.goal import MLM, NSP
from firth.reports.compare import ComparedRun, overlay_plots, render_comparison
from firth.reports.plots import MOST_RUNS
from firth.reports.record import RunRecord
from tests.reports.pages import Page, words_of
from tests.reports.records import HOSTILE, run_record

HELD_OUT = [{"step": step, "mlm_loss": 8.0, "held_out_mlm_loss": 7.0 - step} for step in (1, 2)]


def compared(name, state="blessed", overrides=(), **changes):
    recipe = load_recipe("demo", overrides)
    return ComparedRun(name, state, dataclasses.replace(run_record(), recipe=recipe, **changes))


def unfinished(name, overrides=()):
    return ComparedRun(name, "unfinished", RunRecord(load_recipe("demo", overrides)))


def section(page, id):
    return words_of(page.split(f'<h2 id="{id}"')[1].split("</h2>")[1].split("</section>")[0])


@pytest.fixture(scope="module")
def page():
    longer = ["training.steps=2000", f"description={HOSTILE}"]
    return render_comparison(
        [compared("first"), compared("second", "not blessed", longer), unfinished("new")]
    )


def test_the_page_is_whole_escaped_and_fits_a_narrow_screen(page):
    read = Page(page)
    assert read.open == [] and len(read.ids) == len(set(read.ids))
    assert not {tag for tag, _ in read.tags} & {"script", "link", "img", "iframe", "object"}
    assert HOSTILE in words_of(page)
    assert len(read.tables) == 3 and all("scroll" in classes for classes in read.tables)


def test_runs_stand_side_by_side(page):
    text = section(page, "compared_runs")
    assert "first second new State blessed not blessed unfinished Recipe demo demo demo" in text
    assert "Parameters with heads 1,234 1,234 not recorded" in text
    assert "Parameters trained 987 987 not recorded" in text
    assert "Time of the Trainer 1 min 15 s 1 min 15 s not recorded" in text
    assert "Peak memory of the Trainer 2.0 GB 2.0 GB not recorded" in text
    assert "Steps 10 of 1,200 10 of 2,000 0 of 1,200" in text
    assert "Tokens trained on 5,120 5,120 not recorded" in text
    assert "Tokens per second, median 1,000 1,000 not recorded" in text
    assert "Wall time of all components 1 min 15 s 1 min 15 s not recorded" in text


def test_only_what_differs_of_the_recipes_is_shown(page):
    text = section(page, "compared_recipes")
    assert "training.steps 1200 2000 1200" in text
    assert "seed" not in text and "batch_size" not in text


def test_each_metric_has_the_threshold_of_its_own_recipe():
    strict = ["evaluation.thresholds=[{metric: mlm_perplexity, upper_bound: 100}]"]
    free = ["evaluation.thresholds=[]"]
    runs = [compared("a"), compared("b", overrides=strict), compared("c", overrides=free)]
    text = section(render_comparison(runs), "compared_metrics")
    assert "mlm_perplexity 120.5 120.5at most 100: missed 120.5 " in text
    assert "perplexity_over_unigram 0.1434at most 1: kept 0.1434 0.1434" in text


def test_runs_without_an_evaluation_missed_no_threshold(page):
    text = section(page, "compared_metrics")
    assert "mlm_perplexity 120.5 120.5 not recorded" in text and "missed" not in text
    nothing = render_comparison([unfinished("a"), unfinished("b")])
    assert "Metrics were not recorded." in section(nothing, "compared_metrics")
    assert "The trainings' histories were not recorded." in section(nothing, "compared_curves")
    assert "The recipes are the same." in section(nothing, "compared_recipes")


@pytest.mark.parametrize(
    "override, warned", [("tokenizer.vocabulary_size=4000", True), ("training.steps=2", False)]
)
def test_runs_on_other_text_or_tokens_are_compared_with_care(override, warned):
    text = words_of(render_comparison([compared("a"), compared("b", overrides=[override])]))
    assert ("the recipes differ in tokenizer, so" in text) is warned


def test_curves_share_their_axes_and_a_run_keeps_its_colour():
    plots = overlay_plots([run_record().history, [], HELD_OUT], (MLM, NSP))
    colours = {title: sorted(set(re.findall(r"--run-\d", svg))) for title, svg in plots.items()}
    assert colours == {
        "Training loss of masked LM": ["--run-1", "--run-3"],
        "Held-out loss of masked LM": ["--run-3"],
        "Training loss of next sentence prediction": ["--run-1"],
        "Non-padding tokens per second": ["--run-1"],
    }


def test_as_many_runs_as_there_are_colours():
    most = [compared(f"run{place}") for place in range(MOST_RUNS)]
    page = render_comparison(most)
    assert all(f"--run-{place}: #" in page for place in range(1, MOST_RUNS + 1))
    for runs in (most[:1], [*most, compared("more")]):
        with pytest.raises(ValueError, match="2 to 8"):
            render_comparison(runs)
