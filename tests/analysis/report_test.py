import dataclasses
import re
from html.parser import HTMLParser

import pytest

from firth.analysis.record import RunRecord, ScoredSentence
from firth.analysis.report import SECTIONS, render_report
from firth.recipes import load_recipe
from tests.analysis.records import run_record, serving_report


class Page(HTMLParser):
    """Tags with their attributes, ids, and text."""

    VOID = ("meta", "link", "br", "path", "use", "rect")

    def __init__(self, page):
        super().__init__()
        self.tags, self.ids, self.text, self.open = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag not in ("meta", "br"):
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def full():
    return render_report(run_record())


@pytest.fixture(scope="module")
def empty():
    return render_report(RunRecord(load_recipe("demo")))


@pytest.mark.parametrize("which", ["full", "empty"])
def test_the_page_is_well_formed_and_needs_nothing_from_outside(which, request):
    page = Page(request.getfixturevalue(which))
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "object"}
    for _, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#")
    assert "@import" not in "".join(page.text) and "url(http" not in "".join(page.text)


def test_text_of_documents_is_escaped_wherever_it_stands(full):
    assert "<script" not in full
    assert full.count("&lt;script&gt;") >= 7


def test_what_failed_is_said_and_escaped():
    record = run_record()
    page = render_report(RunRecord(record.recipe, serving=serving_report(ok=False), blessed=False))
    assert "<script" not in page and "did not pass" in page and "0 of 1 requests passed" in page
    assert "<details open>" in page


def test_each_section_says_what_was_not_recorded(empty):
    by_section = re.split(r'<h2 id="', empty)[1:]
    assert [section.split('"')[0] for section in by_section] == [name for name, _ in SECTIONS]
    silent = [section.split('"')[0] for section in by_section if "not recorded" not in section]
    assert silent == ["recipe"]


def test_the_figures_stand_on_the_page(full):
    text = " ".join("".join(Page(full).text).split())
    for figure in (
        "120.5",
        "unigram baseline 840.2",
        "1,234",
        "5,120",
        "1 min 15 s",
        "2.0 GB",
        "at most 1 kept",
    ):
        assert figure in text
    assert "sha256:abc" in text and "pipeline/Trainer/model/7" in text
    assert "rejected: too_long 1 6.67 %" in text
    assert "dropped: too_few_words 3 20.00 %" in text
    assert "length: kept 11 73.33 %" in text


def test_the_rank_of_the_masked_word():
    (filled,) = run_record().filled_masks
    assert filled.rank == 2


def test_the_same_run_gives_the_same_page(full):
    assert render_report(run_record()) == full


def test_infinite_perplexity_is_a_word():
    page = render_report(
        RunRecord(load_recipe("demo"), evaluation={"overall": {"mlm_perplexity": float("inf")}})
    )
    assert "infinite" in page


def test_scored_sentences_mark_what_the_model_did_not_expect():
    record = dataclasses.replace(
        run_record(),
        filled_masks=[],
        scored_sentences=[ScoredSentence([("the", 0.5), ("axolotl", 0.001), ("<b>", 0.5)], "books")],
    )
    page = render_report(record)
    assert "<mark>axolotl</mark>" in page and "<mark>the</mark>" not in page
    assert "&lt;b&gt;" in page and "15.87" in page


def test_every_loss_of_the_objective_is_drawn():
    recipe = load_recipe("demo")
    history = [{"step": 1, "loss": 9.0, "mlm_loss": 8.0, "nsp_loss": 0.7, "tokens_per_second": 1.0,
                "learning_rate": 0.1, "tokens": 5}]  # fmt: skip
    page = render_report(RunRecord(recipe, history=history))
    assert "Loss of masked LM" in page and "Loss of next sentence prediction" in page
    alone = recipe.model_copy(
        update={"objective": recipe.objective.model_copy(update={"next_sentence": False})}
    )
    assert "Loss of next sentence prediction" not in render_report(RunRecord(alone, history=history))


def test_measured_rates_stand_beside_their_bounds(full):
    assert "1 of 1 rates are within their bounds" in full
    rates = {**run_record().objective_rates, "ok": False}
    rates["rates"] = [{"name": "masked", "measured": 0.5, "lower": 0.7, "upper": 0.9, "ok": False}]
    page = render_report(dataclasses.replace(run_record(), objective_rates=rates))
    assert "0 of 1 rates are within their bounds" in page and "broken" in page
