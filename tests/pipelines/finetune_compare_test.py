"""Two methods on one base and data, compared by the command from what their runs have measured."""

import re

import pytest
from typer.testing import CliRunner

from firth.cli.main import app
from tests.pipelines.finetune_test import finetune, folder, of_csv  # noqa: F401 (a fixture)

pytestmark = pytest.mark.repeated
OPTIONS = ("--set=epochs=1", "--set=evaluation.beats_constant=false")
NUMBER = r"[\d.,]+"


def test_parameters_memory_time_and_score_of_two_methods_stand_side_by_side(folder, monkeypatch):  # noqa: F811
    for kind in ("head", "lora"):
        result = finetune(folder, *of_csv(), "--name", kind, f"--method={kind}", *OPTIONS)
        assert result.exit_code == 0, result.output
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(app, ["compare", "head", "lora"])
    assert result.exit_code == 0, result.output
    page = (folder / "firth-runs" / "compare_head_lora.html").read_text()
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    trained = re.search(rf"Parameters trained ({NUMBER}) ({NUMBER})", text)
    assert 0 < int(trained[1]) < int(trained[2])
    steps = re.search(rf"Steps ({NUMBER}), for epochs: 1 ({NUMBER}), for epochs: 1", text)
    assert steps[1] == steps[2]
    for measured in (
        rf"Peak memory of the Trainer {NUMBER} GB {NUMBER} GB",
        rf"Time of the Trainer {NUMBER} s {NUMBER} s",
        rf"accuracy {NUMBER} {NUMBER}",
    ):
        assert re.search(measured, text), measured
