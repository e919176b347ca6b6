"""`firth evaluate` with a real lm-evaluation-harness, whose scores are compared with the model's own."""

import json
import os
import pathlib
import shutil

import numpy as np
import pytest
import tensorflow as tf
from starlette.testclient import TestClient

from firth.evaluation import harness
from firth.serving.server.app import make_app
from firth.serving.server.models import Models
from firth.serving.server.settings import ServerSettings
from firth.serving.server.sources import ModelSource
from tests.serving.slots.models import exported

PYTHON = os.environ.get("FIRTH_LM_EVAL")
# As examples/harness has them, with words of the tiny model.
TASK = """
task: words
dataset_path: json
dataset_kwargs: {data_files: {train: train.jsonl, test: test.jsonl}}
training_split: train
test_split: test
fewshot_split: train
fewshot_config: {sampler: first_n}
num_fewshot: 0
output_type: multiple_choice
doc_to_text: "the {{text}}"
doc_to_choice: ["fox", "dogs", "lazy cat"]
doc_to_target: label
metric_list: [{metric: acc}]
"""
OTHERS = {
    "one": "include: words.yaml\ntask: words_one\nnum_fewshot: 1\n",
    "permuted": 'include: words.yaml\ntask: words_permuted\ndoc_to_target: "{{(label + 1) % 3}}"\n',
}
ROWS = [
    ("quick brown", 0),
    ("lazy", 1),
    ("fox", 2),
    ("cats", 0),
    ("quick", 1),
    ("brown dogs", 2),
    ("over", 0),
]


def own_scores(path: str, requests: list[tuple[str, str]]) -> list[float]:
    """Returns the log-probability of each continuation, by the model's own `score_tokens`.

    Args:
        path: Folder of the SavedModel.
        requests: Contexts, each with a continuation.
    """
    models = Models([ModelSource("own", path)], ServerSettings(reload_seconds=0.0))
    with TestClient(make_app(models, ServerSettings())) as http:

        def ids(text: str) -> list[int]:
            body = {"prompt": text, "add_special_tokens": False}
            return http.post("/tokenize", json=body).json()["tokens"]

        rows = [(len(ids(context)), ids(context + continuation)) for context, continuation in requests]
    models.close()
    score = tf.saved_model.load(path).signatures["score_tokens"]
    found = []
    for begin, row in rows:
        outputs = score(ids=tf.constant([row], tf.int32), length=tf.constant([len(row)], tf.int32))
        found.append(float(outputs["log_probabilities"].numpy()[0, begin:].sum()))
    return found


def check_samples(path: str, samples: list[dict], scores: "list[harness.HarnessScore]") -> float:
    """Checks log-likelihoods and accuracies; returns the greatest difference of a log-likelihood.

    Args:
        path: Folder of the SavedModel.
        samples: Samples of the harness.
        scores: Its scores.
    """
    requests = [(each["arg_0"], each["arg_1"]) for one in samples for each in one["arguments"].values()]
    own = iter(own_scores(path, requests))
    greatest, right = 0.0, {}
    for sample in samples:
        given = [float(value) for ((value, _),) in sample["resps"]]
        mine = [next(own) for _ in given]
        greatest = max(greatest, *map(abs, np.subtract(given, mine)))
        right.setdefault(sample["task"], []).append(float(np.argmax(mine) == int(sample["target"])))
    accuracies = {each.task: each.value for each in scores if each.metric == "acc"}
    assert accuracies == {task: pytest.approx(np.mean(values)) for task, values in right.items()}
    return greatest


def read_samples(folder: str) -> list[dict]:
    """Returns the samples of all tasks, each with the name of its task."""
    return [
        {**json.loads(line), "task": path.name.removeprefix("samples_").rpartition("_")[0]}
        for path in sorted(pathlib.Path(folder).rglob("samples_*.jsonl"))
        for line in path.read_text().splitlines()
    ]


@pytest.mark.skipif(PYTHON is None, reason="FIRTH_LM_EVAL does not name a Python that has lm-eval")
def test_scores_of_the_harness_are_those_of_the_model(firth, made_once, tmp_path, monkeypatch):
    (tmp_path / "words.yaml").write_text(TASK)
    for name, text in OTHERS.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    for name, rows in (("train", ROWS[:1]), ("test", ROWS)):
        lines = (json.dumps({"text": text, "label": label}) + "\n" for text, label in rows)
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
    kept, read = [], harness.read_harness

    def read_and_keep(folder):
        kept.append((read_samples(folder), read(folder)))
        return kept[0][1]

    monkeypatch.setattr(harness, "read_harness", read_and_keep)
    model = str(shutil.copytree(exported(made_once), tmp_path / "versions" / "1"))
    result = firth("evaluate", model, "--tasks", str(tmp_path), "--json", "--harness", PYTHON)
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout.splitlines()[-1])["rows"]
    assert {each["task"] for each in rows} == {"words", "words_one", "words_permuted"}
    ((samples, scores),) = kept
    assert len(samples) == 3 * len(ROWS)
    assert check_samples(exported(made_once), samples, scores) < 1e-4
