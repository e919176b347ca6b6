"""Packages that load their names on first use: what runs, and what a type checker sees."""

import importlib
import os
import pathlib
import subprocess
import sys

import pytest

PACKAGE = pathlib.Path(__file__).parents[1] / "firth"
STUBS = sorted(PACKAGE.rglob("__init__.pyi"))
PACKAGES = [".".join(stub.parent.relative_to(PACKAGE.parent).parts) for stub in STUBS]
# Only the packages themselves: whether a stub's names are where it says is for mypy's run over the sources.
CONFIG = "[mypy]\nignore_missing_imports = true\nfollow_imports = skip\n" + "".join(
    f"[mypy-{package}]\nfollow_imports = normal\n" for package in ["firth", *PACKAGES]
)


def test_there_are_stubs():
    assert {"firth.components", "firth.training"} <= set(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES)
def test_names_are_listed_and_given(package):
    module = importlib.import_module(package)
    assert module.__all__ and dir(module) == module.__all__ == sorted(set(module.__all__))
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_a_misspelt_name_names_the_nearest():
    import firth.components
    import firth.training

    with pytest.raises(
        AttributeError, match=r"'firth\.training' .*'Chekpoints'; did you mean 'Checkpoints'\?"
    ):
        _ = firth.training.Chekpoints
    with pytest.raises(AttributeError, match=r"has no attribute 'zzz'$"):
        _ = firth.components.zzz


def test_a_type_checker_sees_the_names_and_no_others(tmp_path):
    (tmp_path / "mypy.ini").write_text(CONFIG)
    names = {package: importlib.import_module(package).__all__ for package in PACKAGES}
    lines = [f"from {package} import {name}" for package in PACKAGES for name in names[package]]
    misspelt = [f"from {package} import {names[package][0]}s" for package in PACKAGES]
    (tmp_path / "user.py").write_text("\n".join([*lines, *misspelt]) + "\n")
    command = [sys.executable, "-m", "mypy", "--config-file=mypy.ini", "--no-error-summary", "user.py"]
    environment = {"MYPYPATH": str(PACKAGE.parent), "PYTHONPATH": str(PACKAGE.parent)}
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    complaints = [line for line in run.stdout.splitlines() if ": error: " in line]
    assert len(complaints) == len(misspelt), run.stdout + run.stderr
    for line, (package, complaint) in enumerate(zip(PACKAGES, complaints), start=len(lines) + 1):
        assert complaint.startswith(f"user.py:{line}: ") and "maybe" in complaint
        assert f'"{package}" has no attribute "{names[package][0]}s"' in complaint


def test_layers_are_loaded_at_once_so_that_keras_finds_the_classes_of_saved_ones():
    code = (
        "import sys, keras, firth.layers\n"
        "names = set(firth.layers.__all__) & {'Embedding', 'LSTM', 'Pooler', 'CausalTransformer'}\n"
        "print(*(name for name in names if keras.saving.get_registered_object(f'firth>{name}')))\n"
        "print('firth.recipes.models.stack' in sys.modules, firth.layers.StackConfig.__name__)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    registered, stack = run.stdout.splitlines()
    assert set(registered.split()) == {"Embedding", "LSTM", "Pooler", "CausalTransformer"}, run.stderr
    assert stack == "False StackConfig"
