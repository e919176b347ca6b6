import dataclasses
import re

import pytest

from firth.recipes.tasks.dialogue import Dialogue
from firth.recipes.tasks.tasks import TextTasks
from firth.recipes.tasks.text_to_text import TextToText
from firth.reports.record import RunRecord
from firth.reports.task_report import SECTIONS, TaskRecord, render_task_report
from tests.reports.pages import Page, words_of
from tests.reports.records import HOSTILE
from tests.reports.task_pages.records import adapting_recipe, film_record, task_record


@pytest.fixture(scope="module")
def full():
    return render_task_report(film_record(), task_record())


@pytest.fixture(scope="module")
def empty():
    return render_task_report(RunRecord(adapting_recipe()), TaskRecord())


@pytest.mark.parametrize("which", ["full", "empty"])
def test_the_page_is_well_formed_and_escapes_what_records_say(which, request):
    text = request.getfixturevalue(which)
    page = Page(text)
    assert page.open == [] and len(page.ids) == len(set(page.ids))
    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "object"}
    assert page.tables or which == "empty"
    assert all("scroll" in classes for classes in page.tables)


def test_each_section_says_what_was_not_recorded(empty):
    by_section = re.split(r'<h2 id="', empty)[1:]
    assert [section.split('"')[0] for section in by_section] == [name for name, _ in SECTIONS]
    silent = [section.split('"')[0] for section in by_section if "not recorded" not in section]
    assert silent == ["recipe"]


def test_what_is_judged_by_stands_first_with_its_interval(full):
    text = words_of(full)
    assert "Held-out accuracy 0.750 95% interval 0.500 to 0.875" in text
    assert "Parameters trained 4,321" in text and "Records to train on 32 held out: 8" in text
    assert "accuracy 0.75 0.5 0.875" in text and "f1 0.625 not recorded not recorded" in text
    assert f"label={HOSTILE} 2 0.25 –" in text and "length=0-16 5 0.8125 –" in text
    assert "Over all 8 records of the eval split" in text


def test_the_page_says_what_the_scores_were_compared_with(full):
    record = film_record()
    above = {
        f"accuracy{key}{end}": 0.25
        for key in ("_above_constant", "_right_above_constant")
        for end in ("", "_low", "_high")
    }
    overall = {**record.evaluation["overall"], "accuracy_beats_constant": 1.0}
    constant = {"accuracy": 0.5, "accuracy_records_compared": 8.0, **above}
    compared = {**record.evaluation, "overall": overall, 'constant="good"': constant}
    page = render_task_report(dataclasses.replace(record, evaluation=compared), task_record())
    text = words_of(page)
    assert "is above 0.500 of the constant answer" in text and "accuracy_beats_constant" not in text
    assert "constant=" not in page and "constant answer" not in full


SEEN = {"step": "decontaminate", "action": "keep", "ngram_words": 13, "benchmarks": ["dev"], "found": 3}


def contamination(*steps, **counts):
    counted = {"records": 8, "found": 0, "too_short": 0, "not_searched": 0, **counts}
    return {**counted, "corpora": [{"model": "minilm", "steps": []}, {"model": "mine", "steps": steps}]}


def test_rows_are_not_shown_where_scores_stand(full):
    assert "row_count" not in full


def test_scores_stand_whole_and_clean_side_by_side(full):
    record, task = film_record(), task_record()
    clean = {"accuracy": 0.6875, "accuracy_low": 0.25, "accuracy_high": 0.9375, "f1": 0.5, "example_count": 5}
    seen = dataclasses.replace(record, evaluation={**record.evaluation, "subset=clean": clean})
    found = dataclasses.replace(task, contamination=contamination(SEEN, found=3, too_short=1))
    text = words_of(page := render_task_report(seen, found))
    assert "Score Whole: all 8 records from to Clean: 5 records from to" in text
    assert "accuracy 0.75 0.5 0.875 0.6875 0.25 0.9375" in text and "subset=clean" not in page
    assert "in the corpus of the base: 3 of 8 found by decontaminate of mine (dev; kept in it); " in text
    assert "1 too short to be found; no report on what minilm was trained on." in text
    assert "Whole" not in words_of(full) and "not known, as no decontamination report comes" in words_of(full)
    none = dataclasses.replace(task, contamination=contamination({**SEEN, "found": 0}, not_searched=2))
    text = words_of(render_task_report(record, none))
    assert "none of 8 found by decontaminate of mine (dev); 2 not among what was" in text
    assert "Whole" not in text


def test_the_baseline_of_summaries_stands_next_to_their_scores(full):
    record = film_record()
    seen = dataclasses.replace(
        record, evaluation={**record.evaluation, "baseline=lead_3": {"f1": 0.4375, "f1_low": 0.25}}
    )
    text = words_of(page := render_task_report(seen, task_record()))
    assert "from to Lead-3: the first three sentences accuracy 0.75 0.5 0.875 – f1 0.625 not recorded" in text
    assert "not recorded 0.4375" in text and "baseline=" not in page and "Lead-3" not in words_of(full)


def test_answers_stand_by_class_and_some_wrong_ones_with_their_texts(full):
    text = words_of(full)
    assert "Right no" in text and "no 5 1 83.3 %" in text and f"{HOSTILE} 2 0 0.0 %" in text
    assert f"a film {HOSTILE} {HOSTILE} no" in text


def test_what_was_left_out_stands_with_its_line(full):
    text = words_of(full)
    assert f"train {HOSTILE}.csv 37 32 5 4 6 3 12.5 %" in text
    assert "train: 5 no label, 2 no tokens." in text and f"films.csv:7: no_label: {HOSTILE}" in text
    assert "Texts of 6 records to evaluate on are among those to train on, 2 of them" in text
    assert "80.0% of eval have the label" in text
    assert "The model went on from runs/base; made fresh: heads/pooled_head." in text


def test_the_curve_shows_both_losses(full):
    assert "held out" in full and "3 of 3 steps of 6 rows" in words_of(full)


@pytest.mark.parametrize(("task", "before"), [
    (TextToText(schema={"type": "integer"}), ""),
    (Dialogue(schema={"type": "integer"}), ""),
    (TextTasks(tasks={"orders": TextToText(schema={"type": "integer"})}), "orders."),
])  # fmt: skip
def test_texts_written_freely_and_under_a_schema_have_a_row_each(task, before):
    recipe = adapting_recipe().model_copy(update={"task": task})
    found = {f"{before}schema_valid": 0.375, f"{before}schema_valid_constrained": 1.0}
    text = words_of(render_task_report(RunRecord(recipe, evaluation={"overall": found}), TaskRecord()))
    assert f"{before}schema_valid 0.375" in text and f"{before}schema_valid_constrained 1" in text


def test_the_tokenizer_of_bleu_stands_next_to_its_value():
    task = TextToText(scores=("bleu",), bleu_tokenizer="zh")
    recipe = adapting_recipe().model_copy(update={"task": task})
    page = render_task_report(RunRecord(recipe, evaluation={"overall": {"bleu": 12.5}}), TaskRecord())
    assert "bleu by sacrebleu's tokenizer zh 12.5" in words_of(page)
