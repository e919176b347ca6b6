"""The first commands of the page on originals run as they are written there, on a small checkpoint."""

import shlex

import numpy as np
from safetensors.numpy import load_file
from typer.testing import CliRunner

import firth
from firth.cli.main import app
from firth.serving import Client
from tests.docs.snippets import all_snippets, commands
from tests.exported_model import first_signature_alone
from tests.interop.tensorflow import originals
from tests.interop.tensorflow.importing_test import published

COMMANDS = [
    shlex.split(command)
    for command in commands(
        next(each for each in all_snippets("sh") if each.page == "docs/how-to/originals.md")
    )
]


def test_from_a_folder_of_2018_to_a_saved_model_and_to_transformers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FIRTH_ROOT", raising=False)
    assert [words[1] for words in COMMANDS] == ["import", "predict", "export", "export"]
    tensors = originals.random(originals.bert())
    originals.write(tmp_path / COMMANDS[0][3], tensors)
    # `embed` is the second.
    with first_signature_alone(evaluates=False, count=2):
        results = [CliRunner().invoke(app, words[1:]) for words in COMMANDS]
    assert [each.exit_code for each in results] == [0] * 4, results[-1].output
    assert results[1].stdout.startswith("A sentence.\n  [")
    # The files that go out hold the same weights, and the SavedModel computes with them.
    (answer,) = Client(tmp_path / "firth-runs" / "bert" / "serving").ask("embed", ["the river runs"])
    vector = firth.load("bert-hf").embed("the river runs")
    np.testing.assert_allclose(answer["embedding"], vector, rtol=0, atol=1e-5)
    for found, expected in (
        (load_file("bert-hf/model.safetensors"), published(tensors)),
        (originals.read("bert-tf"), tensors),
    ):
        assert found.keys() == expected.keys()
        assert all(np.array_equal(found[name], each) for name, each in expected.items())
