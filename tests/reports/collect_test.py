import json
import math

import pytest
import tensorflow as tf

from firth.recipes import load_recipe
from firth.reports.collect import ReportInputs, collect_run, eval_rows
from tests.reports.records import corpus_report, serving_report
from tests.reports.stub_model import save_stub_language_model, save_stub_model

VOCABULARY = ["[PAD]", "[UNK]", "the", "cat", "sat", "on", "mat", "."]
TOKENS = [2, 3, 4, 5, 2, 6, 4, 7]
RECIPE = load_recipe("demo")


def serialized_row(example_id):
    ints = {
        "example_id": [example_id],
        "tokens": TOKENS,
        "sentence_starts": [1] + [0] * 7,
        "chunk_lengths": [8],
    }
    example = tf.train.Example()
    for name, values in ints.items():
        example.features.feature[name].int64_list.value.extend(values)
    example.features.feature["source"].bytes_list.value.append(b"books")
    return example.SerializeToString()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    root = tmp_path_factory.mktemp("run")
    parts = (
        "corpus_report",
        "tokenizer",
        "examples",
        "model_run",
        "blessing",
        "serving_report",
        "run_dir",
        "model",
    )
    folders = {name: root / name for name in parts}
    for folder in folders.values():
        folder.mkdir()
    (folders["corpus_report"] / "corpus_report.json").write_text(json.dumps(corpus_report()))
    (folders["corpus_report"] / "length.json").write_text('{"auc": 0.5}')
    (folders["tokenizer"] / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    (folders["examples"] / "sequence_counts.json").write_text('{"train": {"rows": 3}}')
    (folders["examples"] / "Split-eval").mkdir()
    path = folders["examples"] / "Split-eval" / "rows.gz"
    with tf.io.TFRecordWriter(str(path), tf.io.TFRecordOptions(compression_type="GZIP")) as writer:
        for example_id in range(30):
            writer.write(serialized_row(example_id))
    (folders["model_run"] / "history.jsonl").write_text(
        '{"step": 1, "loss": 2.0}\n{"step": 2, "loss": 1.0}\n'
    )
    (folders["blessing"] / "BLESSED").write_text("")
    (folders["serving_report"] / "serving_report.json").write_text(json.dumps(serving_report()))
    (folders["run_dir"] / "timings.json").write_text('{"Trainer": {"state": "finished"}}')
    save_stub_model(folders["model"])
    return {name: str(folder) for name, folder in folders.items()}


def test_everything_is_gathered(run):
    record = collect_run(ReportInputs(RECIPE, **run))
    assert record.corpus == corpus_report()
    assert record.corpus_steps == {"length": {"auc": 0.5}}
    assert record.vocabulary == tuple(VOCABULARY)
    assert record.sequence_counts == {"train": {"rows": 3}}
    assert [line["loss"] for line in record.history] == [2.0, 1.0]
    assert record.blessed is True
    assert record.serving == serving_report()
    assert record.timings == {"Trainer": {"state": "finished"}}
    assert len(record.filled_masks) == 12
    filled = record.filled_masks[0]
    assert [tuple(candidate) for candidate in filled.candidates] == [("cat", 0.75), ("dog", 0.25)]
    words = f"{filled.before} {filled.answer} {filled.after}".split()
    assert " ".join(words).replace(" .", ".") == "the cat sat on the mat sat."


def test_a_language_model_scores_sentences(run, tmp_path):
    save_stub_language_model(tmp_path)
    record = collect_run(ReportInputs(RECIPE, **{**run, "model": str(tmp_path)}))
    assert record.filled_masks == []
    assert len(record.scored_sentences) == 12
    pieces = dict(record.scored_sentences[0].pieces)
    assert pieces["cat"] == pytest.approx(math.exp(-3))
    assert record.scored_sentences[0].source == "books"


def test_what_is_not_there_is_left_empty():
    record = collect_run(ReportInputs(RECIPE))
    assert record.corpus is None and record.serving is None and record.blessed is None
    assert not (
        record.vocabulary or record.history or record.evaluation or record.filled_masks or record.timings
    )


def test_a_line_that_is_still_being_written_is_left_out(tmp_path):
    (tmp_path / "history.jsonl").write_text('{"step": 1, "loss": 2.0}\n{"step": 2, "lo')
    record = collect_run(ReportInputs(RECIPE, model_run=str(tmp_path)))
    assert record.history == [{"step": 1, "loss": 2.0}] and record.curves == str(tmp_path)


def test_a_model_that_cannot_be_served_is_not_blessed(run, tmp_path):
    (tmp_path / "serving_report.json").write_text(json.dumps(serving_report(ok=False)))
    inputs = ReportInputs(RECIPE, blessing=run["blessing"], serving_report=str(tmp_path))
    assert collect_run(inputs).blessed is False


def test_a_model_below_its_thresholds_is_not_blessed(tmp_path):
    (tmp_path / "NOT_BLESSED").write_text("")
    assert collect_run(ReportInputs(RECIPE, blessing=str(tmp_path))).blessed is False


def test_rows_are_chosen_by_the_seed(run):
    chosen = [[row.example_id for row in eval_rows(run["examples"], 5, seed)] for seed in (0, 0, 1)]
    assert chosen[0] == chosen[1] != chosen[2]
    assert len(eval_rows(run["examples"], 100, 0)) == 30
