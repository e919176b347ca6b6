"""`firth export --weights` writes a SavedModel and prints what the model loses by it."""

import json

from tests.exported_model import RECIPE, examples_artifact, make_served
from tests.serving.stored_weights.weights_test import bundle_of


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


def test_the_loss_on_held_out_rows_is_printed(firth, tmp_path, monkeypatch):
    asked = []

    def export_stored(bundle, place, rows, weights):
        asked.append((str(bundle), place, weights, len(rows)))
        loss = {"quantity": "bits_per_byte", "stored": 2.34567, "float32": 2.3, "rows": len(rows)}
        sizes = {"type": weights, "bytes": 1_200_000, "float32_bytes": 4_700_000, "held_out": loss}
        return {"weights": sizes}

    monkeypatch.setattr("firth.serving.bundle.export_stored", export_stored)
    make_run(tmp_path / "firth-runs", rows=True)
    result = firth("export", "mine", "--weights", "int8")
    assert result.exit_code == 0, result.output
    assert asked == [(str(tmp_path / "firth-runs" / "mine" / "bundle"), "mine-int8", "int8", 10)]
    first, last = result.stdout.splitlines()
    assert first.startswith("mine-int8: ") and "int8, 1.2 MB instead of 4.7 MB" in first
    assert "bits per byte 2.3457" in first and "2.3000 in float32" in first and "10 held-out rows" in first
    assert "firth predict mine-int8" in last


def test_bad_input_is_refused(firth, tmp_path):
    make_run(tmp_path / "firth-runs", rows=False)
    result = firth("export", "mine", "--weights", "int4")
    assert (
        result.exit_code == 2 and "weights: 'int4' is not a choice here; did you mean int8?" in result.stderr
    )
    result = firth("export", "mine", "--weights", "int8", "--format", "hf")
    assert result.exit_code == 2 and "give one of --format, --weights, --schema and" in result.stderr
    result = firth("export", "mine", "--weights", "int8", "--option", "opset=17")
    assert result.exit_code == 2 and "--option goes with --format" in result.stderr
    (tmp_path / "order.json").write_text('{"type": "object",}')
    for schemas, named in (
        (["order"], "NAME=FILE"),
        (["order=no.json"], "no.json"),
        (["order=order.json"], "order.json:1"),
    ):
        result = firth("export", "mine", *(part for each in schemas for part in ("--schema", each)))
        assert result.exit_code == 2 and named in result.stderr, result.output
    result = firth("export", "nowhere", "--weights", "int8")
    assert result.exit_code == 2
