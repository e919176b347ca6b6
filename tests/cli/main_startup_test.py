"""Modules that commands load before they have work to do, in new processes."""

import json
import os
import subprocess
import sys

import pytest
import typer

from firth.cli.main import app
from tests.cli.conftest import METRICS
from tests.recipes.bundles import write_bundle

HEAVY = ("tensorflow", "tfx", "keras", "numpy", "apache_beam", "matplotlib", "firth.recipes")
COUNT = """
import sys
from firth.cli.main import app
for commands in {groups!r}:
    for arguments in commands:
        try:
            app(arguments)
        except SystemExit as end:
            assert end.code == 0, end.code
    print("loaded:", *sorted({heavy!r} & sys.modules.keys()))
"""
HELP = [["--help"], ["--version"], *([name, "--help"] for name in ("run", "curate", "compare", "predict"))]


def loaded_by(*groups):
    """Returns the heavy modules that are loaded after each group of commands, in one new process."""
    program = COUNT.format(groups=list(groups), heavy=set(HEAVY))
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return [set(line.split()[1:]) for line in process.stdout.splitlines() if line.startswith("loaded:")]


def test_commands_load_no_more_than_they_need(make_run, tmp_path):
    for name in ("a", "b"):
        make_run(name, summary={"blessed": True, "evaluation": {"overall": METRICS}})
    show = ["show", "bert_mini", "--set", "training.steps=500"]
    compare = ["compare", "a", "b", "--root", str(tmp_path / "firth-runs")]
    # Help of `generate` names the values of a request, which come from recipe types.
    helped, of_a_request, shown, compared = loaded_by(
        HELP, [["generate", "--help"]], [show, ["recipes"]], [compare]
    )
    assert helped == set()
    assert of_a_request <= {"numpy", "firth.recipes"}
    assert shown <= {"numpy", "firth.recipes"}
    assert compared == {"numpy", "matplotlib", "firth.recipes"}


def test_predict_loads_no_more_than_tensorflow_needs(tmp_path):
    from tests.reports.stub_model import save_stub_model

    save_stub_model(tmp_path)
    program = (
        "import sys; from firth.cli.main import app\n"
        "try: app(['predict', sys.argv[1], 'embed', 'four'])\n"
        "except SystemExit: pass\n"
        "heavy = {'tensorflow', 'tfx', 'apache_beam', 'matplotlib', 'pandas', 'sklearn', 'keras_hub'}\n"
        "heavy |= {'firth.objectives', 'firth.recipes', 'tensorflow_serving'}\n"
        "print(*sorted(heavy & sys.modules.keys()))"
    )
    process = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True)
    assert process.stdout.splitlines()[-1] == "tensorflow", process.stderr[-2000:]


HIDDEN_OF_RUNS = (
    "import sys; from firth.cli.output import OF_RUNS, packages_hidden\n"
    "with packages_hidden():\n"
    "    from firth.corpus import fork_workers\n"
    "    import {modules}\n"
    "print('loaded:', *sorted({{*OF_RUNS}} & sys.modules.keys()))\n"
    "import pymongo"
)


# The test before has a command that hides packages from TensorFlow and Keras.
@pytest.mark.repeated
@pytest.mark.parametrize(
    "modules", ["keras", "firth.training.strategies, firth.pipelines.finetune, firth.pipelines.pretrain"]
)
def test_a_run_loads_no_clients_of_other_stores_and_no_plots_of_keras(modules):
    program = HIDDEN_OF_RUNS.format(modules=modules)
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr[-2000:]
    assert process.stdout.splitlines()[-1] == "loaded:"


