"""The command with TFX's Tuner, BulkInferrer and the comparison with requests in one run."""

import json

import pytest

from firth.models.bundle import read_recipe
from firth.pipelines.lineage import metadata_store
from firth.pipelines.run_metadata import metadata_of
from tests.pipelines.finetune_test import finetune, folder, of_csv  # noqa: F401 (a fixture)

pytestmark = pytest.mark.repeated
RATE = "training.optimizer.learning_rate"


def test_a_search_predictions_and_distances(folder):  # noqa: F811
    (folder / "new.jsonl").write_text('{"text": "the mat cat"}\n{"text": ""}\n{"text": "the mat ."}\n')
    asked = [json.dumps({"text": "the mat " * (2 + number % 9)}) for number in range(40)]
    (folder / "asked.jsonl").write_text("\n".join(asked))
    result = finetune(
        folder,
        *of_csv(),
        f"--set=search={{algorithm: grid, space: {{{RATE}: {{kind: choices, values: [1.0e-7, 0.02]}}}}}}",
        "--set=predictions.input=new.jsonl",
        "--set=validation={skew: {text/words: 0.01}, requests: asked.jsonl, on_anomaly: report}",
    )
    assert result.exit_code == 0, result.output
    run_dir = folder / "firth-runs" / "base_classification"
    summary = json.loads((run_dir / "run.json").read_text())
    # The rate that learns something is the one that the served model was trained with.
    assert read_recipe(summary["bundle"]).training.optimizer.learning_rate == 0.02
    assert summary["evaluation"]["overall"]["accuracy"] >= 0.8
    page = (run_dir / "report.html").read_text()
    assert "<h3>Search</h3>" in page and "Distances from other data" in page and "too far" in page
    assert "skew of text/words in train" in result.output and "more than 0.01" in result.output

    predicted = summary["outputs"]["PredictionExporter"]["predictions"]
    with open(f"{predicted}/predictions.jsonl", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    assert [(each["line"], each["label"]) for each in lines] == [(1, "cat"), (3, "other")]
    with open(f"{predicted}/report.json", encoding="utf-8") as file:
        assert json.load(file)["unread"] == {"empty_text": 1}
    store = metadata_store(metadata_of(run_dir))
    kinds = {each.name.rsplit(".", 1)[-1] for each in store.get_execution_types()}
    assert {"Tuner", "BulkInferrer", "DistributionValidator"} <= kinds
