"""`firth export --weights` writes a SavedModel and prints what the model loses by it."""

import json
import re

from firth.serving import read_description
from tests.exported_model import RECIPE, examples_artifact, make_served
from tests.serving.weights_test import bundle_of


def make_run(root, rows: bool) -> None:
    """A run with a bundle and, if asked for, with held-out rows."""
    served = make_served(RECIPE)
    folder = root / "mine"
    folder.mkdir(parents=True)
    bundle_of(served, folder)
    outputs = {}
    if rows:
        examples_artifact(str(folder / "rows"))
        (folder / "rows" / "tokenizer").mkdir()
        outputs = {"ExampleGen": {"examples": str(root)}, "SequenceGen": {"examples": str(folder / "rows")}}
    (folder / "run.json").write_text(json.dumps({"outputs": outputs, "bundle": str(folder / "bundle")}))


def test_the_loss_on_held_out_rows_is_printed(firth, tmp_path):
    make_run(tmp_path / "firth-runs", rows=True)
    result = firth("export", "mine", "--weights", "int8")
    assert result.exit_code == 0, result.output
    said = r"mine-int8: a SavedModel; weights: int8, 0\.0 MB in the place of 0\.0 MB; bits per byte "
    assert re.search(rf"{said}\d\.\d{{4}}, and \d\.\d{{4}} in float32, on 10 held-out rows", result.stdout)
    assert "firth predict mine-int8" in result.stdout
    assert read_description("mine-int8")["recipe"]["export"]["weights"] == "int8"


def test_bad_input_is_refused(firth, tmp_path):
    make_run(tmp_path / "firth-runs", rows=False)
    result = firth("export", "mine", "--weights", "int4")
    assert (
        result.exit_code == 2 and "weights: 'int4' is not a choice here; did you mean int8?" in result.stderr
    )
    result = firth("export", "mine", "--weights", "int8", "--format", "hf")
    assert result.exit_code == 2 and "give one of --format, --weights, and --adapter" in result.stderr
    result = firth("export", "mine", "--weights", "int8", "--option", "opset=17")
    assert result.exit_code == 2 and "--option goes with --format" in result.stderr
    result = firth("export", "nowhere", "--weights", "int8")
    assert result.exit_code == 2