# By wrong command, a part of its error message.
WRONG = {
    "run nothere": "no preset is named 'nothere'",
    "run demo --set nokey=1": "nokey: unknown key",
    "run demo --base nothere": "is named 'nothere'",
    "run demo --text nothing*.txt": "nothing*.txt matches no file",
    "curate demo --set nokey=1": "nokey: unknown key",
    "show nothere": "no preset is named 'nothere'",
    "finetune base": "give a BASE and a --task",
    "finetune base --task sst2": "name its folder with --data",
    "finetune base --task sst --data .": "did you mean sst2?",
    "finetune base --task clasification": "'clasification' needs data",
    "finetune base --task classification --train a.csv --data x": "give one of them",
    "finetune base --task classification --train absent.csv": "absent.csv",
    "finetune base --task classification --train a.csv --text txt": "did you mean text?",
    "finetune base --task classification --train a.csv --method haed": "did you mean head?",
    "finetune base --task classification --train a.csv --set epochs=no": "epochs",
    "finetune nothere --task classification": "is named 'nothere'",
    "finetune --recipe absent.yaml": "absent.yaml: no such file",
    "glue base --data absent": "there is no such folder",
    "glue base --data . --task rta": "did you mean rte?",
    "compile demo --to nowhere": "No such option: --to",
    "report nothere": "no run nothere",
    "compare one two": "no run one",
    "predict nothere embed x": "no run nothere",
    "predict nothere embed x --engine onnx": "there is no 'onnx'",
    "predict nothere embed x --parameter y": "NAME=NUMBER",
    "generate nothere x": "is named 'nothere'",
    "generate base x --choice a --regex a": "one constraint",
    "schema absent.json": "absent.json: No such file",
    "generate base x --engine onnx": "there is no 'onnx'",
    "generate base x --temperature y": "must be a valid number",
    "import hf all-MiniLM-L6-v2": "hf download OWNER/all-MiniLM-L6-v2 --local-dir all-MiniLM-L6-v2",
    "import hf sentence-transformers/all-MiniLM-L6-v2": "hf download sentence-transformers/all-MiniLM-L6-v2",
    "import keras bert_tiny_en_uncased": "nothing is downloaded",
    "import elmo elmo_original": "nothing is downloaded",
    "import tensorflow uncased_L-12_H-768_A-12": "nothing is downloaded",
    "import hf base --name a/b": "not a run's name",
    "export nothere --format hf": "is named 'nothere'",
    "export base --format bogus": "there is no format 'bogus'",
    "merge nothere x --name y": "is named 'nothere'",
    "serve nothere": "no run nothere",
    "playground nothere": "no run nothere",
    "evaluate nothere --tasks absent": "lm-eval",
}
REFUSED = """
import functools, json, sys, typer.testing
from typer.testing import CliRunner
from firth.cli.main import app
typer.testing._get_command = functools.cache(typer.testing._get_command)
for command in json.loads(sys.argv[1]):
    ended = CliRunner().invoke(app, command.split())
    loaded = sorted({"tensorflow", "tfx"} & sys.modules.keys())
    print(json.dumps([command, ended.exit_code, " ".join(ended.output.split()), loaded]))
"""


def test_no_subcommand_loads_tensorflow_to_refuse_its_arguments(tmp_path):
    write_bundle(tmp_path / "firth-runs" / "base" / "bundle")
    (tmp_path / "a.csv").write_text("text,label\nthe cat,a\nthe word,b\n")
    assert {command.split()[0] for command in WRONG} >= subcommands() - {
        "curation",
        "recipes",
        "runs",
        "train-worker",
    }
    arguments = [sys.executable, "-c", REFUSED, json.dumps(list(WRONG))]
    environment = {**os.environ, "COLUMNS": "1000"}
    process = subprocess.run(arguments, capture_output=True, text=True, cwd=tmp_path, env=environment)
    ended = [json.loads(line) for line in process.stdout.splitlines()]
    assert len(ended) == len(WRONG), process.stderr
    for command, code, said, loaded in ended:
        assert code == 2 and WRONG[command] in said, (command, said)
        assert loaded == [], command
    assert [each.name for each in (tmp_path / "firth-runs").iterdir()] == ["base"]


def subcommands():
    return set(typer.main.get_command(app).commands)
