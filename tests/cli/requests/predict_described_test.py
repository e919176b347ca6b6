"""`firth predict NAME` lists what the model answers, and TensorFlow is not loaded for it."""

import json
import os
import subprocess
import sys

from tests.exported_model import exported_model
from tests.reports.stub_model import save_stub_model


def test_all_signatures_are_listed_with_their_tensors(firth):
    folder = exported_model().directory
    result = firth("predict", folder)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[:2] == [
        "fill-mask: Proposes pieces for each mask of a text.",
        "  reads text: string [batch]; text with masks; it holds [MASK]",
    ]
    assert "  gives embedding: float32 [batch, 8]; vector of the text" in lines
    assert any(line.startswith("evaluate (not asked by firth predict): ") for line in lines)
    assert any(line.startswith("A row has 24 tokens, special ones included. ") for line in lines)
    assert f"  firth predict {folder} embed 'A sentence.'" in lines
    described = json.loads(firth("predict", folder, "--json").stdout)
    assert described["signatures"]["embed"]["outputs"]["embedding"]["shape"] == ["batch", 8]


def test_nothing_of_tensorflow_is_loaded():
    program = (
        "import sys\n"
        "from firth.cli.main import app\n"
        "try:\n"
        f"    app(['predict', {exported_model().directory!r}])\n"
        "except SystemExit as end:\n"
        "    assert not end.code and 'tensorflow' not in sys.modules, end.code\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("fill-mask: ")


def test_a_model_of_another_program_says_so(firth, tmp_path):
    save_stub_model(tmp_path / "model")
    os.remove(tmp_path / "model" / "assets.extra" / "firth.json")
    result = firth("predict", str(tmp_path / "model"))
    assert result.exit_code == 1 and "nothing describes its signatures" in result.stderr


def test_texts_need_a_task(firth, tmp_path):
    save_stub_model(tmp_path / "model")
    result = firth("predict", str(tmp_path / "model"), "--input", "a.txt", "--output", "b.jsonl")
    assert result.exit_code == 2 and "give a TASK" in result.stderr
