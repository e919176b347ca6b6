"""A task model whose base has seen some of its held-out records: scored whole and clean, by lineage."""

import json
import random

import pytest
from typer.testing import CliRunner

from firth.cli.main import app
from firth.corpus.decontamination.evidence import read_evidence
from tests.pipelines.finetune_test import OPTIONS, write_csv

# The evidence of contamination, `TaskRowGen`, the metrics and the page have unit tests of their own.
pytestmark = pytest.mark.repeated

CORPUS = """\
name: {name}
sources: [{{kind: text, name: books, paths: ["{corpus}/*.txt"]}}]
cleaning:
  steps:
    - {{kind: decontaminate, ngram_words: 8, action: keep, benchmarks: [
        {{kind: csv, name: dev, paths: [dev.csv], text_columns: [text]}}]}}
  split: {{eval_fraction: 0.3}}
{rest}
"""
FRESH = """\
tokenizer: {kind: wordpiece, vocabulary_size: 120}
objective: {kind: masked_lm, next_sentence: false}
sequences: {length: 32, shards: 1}
model: {kind: masked_transformer, layers: 1, width: 16, attention: {heads: 2}}
training: {steps: 3, batch_size: 4, optimizer: {kind: adamw, learning_rate: 1e-3, warmup_steps: 0}}
evaluation: {thresholds: []}
"""
CONTINUED = """\
base: first
objective: {next_sentence: false}
training: {steps: 3, batch_size: 4, optimizer: {kind: adamw, learning_rate: 1e-3, warmup_steps: 0}}
evaluation: {thresholds: []}
"""
WORDS = [f"{a}{b}" for a in ("ka", "lo", "mi", "nu", "po") for b in ("sa", "te", "vo", "zu")]


def sentences(seed, count, words=10):
    chosen = random.Random(seed)
    return [" ".join(chosen.choices(WORDS, k=words)) for _ in range(count)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Twenty records to evaluate on, of which the first corpus holds four, and the second one three."""
    folder = tmp_path_factory.mktemp("clean")
    dev, train = sentences(1, 20), sentences(2, 60)
    dev[19] = "too short"
    for name, texts in (("dev", dev), ("train", train)):
        rows = [
            [f"{text} cat" if n % 2 else text, "cat" if n % 2 else "other"] for n, text in enumerate(texts)
        ]
        write_csv(folder / f"{name}.csv", [["text", "label"], *rows])
    for corpus, held in (("old", dev[:4]), ("new", dev[3:6])):
        (folder / corpus).mkdir()
        for number, text in enumerate(sentences(corpus, 24, words=60)):
            planted = f"{text} {held[number].upper()}." if number < len(held) else text
            (folder / corpus / f"{number}.txt").write_text(planted)
    (folder / "first.yaml").write_text(CORPUS.format(name="first", corpus="old", rest=FRESH))
    (folder / "second.yaml").write_text(CORPUS.format(name="second", corpus="new", rest=CONTINUED))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for recipe in ("first.yaml", "second.yaml"):
            result = CliRunner().invoke(app, ["run", recipe])
            assert result.exit_code == 0, result.output
    return folder


def finetune(folder, base):
    options = ["--task", "classification", "--train", "train.csv", "--eval", "dev.csv"]
    options += ["--set=epochs=1", "--set=evaluation.beats_constant=false"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        more = [each for each in OPTIONS if "epochs" not in each]
        result = CliRunner().invoke(app, ["finetune", base, *options, *more])
        shown = CliRunner().invoke(app, ["show", f"{base}_classification"]).output
    assert result.exit_code == 0, result.output
    run = folder / "firth-runs" / f"{base}_classification"
    return result.output, shown, json.loads((run / "run.json").read_text()), (run / "report.html").read_text()


def test_held_out_records_of_the_corpus_are_left_out_of_the_clean_scores(folder):
    said, shown, summary, page = finetune(folder, "first")
    whole, clean = (summary["evaluation"][name] for name in ("overall", "subset=clean"))
    assert (whole["example_count"], clean["example_count"]) == (20, 16)
    # The scores are means, so that those of the four others follow.
    others = (20 * whole["accuracy"] - 16 * clean["accuracy"]) / 4
    assert min(abs(others - share / 4) for share in range(5)) < 1e-6
    known = "4 of 20 found by decontaminate of first (dev; kept in it); 1 too short to be found"
    assert all(known in text for text in (said, shown, page))
    assert "whole: all 20 records" in said and "clean: the 16 records not found" in said
    assert "Clean: 16 records" in page


def test_a_base_that_went_on_from_another_brings_the_corpora_of_both(folder):
    said, _, summary, _ = finetune(folder, "second")
    corpora = [(each["model"], each["steps"][0]["found"]) for each in summary["contamination"]["corpora"]]
    assert corpora == [("first", 4), ("second", 3)]
    assert summary["evaluation"]["subset=clean"]["example_count"] == 14
    assert "6 of 20 found by decontaminate of first (dev; kept in it), decontaminate of second" in said
    # A task model as a base brings them too.
    assert [each.model for each in read_evidence(summary["bundle"])] == ["first", "second"]
