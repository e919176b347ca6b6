"""`firth evaluate`: with lm-evaluation-harness, where it is installed, its scores are those of the model."""

import json
import os
import pathlib
import shutil
import sys

import numpy as np
import pytest
import tensorflow as tf
from starlette.testclient import TestClient

from firth import pretrain
from firth.cli import evaluate
from firth.evaluation import harness
from firth.serving.server.app import make_app
from firth.serving.server.models import Models
from firth.serving.server.settings import ServerSettings
from firth.serving.server.sources import ModelSource
from tests.serving.slots.models import exported, exported_without_warmup

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


LONG_ROWS = {
    "sequences.length": 1024,
    "model.layers": 1,
    "model.width": 32,
    "model.positions.length": 1024,
    # Random, but not alike: the answers differ.
    "model.initializer_stddev": 0.3,
    "tokenizer.vocabulary_size": 1000,
    "export.slots": 4,
    "export.warmup_requests": 0,
}
EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "harness"
# Records of the tasks of GLUE, whose own ones are not here; as many examples as a prompt has, and two more.
GLUE = {
    "sst2": {"sentence": "a quiet film that moves along"},
    "rte": {"sentence1": "The bridge was built in 1902 by the city.", "sentence2": "The bridge is old."},
    "wnli": {"sentence1": "The cup fell on the plate and it broke.", "sentence2": "The plate broke."},
}


def own_scores(path: str, requests: list[tuple[str, str]]) -> list[float]:
    """Returns the log-probability of each continuation, by the model's own `score_tokens`.

    Args:
        path: Folder of the SavedModel.
        requests: Contexts, each with a continuation, which follows the begin token where there is no context.
    """
    models = Models([ModelSource("own", path)], ServerSettings(reload_seconds=0.0))
    with TestClient(make_app(models, ServerSettings())) as http:

        def ids(text: str) -> list[int]:
            body = {"prompt": text, "add_special_tokens": False}
            return http.post("/tokenize", json=body).json()["tokens"]

        begin_token = http.get("/tokenizer_info").json()["bos_token"]
        rows = [
            (len(ids(context or begin_token)), ids((context or begin_token) + continuation))
            for context, continuation in requests
        ]
    models.close()
    score = tf.saved_model.load(path).signatures["score_tokens"]
    found = []
    for begin, row in rows:
        outputs = score(ids=tf.constant([row], tf.int32), length=tf.constant([len(row)], tf.int32))
        found.append(float(outputs["log_probabilities"].numpy()[0, begin:].sum()))
    return found


def greedy_text(path: str, context: str, most: int) -> str:
    """Returns the likeliest tokens after a context, one after another by `score_tokens`, up to a line's end.

    Args:
        path: Folder of the SavedModel.
        context: Text whose tokens are read without special ones, as the harness sends them.
        most: Most tokens.
    """
    models = Models([ModelSource("own", path)], ServerSettings(reload_seconds=0.0))
    score = tf.saved_model.load(path).signatures["score_tokens"]
    with TestClient(make_app(models, ServerSettings())) as http:
        body = {"prompt": context, "add_special_tokens": False}
        ids, written = http.post("/tokenize", json=body).json()["tokens"], []
        for _ in range(most):
            # The token at the last place is read by none.
            row = [*ids, *written, 0]
            outputs = score(ids=tf.constant([row], tf.int32), length=tf.constant([len(row)], tf.int32))
            written.append(int(outputs["likeliest_ids"].numpy()[0, -1]))
        whole = http.post("/detokenize", json={"tokens": [*ids, *written]}).json()["prompt"]
    models.close()
    return whole.removeprefix(context).partition("\n")[0]


def check_samples(path: str, samples: list[dict], scores: "list[harness.HarnessScore]") -> float:
    """Checks log-likelihoods and accuracies; returns the greatest difference of a log-likelihood.

    Args:
        path: Folder of the SavedModel.
        samples: Samples of the harness, of tasks in which one of several continuations is right.
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


@pytest.fixture
def asked(firth, monkeypatch):
    """From a model, a folder of tasks and options to the samples of the harness and its scores."""
    kept, read = [], harness.read_harness

    def read_and_keep(folder):
        kept.append((read_samples(folder), read(folder)))
        return kept[-1][1]

    monkeypatch.setattr(harness, "read_harness", read_and_keep)

    def ask(model, tasks, *options):
        result = firth("evaluate", model, "--tasks", str(tasks), "--json", "--harness", PYTHON, *options)
        assert result.exit_code == 0, result.output
        rows = json.loads(result.stdout.splitlines()[-1])["rows"]
        assert {each["task"] for each in rows} == set(harness.task_names(str(tasks)))
        return kept.pop()

    return ask


# Writes results as the harness does, of a task whose share of right examples is that of the limit.
STAND_IN = """
import json, pathlib, sys, urllib.request
if __name__ != "__main__":
    # The command has looked whether it is there.
    sys.exit(0)
