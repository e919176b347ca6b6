"""A model of another library that the command has imported, made once for all tests that ask or export it."""

import os
import pathlib

import pytest
from typer.testing import CliRunner

from firth.cli.main import app
from tests.interop.hugging_face.checkpoints import checkpoint
from tests.made_once import MadeOnce

PRINTED = "printed.txt"


def imported_model(made_once: MadeOnce) -> pathlib.Path:
    """Returns a folder whose `firth-runs/tiny` is an imported BERT; `PRINTED` is the command's output."""
    return made_once("imported_model", _write)


def _write(folder: pathlib.Path) -> None:
    (folder / "published").mkdir(parents=True)
    path = checkpoint(folder / "published")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("COLUMNS", "200")
        patch.delenv("FIRTH_ROOT", raising=False)
        result = CliRunner().invoke(app, ["import", "hf", os.path.relpath(path, folder), "--name", "tiny"])
    assert result.exit_code == 0, result.output
    (folder / PRINTED).write_text(result.stdout)
