import dataclasses
import re

import pytest

from firth.recipes import Cleaning, CorpusLimits, load_recipe
from firth.recipes.run.validation import CorpusValidation, Validation
from firth.reports.corpus_view import CorpusView
from firth.reports.record import RunRecord, ScoredSentence
from firth.reports.report import SECTIONS, render_corpus_report, render_report
from tests.reports.pages import Page, words_of
from tests.reports.records import HOSTILE, corpus_report, run_record, serving_report, step_reports


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


def test_wide_tables_scroll_in_a_box_of_their_own(full):
    pages = [full, render_corpus_report("mine", Cleaning(), CorpusView(corpus_report(), step_reports()))]
    for page in map(Page, pages):
        assert ("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}) in page.tags
        assert page.tables and all("scroll" in classes for classes in page.tables)
        # By keys too, with the names of rows in sight on a narrow screen.
        boxes = [attributes for tag, attributes in page.tags if attributes.get("class") == "scroll"]
        assert len(boxes) >= len(page.tables) and all(box["tabindex"] == "0" for box in boxes)
        narrow = "".join(page.text).partition("@media (max-width: 40rem)")[2]
        assert re.search(r"\.scroll td:first-child[^{]*\{\s*position: sticky; left: 0;", narrow)


def test_the_page_names_tensorboards_command(full):
    assert "tensorboard" not in full
    page = render_report(dataclasses.replace(run_record(), curves="my runs/model_run/7"))
    assert "tensorboard --logdir 'my runs/model_run/7'" in words_of(page)


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


@pytest.mark.repeated
def test_the_same_run_gives_the_same_page(full, remembered_plots):
    remembered_plots.clear()
    assert render_report(run_record()) == full


def corpus_page(**changes):
    """The text of a page on a corpus alone, spaces made one."""
    parts = {"report": corpus_report(), "steps": step_reports(), **changes}
    page = render_corpus_report("mine", Cleaning(), CorpusView(**parts))
    assert "<script" not in page and Page(page).open == []
    return words_of(page)


def test_a_page_on_the_corpus_alone():
    text = corpus_page()
    assert "15 in = 11 kept + 3 dropped + 1 rejected, which adds up." in text
    assert "books 10 7 2 1 100 B 70 B 63.64 % 20 14" in text
    assert "all 15 11 3 1 150 B 110 B 100.00 % 30 22" in text
    assert f"{HOSTILE} 9 7 90 B 70 B 18 14 CC0 5 4 50 B 40 B 10 8" in text
    assert "near 2 6 12 near 3 to 4 3 10" in text
    assert f"pii {HOSTILE} email 4,321" in text
    assert f"news 321 765 {HOSTILE}" in text
    assert "kind: normalize" in text and "Held-out" not in text and "Training" not in text


@pytest.mark.parametrize("domain, shown", [("example.org", True), (None, False)])
def test_domains_are_shown_where_a_document_has_an_address(domain, shown):
    sizes = {f"{unit}_{way}": 7 for unit in ("documents", "bytes") for way in ("in", "kept")}
    domains = {"number": 1, "largest": [{"domain": domain, **sizes, "dropped": {"short": 2}}]}
    page = corpus_page(report={**corpus_report(), "domains": domains})
    assert ("example.org 7 7 7 B 7 B short 2" in page) == shown == ("domains with most documents" in page)


def test_what_steps_report_beside_it_stands_on_the_page():
    text = corpus_page()
    assert "exam 9 1 1 70 6" in text and f"{HOSTILE} 6 of 7" in text
    assert "is 0.9375" in text and "Documents by the score of classifier" in text
    bare = corpus_page(steps={})
    assert "near 91 10,000 10,089 49,995,090" in text
    assert "Evaluation data in the corpus" not in bare and "AUC" not in bare


def test_measured_values_are_on_the_page_by_step_with_their_shares():
    row = {"step": "length", "measure": "mean_words", "values": [2, 8, 900], "documents": [1, 8, 1]}
    text = corpus_page(report={**corpus_report(), "measured": [row, {**row, "step": "fineweb"}]})
    assert "Least 1 % 5 % 25 % 50 % 75 % 95 % 99 % Largest" in text
    assert "length mean words 10 2 2 2 8 8 8 900 900 900" in text
    assert "Histograms of length mean_words" in text and "Histograms of fineweb mean_words" in text
    assert "Measured values" not in corpus_page()


def test_a_sum_that_does_not_add_up_is_said():
    report = corpus_report()
    report["funnel"][-1]["documents_kept"] -= 1
    assert "15 in = 10 kept + 3 dropped + 1 rejected, which does not add up." in corpus_page(report=report)


def test_limits_stand_beside_what_was_measured():
    limits = CorpusLimits(max_source_fraction=0.5, min_documents=11)
    text = corpus_page(limits=limits)
    largest = "0.6364 of the bytes that are left are of source 'books'"
    assert f"broken cleaning.limits.max_source_fraction 0.5 {largest}" in text
    assert "kept cleaning.limits.min_documents 11 11 documents are left" in text
    assert "Limits broken 1 of 2 that are set" in text


def test_tokens_stand_beside_their_source(full):
    text = words_of(full)
    assert "books 10 7 2 1 100 B 70 B 63.64 % 20 14 290" in text
    assert "news 5 4 1 0 50 B 40 B 36.36 % 10 8 100" in text
    assert "eval books 90" in text


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


def test_held_out_losses_samples_and_the_gradient_are_shown():
    first, last = (
        [{"text": f"the {name} [MASK]", "answer": "<i>", "proposed": ["cat", "dog"]}] for name in "ab"
    )
    lines = [dict(line, gradient_norm=2.0) for line in run_record().history]
    lines[0]["tokens_per_second"] = None
    lines[1] |= {"held_out_mlm_loss": 7.5, "samples": first}
    lines[5] |= {"held_out_mlm_loss": 7.0, "samples": first}
    lines[9] |= {"held_out_mlm_loss": 6.5, "samples": last}
    page = render_report(dataclasses.replace(run_record(), history=lines))
    assert "Norm of the gradient" in page and ">held out<" in page
    assert page.count("the a [MASK]") == page.count("the b [MASK]") == 1
    assert "&lt;i&gt;" in page and "cat, dog" in page
    assert ">held out<" not in render_report(run_record())


def test_measured_rates_stand_beside_their_bounds(full):
    assert "1 of 1 rates are within their bounds" in full
    rates = {**run_record().objective_rates, "ok": False}
    rates["rates"] = [{"name": "masked", "measured": 0.5, "lower": 0.7, "upper": 0.9, "ok": False}]
    page = render_report(dataclasses.replace(run_record(), objective_rates=rates))
    assert "0 of 1 rates are within their bounds" in page and "broken" in page


def test_distances_from_other_data_are_told():
    page = render_report(run_record())
    row = page[page.index("Distances from other data") :]
    assert row.index("the last run") < row.index("jensen shannon divergence") < row.index("too far")
    compared = load_recipe("demo").model_copy(update={"validation": Validation(drift={"a": 0.1})})
    first = dataclasses.replace(run_record(), recipe=compared, distances=())
    assert "nothing to compare the data with yet" in render_report(first)


def test_shares_that_moved_are_told():
    page = render_report(run_record())
    table = page[page.index("Shares since the last run") :]
    table = table[: table.index("</table>")]
    assert table.index("languages") < table.index("too far") < table.index(">en<") < table.index("domains")
    # The bound of each share is its own kind's, and ten of a kind are shown.
    assert table.count("too far") == 1 and "and 2 more, which moved less" in table
    assert table.count("<tr>") == 1 + 2 + 10 + 1
    compared = load_recipe("demo").model_copy(
        update={"validation": CorpusValidation(shares={"languages": 0.1})}
    )
    first = dataclasses.replace(run_record(), recipe=compared, shares=())
    assert "nothing to compare the shares of the corpus with yet" in render_report(first)


def test_trials_of_a_search_are_told():
    page = render_report(run_record())
    table = page[page.index("<h3>Search</h3>") :]
    assert table.index("taken") < table.index("0.001") < table.index("0.75")
