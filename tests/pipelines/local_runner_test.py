"""TFX's own command line takes the pipeline file that the library ships."""

import os
import pathlib
import subprocess
import sys
import types

import filelock
import pytest

from firth.models import save_model
from firth.pipelines.local_runner import RecipeRunner
from firth.recipes import load_recipe, recipe_to_yaml
from firth.tokenizers import save_tokenizer
from tests.exported_model import RECIPE, make_served
from tests.pipelines.bucket_server import OVERRIDES

PIPELINE_FILE = pathlib.Path(__file__).parents[2] / "firth" / "pipelines" / "local_runner.py"
TASK = """
name: texts
base: {{bundle: {bundle}}}
task: {{kind: classification}}
evaluation: {{beats_constant: false}}
data: {{kind: columns, train: texts.csv}}
sequences: {{length: 32}}
epochs: 1
examples_per_step: 8
"""
# The part of `local.run` in which it failed when TensorFlow had started; it ends there.
DEVICES = """
import types
import tensorflow as tf
from firth.pipelines import local, local_runner
from firth.training.strategies import prepare_devices

def run(recipe, root, options):
    prepare_devices(recipe.training)
    print("devices:", len(tf.config.list_logical_devices("CPU")), "root:", root.name, end=" ")
    print("verbose:", options.verbose)
    return types.SimpleNamespace(blessed=True, served="serving/1")

local.run = run
local_runner.main()
"""


@pytest.fixture
def environment(tmp_path):
    """Variables that name a recipe which trains on two replicas."""
    replicas = ("training.strategy=mirrored", "training.replicas=2")
    recipe = load_recipe("demo", ["name=tiny", *OVERRIDES, *replicas])
    (tmp_path / "tiny.yaml").write_text(recipe_to_yaml(recipe))
    # As in an activated environment: TFX runs the `pip` that it finds.
    path = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    checkout = str(PIPELINE_FILE.parents[2])
    return {
        **os.environ,
        "PYTHONPATH": checkout,
        "PATH": path,
        "HOME": str(tmp_path),
        "FIRTH_RECIPE": f"{tmp_path}/tiny.yaml",
    }


def run(folder, environment, *command):
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.repeated
def test_what_tfx_creates_compiles_and_lists_runs_to_a_served_model(tmp_path, environment):
    programs = pathlib.Path(sys.executable).parent

    def tfx(*arguments):
        return run(tmp_path, environment, programs / "tfx", *arguments, "--engine=local")

    made = tfx("pipeline", "create", f"--pipeline_path={PIPELINE_FILE}")
    assert 'Pipeline "tiny" created successfully.' in made.stdout, made.stderr[-2000:]
    compiled = tfx("pipeline", "compile", f"--pipeline_path={PIPELINE_FILE}")
    assert "Pipeline compiled successfully." in compiled.stdout, compiled.stderr[-2000:]
    assert "tiny" in tfx("pipeline", "list").stdout.split()
    # Nothing of it has run.
    run_dir = tmp_path / "firth-runs" / "tiny"
    assert not (run_dir / "pipeline").exists()
    run_dir.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(run_dir / ".lock"):
        refused = tfx("run", "create", "--pipeline_name=tiny")
    assert f"error: {run_dir} is in use by another run" in refused.stderr + refused.stdout
    done = tfx("run", "create", "--pipeline_name=tiny")
    assert done.returncode == 0, done.stderr[-2000:]
    assert list(run_dir.glob("serving/*/saved_model.pb"))
    # The runner has no list of its own in TFX.
    assert "Not supported for local orchestrator." in tfx("run", "list", "--pipeline_name=tiny").stdout
    listed = run(tmp_path, environment, sys.executable, "-m", "firth", "runs")
    (line,) = [line.split() for line in listed.stdout.splitlines() if line.startswith("tiny")]
    assert line[:2] == ["tiny", "blessed"]


@pytest.mark.parametrize("blessed", [True, False])
def test_it_ends_with_a_verdict(blessed, tmp_path, capsys):
    reasons = ("accuracy: 0.1, which is not at least 0.5", "a request failed")
    result = types.SimpleNamespace(blessed=blessed, served=tmp_path / "1", reasons=reasons)
    runner = RecipeRunner(load_recipe("demo"), tmp_path, lambda *arguments: result)
    if blessed:
        runner.run_with_ir(None)
        assert capsys.readouterr().out == f"demo is blessed, and served from {tmp_path / '1'}\n"
        return
    with pytest.raises(SystemExit) as ended:
        runner.run_with_ir(None)
    assert ended.value.code == 3 and "; ".join(reasons) in capsys.readouterr().err


@pytest.mark.repeated
def test_what_tfx_run_create_starts_is_a_run_with_its_devices(tmp_path, environment):
    process = run(tmp_path, environment, sys.executable, "-c", DEVICES)
    said = "devices: 2 root: firth-runs verbose: True\ntiny is blessed, and served from serving/1\n"
    assert process.stdout.endswith(said), process.stderr[-2000:]


@pytest.mark.repeated
def test_a_recipe_that_adapts_a_model_runs_to_a_served_model(tmp_path, environment):
    served = make_served(RECIPE)
    save_tokenizer(served.tokenizer, tmp_path / "tokenizer")
    save_model(served.model, RECIPE, tmp_path / "tokenizer", tmp_path / "bundle")
    rows = [f"the word sat on number {each},{('no', 'yes')[each % 2]}" for each in range(40)]
    (tmp_path / "texts.csv").write_text("\n".join(["text,label", *rows]))
    (tmp_path / "task.yaml").write_text(TASK.format(bundle=tmp_path / "bundle"))
    named = {**environment, "FIRTH_RECIPE": "task.yaml"}
    done = run(tmp_path, named, sys.executable, PIPELINE_FILE)
    assert done.returncode == 0, done.stderr[-2000:]
    assert list((tmp_path / "firth-runs" / "texts").glob("serving/*/saved_model.pb"))


@pytest.mark.repeated
def test_an_unknown_recipe_is_said_in_a_sentence(tmp_path, environment):
    done = run(tmp_path, {**environment, "FIRTH_RECIPE": "bert_tinny"}, sys.executable, PIPELINE_FILE)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "error: FIRTH_RECIPE=bert_tinny: " in done.stderr and "bert_tiny" in done.stderr
