"""Steps by a classifier's file: decisions, counts, and errors before they read any data."""

import json
import shutil
import sys

import pytest

from firth.components.file_digests import FILES
from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.corpus_counts import Count
from firth.corpus.documents.errors import CorpusError
from firth.corpus.quality import scoring, scoring_models
from firth.pipelines import corpus as curate
from firth.recipes import Cleaning, Recipe, TextSource
from firth.reports import CorpusView
from tests.corpus.duplicates_helpers import reasons, run_steps
from tests.corpus.helpers import document, make_pipeline_of_two
from tests.corpus.quality.models import MADE, fasttext_step, scikit_learn_step
from tests.corpus.quality.texts import BAD, GOOD, text

TEXTS = MADE["texts"]
SCORES = {name: labels["__label__hq"] for name, labels in MADE["scores"]["fasttext"].items()}
DOCUMENTS = [document(text, name, "web") for name, text in TEXTS.items()]


@pytest.mark.parametrize("keep", ["at_least", "below"])
def test_the_score_of_the_label_decides_and_is_in_the_report(tmp_path, keep):
    others = [document("buy pills now", f"other {n}", "books") for n in range(2)]
    step = fasttext_step(threshold=0.5, keep=keep, sources=("web",))
    kept, totals = run_steps(tmp_path, [*DOCUMENTS, *others], step, sources=("web", "books"))
    high = {name for name, score in SCORES.items() if score >= 0.5}
    wanted = high if keep == "at_least" else SCORES.keys() - high
    assert {each.uri for each in kept if each.source == "web"} == wanted and 0 < len(high) < len(SCORES)
    reason = "low_score" if keep == "at_least" else "high_score"
    assert reasons(totals) == {reason: len(SCORES) - len(wanted)}
    assert totals.counts == {Count("fasttext", "books", "other_source"): 2}
    # Nothing is measured without being asked for.
    assert not totals.histograms
    report = json.loads((tmp_path / "fasttext.json").read_text())
    assert (report["label"], report["keep"], report["threshold"]) == ("__label__hq", keep, 0.5)
    (web,) = report["scores"]["sources"]
    kept_bins, dropped_bins = (sum(web[fate]) for fate in ("kept", "dropped"))
    assert (kept_bins, dropped_bins) == (len(wanted), len(SCORES) - len(wanted))
    ((name, _),) = CorpusView({}, {"fasttext": report, "other": {}}).scored
    assert name == "fasttext"
    bins = [int(score * 20) for score in SCORES.values()]
    both = [kept + dropped for kept, dropped in zip(web["kept"], web["dropped"])]
    assert both == [bins.count(place) for place in range(20)]


def test_a_model_of_scikit_learn_decides(tmp_path):
    tail = f"{text(BAD, 1)} {text(GOOD, 2, 200)}"
    texts = {"good": text(GOOD, 50), "bad": text(BAD, 50), "tail": tail}
    documents = [document(each, name) for name, each in texts.items()]
    step = scikit_learn_step(tmp_path)
    # Only what is read counts.
    short = step.model_copy(update={"max_characters": len(text(BAD, 1))})
    for each, names in ((step, ["good", "tail"]), (short, ["good"])):
        kept, totals = run_steps(tmp_path / f"{len(names)}", documents, each)
        assert sorted(each.uri for each in kept) == names
        assert reasons(totals) == {"low_score": 3 - len(names)}


def test_a_process_loads_a_model_once(tmp_path, monkeypatch):
    loads, plain = [], scoring_models.FastText.load

    def load(config):
        loads.append(config.path)
        return plain(config)

    monkeypatch.setattr(scoring_models.FastText, "load", staticmethod(load))
    kept, _ = run_steps(tmp_path, DOCUMENTS[::-1], fasttext_step(), batch=1, pipeline=make_pipeline_of_two)
    assert {each.uri for each in kept} == {name for name, score in SCORES.items() if score >= 0.5}
    assert len(loads) == 1
    scoring._loaded.cache_clear()


def refused(tmp_path, step):
    """Returns why a pipeline of a step cannot be made; it has not read any data by then."""
    (tmp_path / "a.txt").write_text("A text.")
    recipe = Recipe.model_construct(
        name="refused",
        sources=(TextSource(kind="text", paths=(f"{tmp_path}/*.txt",)),),
        cleaning=Cleaning(steps=(step,)),
        source_schema=None,
        outputs=(),
    )
    with pytest.raises(CorpusError) as raised:
        curate.create_pipeline(recipe, str(tmp_path / "root"))
    return str(raised.value)


def test_a_file_or_a_label_that_is_not_there_is_told_before_any_data_are_read(tmp_path):
    gone = fasttext_step(path=f"{tmp_path}/gone.bin")
    assert refused(tmp_path, gone) == f"fasttext: there is no file {tmp_path}/gone.bin"
    step = fasttext_step(label="__lable__hq")
    why = f"fasttext: {step.path} has no label '__lable__hq'; did you mean __label__hq?"
    assert refused(tmp_path, step) == why
    step = scikit_learn_step(tmp_path, label="godo")
    assert refused(tmp_path, step) == f"scikit_learn: {step.path} has no label 'godo'; did you mean good?"


def test_the_model_s_content_is_in_the_digest(tmp_path):
    path = tmp_path / "model.bin"
    shutil.copy(fasttext_step().path, path)
    cleaning = Cleaning(steps=(fasttext_step(path=str(path)),))
    before = FILES.of_cleaning(cleaning)
    first = STEPS["fasttext"](cleaning.steps[0])
    shutil.copy(fasttext_step("fasttext_hs").path, path)
    assert FILES.of_cleaning(cleaning) not in ("", before)
    second = STEPS["fasttext"](cleaning.steps[0])
    assert first._model() is not second._model()


def test_without_the_extra_the_command_that_installs_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "fasttext", None)
    with pytest.raises(CorpusError, match=r"'firth\[classifiers\]'"):
        scoring_models.FastText.load(fasttext_step())