given = dict(zip(sys.argv[1:], sys.argv[2:]))
options = dict(each.split("=", 1) for each in given["--model_args"].split(","))
models = json.load(urllib.request.urlopen(options["base_url"].removesuffix("/completions") + "/models"))
assert options["model"] in [each["id"] for each in models["data"]] and int(options["max_length"]) > 1
if "--limit" not in given:
    sys.exit(3)
right = [1.0] * int(given["--limit"]) + [0.0]
folder = pathlib.Path(given["--output_path"], "model")
folder.mkdir()
scores = {"acc,none": sum(right) / len(right)}
(folder / "results_2026-11-29.json").write_text(json.dumps({"results": {given["--tasks"]: scores}}))
rows = [{"doc_id": n, "doc_hash": "a", "filter": "none", "acc": each} for n, each in enumerate(right)]
(folder / f"samples_{given['--tasks']}_2026-11-29.jsonl").write_text("\\n".join(map(json.dumps, rows)))
"""


def test_scores_of_a_program_that_asks_the_server_become_a_table_and_json(
    firth, made_once, tmp_path, monkeypatch
):
    """The tests below run the harness itself where it is installed."""
    (tmp_path / "lm_eval.py").write_text(STAND_IN)
    for name in ("wörter", "other"):
        (tmp_path / f"{name}.yaml").write_text(f"task: {name}\n")
    monkeypatch.chdir(tmp_path)
    model = exported_without_warmup(made_once)
    scores = [harness.HarnessScore("wörter", "acc", 0.5, {"a/0": 1.0, "a/1": 0.0})]
    measured = evaluate._scores
    monkeypatch.setattr(
        evaluate, "_scores", lambda name, *_: scores if name == "other" else measured(name, *_)
    )
    command = ("evaluate", model, "other", "--tasks", ".", "--harness", sys.executable)
    result = firth(*command, "--task", "wörter", "--limit", "1", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout.splitlines()[-1])
    assert found["models"] == [model, "other"] and "wörter" in result.stdout
    (acc,) = found["rows"]
    assert (acc["task"], acc["metric"], acc["examples"]) == ("wörter", "acc", 2)
    assert [each["value"] for each in (*acc["values"], acc["difference"])] == [0.5, 0.5, 0.0]
    result = firth("evaluate", "other", *command[3:])
    assert result.stdout.splitlines()[-1].split()[:4] == ["wörter", "acc", "2", "0.500"]
    result = firth(*command, "--task", "worter")
    assert result.exit_code == 2 and "wörter" in result.output


needs_harness = pytest.mark.skipif(
    PYTHON is None, reason="FIRTH_LM_EVAL does not name a Python that has lm-eval"
)


@needs_harness
def test_scores_of_the_harness_are_those_of_the_model(asked, made_once, tmp_path):
    (tmp_path / "words.yaml").write_text(TASK)
    for name, text in OTHERS.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    for name, rows in (("train", ROWS[:1]), ("test", ROWS)):
        lines = (json.dumps({"text": text, "label": label}) + "\n" for text, label in rows)
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
    model = str(shutil.copytree(exported(made_once), tmp_path / "versions" / "1"))
    samples, scores = asked(model, tmp_path)
    assert len(samples) == 3 * len(ROWS)
    assert check_samples(exported(made_once), samples, scores) < 1e-4


@needs_harness
def test_tasks_of_the_examples_are_scored_as_the_model_scores_them(asked, tmp_path):
    """On rows of 1,024 tokens, which prompts with four examples need."""
    tasks, limit = tmp_path / "tasks", 3
    shutil.copytree(EXAMPLES, tasks, ignore=shutil.ignore_patterns("glue"))
    for path in (EXAMPLES / "glue").glob("*.yaml"):
        shutil.copy(path, tasks)
    for name, record in GLUE.items():
        lines = "".join(json.dumps({**record, "label": place % 2}) + "\n" for place in range(6))
        for file in (name, f"{name}_train"):
            (tasks / f"{file}.jsonl").write_text(lines)
    texts = [" ".join(json.loads(line).values()) for line in (tasks / "blimp.jsonl").read_text().splitlines()]
    model = pretrain("gpt2_tiny", texts=texts, steps=1, overrides=LONG_ROWS, verbose=False)
    path = str(tmp_path / "model" / "1")
    model.export(path)
    samples, scores = asked(path, tasks, "--limit", str(limit))
    chosen = [each for each in samples if "gen_args_1" in each["arguments"]]
    written = [each for each in samples if "gen_args_1" not in each["arguments"]]
    assert len({each["task"] for each in chosen}) == 32 and len(chosen) == 32 * limit
    names = {each["task"] for each in chosen}
    assert check_samples(path, chosen, [each for each in scores if each.task in names]) < 1e-4
    assert len(written) == limit
    for each in written:
        context = each["arguments"]["gen_args_0"]["arg_0"]
        assert each["resps"] == [[greedy_text(path, context, 8)]]
