"""Checks of commands that are read and not run: one for each program."""

import json
import os
import pathlib
import re
import shlex
from unittest import mock

import typer

from firth.cli.main import app
from firth.pipelines.metadata_stores import PASSWORD_VARIABLE
from firth.serving.signatures import SIGNATURES
from firth.training.workers import check_cluster
from tests.docs.snippets import REPOSITORY
from tests.exported_model import exported_model, loaded_model


def check(command: str) -> None:
    """Fails if a command cannot work as it is written."""
    for each in command.split(" && "):
        _check_one(shlex.split(each))


def _check_one(words):
    while re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        words = words[1:]
    CHECKS[pathlib.PurePath(words[0]).name or words[0]](words[1:])


def _firth(words):
    command = typer.main.get_command(app)
    while hasattr(command, "resolve_command"):
        name, command, words = command.resolve_command(command.context_class(command), words)
    given = command.make_context("firth", words).params
    # Without a signature the command lists those that there are.
    assert name != "predict" or given["task"] is None or given["task"].replace("-", "_") in SIGNATURES


def _make(words):
    targets = re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(), flags=re.MULTILINE)
    named = dict(word.split("=", 1) for word in words if "=" in word)
    asked = [word for word in words if "=" not in word]
    assert asked and set(asked) <= set(targets)
    assert set(named) <= {"FOLDER"} and all((REPOSITORY / folder).is_dir() for folder in named.values())


def _activate(words):
    assert words == [".venv/bin/activate"]


def _python(words):
    """A module or a script of the repository, and paths in it."""
    if words[:2] == ["-m", "venv"]:
        return
    module = REPOSITORY / f"{words[1].replace('.', '/')}.py"
    assert words[:2] == ["-m", "pytest"] or (module if words[0] == "-m" else REPOSITORY / words[0]).exists()
    _exist(words[2:] if words[0] == "-m" else words)


def _pip(words):
    """Files of constraints and extras of this package; what else is installed is a peer of the benchmarks."""
    assert words[0] in ("install", "download")
    extras = re.findall(r'^    "(\w+)": ', (REPOSITORY / "setup.py").read_text(), flags=re.MULTILINE)
    for word in words[1:]:
        if named := re.fullmatch(r"\.\[(.+)\]", word):
            assert set(named[1].split(",")) <= set(extras)
    _exist(words[1:])


def _hf(words):
    """A download of huggingface_hub, of a model into a folder of its name."""
    assert words[0] == "download" and words[2:] == ["--local-dir", words[1].partition("/")[2]]


def _unzip(words):
    assert words[0] == "-q" and words[1].endswith(".whl") and words[2] == "-d"


def _exist(words):
    assert all((REPOSITORY / word).exists() for word in words if re.fullmatch(r"[\w.-]+(/[\w.-]+)+", word))


def _tensorboard(words):
    option, folder = words
    assert option == "--logdir"
    assert re.fullmatch(r"firth-runs/\w+/pipeline/Trainer/model_run", folder)


def _tfx(words):
    """`tests/pipelines/local_runner_test.py` runs the first of them."""
    assert words[:2] in (["pipeline", "create"], ["run", "create"]) and words[2] == "--engine=local"
    _exist([word.partition("=")[2] for word in words[3:]])


def _docker(words):
    """An image that is built, or TensorFlow Serving with a run's model."""
    if words[0] == "build":
        assert words[1] == "-f" and words[-1] == "."
        _exist(words[2:3])
        return
    image = words.index("tensorflow/serving")
    mounted = re.fullmatch(r"\$PWD/firth-runs/(\w+)/serving:/models/(\w+)", words[words.index("-v") + 1])
    assert words[words.index("-e") + 1] == f"MODEL_NAME={mounted[2]}"
    assert words[words.index("-p") + 1] == "8501:8501"
    _batching(words[image + 1 :], f"--batching_parameters_file=/models/{mounted[2]}/1/")


def _batching(options, version):
    """The file is one of those next to the exported model."""
    if options:
        switch, file = options
        assert switch == "--enable_batching" and file.startswith(version)
        assert (pathlib.Path(exported_model().directory) / file.removeprefix(version)).exists()


def _curl(words):
    """The request names a signature of the exported model, and its inputs."""
    option, body, url = words
    assert option == "-d"
    request = json.loads(body)
    signature = loaded_model().signatures[request["signature_name"]]
    assert set(request["inputs"]) == set(signature.structured_input_signature[1])
    assert re.fullmatch(r"localhost:8501/v1/models/\w+:predict", url)


def _export(words):
    """The processes of a training, which `firth train-worker` would read, or the password of a store."""
    name, _, value = words[0].partition("=")
    if name == PASSWORD_VARIABLE:
        return
    assert name == "TF_CONFIG"
    with mock.patch.dict(os.environ, {name: value}):
        assert check_cluster() == 2


CHECKS = {
    "firth": _firth,
    "make": _make,
    ".": _activate,
    "python": _python,
    "python3.11": _python,
    "pip": _pip,
    "unzip": _unzip,
    "hf": _hf,
    "tensorboard": _tensorboard,
    "tfx": _tfx,
    "docker": _docker,
    "curl": _curl,
    "export": _export,
}
