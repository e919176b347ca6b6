"""`firth train-worker`: a process trains on rows that are there, and writes the model."""

from firth.models import load_model
from tests.training.artifacts import tiny_recipe, write_artifact


def test_one_process_trains_and_writes_the_model(firth, eager, tmp_path, monkeypatch):
    exported = []
    monkeypatch.delenv("TF_CONFIG", raising=False)
    monkeypatch.setattr("firth.serving.export", lambda *values: exported.append(values))
    write_artifact(tmp_path / "rows")
    (tmp_path / "tiny.yaml").write_text(tiny_recipe(steps=2).to_json())
    places = ["--rows", "rows", "--output", "model", "--checkpoints", "checkpoints"]
    done = firth("train-worker", "tiny.yaml", *places)
    assert done.exit_code == 0, done.output
    assert load_model(tmp_path / "model" / "bundle").built
    ((model, tokenizer, recipe, counts, place, rows),) = exported
    assert model.built and recipe.training.steps == 2 and rows == []
    assert len(counts) == tokenizer.vocabulary_size() and place == "model/Format-Serving"
    missing = firth("train-worker", "tiny.yaml", "--rows", "none", *places[2:])
    assert missing.exit_code == 1 and "none/tokenizer is not a directory" in missing.stderr


def test_processes_that_cannot_be_found_are_told(firth, tmp_path, monkeypatch):
    monkeypatch.setenv("TF_CONFIG", "worker 0")
    (tmp_path / "tiny.yaml").write_text(tiny_recipe(strategy="multi_worker_mirrored").to_json())
    told = firth("train-worker", "tiny.yaml", "--rows", "r", "--output", "o", "--checkpoints", "c")
    assert told.exit_code == 1 and "TF_CONFIG is not JSON" in told.stderr
