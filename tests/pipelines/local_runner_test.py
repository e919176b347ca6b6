"""TFX's own command line takes the pipeline file that the library ships."""

import os
import pathlib
import subprocess
import sys

import filelock
import pytest

from firth.recipes import load_recipe, recipe_to_yaml

PIPELINE_FILE = pathlib.Path(__file__).parents[2] / "firth" / "pipelines" / "local_runner.py"
# The part of `local.run` in which it failed when TensorFlow had started; it ends there.
DEVICES = """
import tensorflow as tf
from firth.pipelines import local, local_runner
from firth.training.distribution import prepare_devices

def run(recipe, root, options):
    prepare_devices(recipe.training)
    print("devices:", len(tf.config.list_logical_devices("CPU")), "root:", root.name, end=" ")
    print("verbose:", options.verbose)

local.run = run
local_runner.main()
"""


@pytest.fixture
def environment(tmp_path):
    """Variables that name a recipe which trains on two replicas."""
    recipe = load_recipe("demo", ["name=tiny", "training.strategy=mirrored", "training.replicas=2"])
    (tmp_path / "tiny.yaml").write_text(recipe_to_yaml(recipe))
    # As in an activated environment: TFX runs the `pip` that it finds.
    path = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HOME": str(tmp_path), "FIRTH_RECIPE": f"{tmp_path}/tiny.yaml"}


def run(folder, environment, *command):
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.repeated
def test_tfx_pipeline_create(tmp_path, environment):
    tfx = pathlib.Path(sys.executable).parent / "tfx"
    arguments = ("pipeline", "create", "--engine=local", f"--pipeline_path={PIPELINE_FILE}")
    process = run(tmp_path, environment, tfx, *arguments)
    assert 'Pipeline "tiny" created successfully.' in process.stdout, process.stderr[-2000:]
    # Creating compiles the pipeline; nothing of it runs.
    assert list(tmp_path.glob("tfx/**/pipeline_args.json"))
    assert not (tmp_path / "firth-runs" / "tiny" / "pipeline").exists()


@pytest.mark.repeated
def test_what_tfx_run_create_starts_is_a_run_with_its_devices(tmp_path, environment):
    process = run(tmp_path, environment, sys.executable, "-c", DEVICES)
    assert process.stdout.endswith("devices: 2 root: firth-runs verbose: True\n"), process.stderr[-2000:]


@pytest.mark.repeated
def test_what_tfx_run_create_starts_keeps_the_lock_of_the_run(tmp_path, environment):
    run_dir = tmp_path / "firth-runs" / "tiny"
    run_dir.mkdir(parents=True)
    with filelock.FileLock(run_dir / ".lock"):
        refused = run(tmp_path, environment, sys.executable, PIPELINE_FILE)
    assert refused.returncode == 1 and f"error: {run_dir} is in use by another run" in refused.stderr
