"""`firth export`: what it says, and what it refuses."""

import re

import pytest

from firth import storage
from firth.interop.keras_hub.exporting import family_of
from firth.models import build_model, save_model
from firth.recipes import load_recipe
from firth.serving.exported_model import read_description
from firth.tokenizers import WordPieceTokenizer, save_tokenizer
from tests.interop.hugging_face.checkpoints import PIECES
from tests.tuning.drawn import write_adapter


@pytest.mark.parametrize(
    "name, file",
    [("hf", "model.safetensors"), pytest.param("onnx", "encoder.onnx", marks=pytest.mark.repeated)],
)
def test_an_imported_model_goes_out(firth, imported, tmp_path, name, file):
    if name == "onnx":
        pytest.importorskip("tf2onnx")
    result = firth("export", "tiny", "--format", name)
    assert result.exit_code == 0, result.output
    assert f"tiny-{name}/{file}" in result.stdout.splitlines()
    assert (tmp_path / f"tiny-{name}" / file).exists()
    again = firth("export", "tiny", "--format", name)
    assert again.exit_code == 2 and f"tiny-{name} already exists; give another --output" in again.stderr


def test_wrong_names_get_the_nearest(firth, imported):
    assert "no run or imported model in" in firth("export", "tinny", "--format", "onnx").stderr
    wrong = firth("export", "tiny", "--format", "onx")
    assert wrong.exit_code == 2 and "did you mean" in wrong.stderr
    lost = firth("export", "./nowhere", "--format", "onnx")
    assert lost.exit_code == 2 and "there is no folder" in lost.stderr


def test_an_option_that_a_format_does_not_have_is_refused(firth, imported):
    chosen = ("--option", "quantisation=int8")
    wrong = firth("export", "tiny", "--format", "ctranslate2", *chosen)
    assert wrong.exit_code == 2
    assert "CTranslate2 has no option 'quantisation'; did you mean quantization?" in wrong.stderr
    none = firth("export", "tiny", "--format", "peft", "--option", "a=1")
    assert "peft has no option 'a'; it has none" in none.stderr
    assert "expected KEY=VALUE" in firth("export", "tiny", "--format", "onnx", "--option", "a").stderr


def test_what_is_left_out_is_said_before_the_files(firth, tmp_path):
    recipe = load_recipe("electra_tiny", ["tokenizer.vocabulary_size=300"])
    save_tokenizer(WordPieceTokenizer(PIECES), tmp_path / "tokenizer")
    save_model(build_model(recipe), recipe, tmp_path / "tokenizer", tmp_path / "bundle")
    result = firth("export", str(tmp_path / "bundle"), "--format", "hf", "--output", "out")
    assert result.exit_code == 0, result.output
    first = result.stdout.splitlines()[0]
    assert first.startswith("left out, since transformers has no place for them: heads/generator/")
    assert first.endswith(" more")


def test_the_model_of_the_examples_is_one_that_keras_hub_has(firth):
    (name,) = re.findall(r"firth export (\w+) --format keras", firth("export", "--help").stdout)
    assert family_of(load_recipe(name)).backbone


@pytest.mark.repeated
def test_several_adapters_of_a_model_go_out_as_one(firth, tmp_path):
    write_adapter(tmp_path, {"kind": "lora", "rank": 1})
    storage.copy_folder(tmp_path / "adapter", tmp_path / "films")
    result = firth(
        "export", "./bundle", "--adapter", "films", "--adapter", "topics=adapter", "--output", "all"
    )
    assert result.exit_code == 0, result.output
    said, ask = result.stdout.splitlines()
    assert said == "all: a SavedModel whose signature classify reads `adapter`: films, topics"
    assert ask == "To ask it: firth predict all classify TEXT --adapter films"
    answer = firth("predict", "all", "classify", "w1 w2", "--adapter", "films")
    assert answer.exit_code == 0 and answer.stdout.startswith("w1 w2\n"), answer.output
    assert list(read_description(tmp_path / "all")["adapters"]) == ["films", "topics"]


def test_what_adapters_are_asked_for_is_checked(firth, tmp_path):
    same = firth("export", "x", "--adapter", "films", "--adapter", "films=other")
    assert same.exit_code == 2 and "two adapters are named films; write NAME=ADAPTER" in same.stderr
    nameless = firth("export", "x", "--adapter", "=films")
    assert (
        nameless.exit_code == 2 and "=films: the adapter has no name; write NAME=ADAPTER" in nameless.stderr
    )
    assert "give one of --format, --weights, --schema and --adapter" in firth("export", "x").stderr


@pytest.mark.parametrize(("adapters", "name"), [
    (("a=runs/rank=8/adapter", "a=other"), "a"),
    (("runs/rank=8/films", "films=x=y"), "films"),
])  # fmt: skip
def test_a_place_may_have_an_equals_sign(firth, adapters, name):
    """The name in the error shows how each argument was split."""
    said = [part for each in adapters for part in ("--adapter", each)]
    assert f"two adapters are named {name};" in firth("export", "x", *said).stderr
