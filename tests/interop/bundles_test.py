"""Bundles that go to other libraries."""

import contextlib
import json

import pytest

from firth.interop.bundles import open_bundle
from firth.interop.errors import InteropError
from firth.interop.formats import FORMATS
from firth.interop.hugging_face import import_model
from firth.models import build_model, save_model
from firth.tokenizers import save_tokenizer
from tests.exported_model import RECIPE, make_served
from tests.interop.hugging_face.checkpoints import checkpoint, tensors_of
from tests.interop.onnx.graphs import as_converted
from tests.tasks.texts_test import TASKS_AND_LABELS, recipe_of


def test_the_model_of_a_task_is_refused(tmp_path):
    recipe = recipe_of(TASKS_AND_LABELS["one text"][0])
    save_tokenizer(make_served(RECIPE).tokenizer, tmp_path / "tokenizer")
    save_model(build_model(recipe), recipe, tmp_path / "tokenizer", tmp_path / "bundle")
    with pytest.raises(InteropError, match="is the model of a task"):
        open_bundle(tmp_path / "bundle")


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """Folders of bundles whose heads the files lack: an encoder, and a decoder with an output of its own."""
    made = {}
    for name, changed in (
        ("bert", {"num_hidden_layers": 1}),
        ("gpt2", {"n_layer": 1, "tie_word_embeddings": False}),
    ):
        folder = tmp_path_factory.mktemp(name)
        (folder / "in").mkdir()
        # One layer of two.
        missing = {key: None for key in tensors_of(name) if key.startswith("cls.") or ".1." in key}
        import_model(checkpoint(folder / "in", missing, name, **changed), folder / "bundle", name)
        made[name] = folder
    return made


@pytest.mark.parametrize(("format", "file"), [("onnx", "encoder.onnx"), ("ctranslate2", "model.bin")])
def test_heads_that_nobody_has_trained_do_not_go_out_untold(format, file, fresh):
    pytest.importorskip("onnx" if format == "onnx" else format)
    made = FORMATS[format]
    with as_converted() if format == "onnx" else contextlib.nullcontext():
        written = made.export_model(fresh["bert"] / "bundle", fresh["bert"] / format)
    assert file in written.files and "nobody has trained" in written.notes[0]
    if format == "onnx":
        described = json.loads((fresh["bert"] / format / "firth.json").read_text())
        assert described["files"][file]["outputs"] == ["last_hidden_state"]
    with pytest.raises(InteropError, match=r"heads/table: nobody has trained it.*heads=untrained"):
        made.export_model(fresh["gpt2"] / "bundle", fresh["gpt2"] / format)
    if format == "ctranslate2":
        asked = made.export_model(fresh["gpt2"] / "bundle", fresh["gpt2"] / format, heads="untrained")
        assert file in asked.files and not asked.notes
