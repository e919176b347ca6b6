"""TFX's own command line takes the pipeline file that the library ships."""

import os
import pathlib
import subprocess
import sys

import pytest

PIPELINE_FILE = pathlib.Path(__file__).parents[2] / "firth" / "pipelines" / "local_runner.py"


@pytest.mark.repeated
def test_tfx_pipeline_create(tmp_path):
    scripts = pathlib.Path(sys.executable).parent
    # As in an activated environment: TFX runs the `pip` that it finds.
    path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
    process = subprocess.run(
        [scripts / "tfx", "pipeline", "create", "--engine=local", f"--pipeline_path={PIPELINE_FILE}"],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "HOME": str(tmp_path), "FIRTH_RECIPE": "bert_tiny"},
        capture_output=True,
        text=True,
    )
    assert 'Pipeline "bert_tiny" created successfully.' in process.stdout, process.stderr[-2000:]
    # Creating compiles the pipeline; nothing of it runs.
    assert list(tmp_path.glob("tfx/**/pipeline_args.json"))
    assert not (tmp_path / "firth-runs" / "bert_tiny" / "pipeline").exists()
