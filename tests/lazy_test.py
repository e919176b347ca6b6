"""Packages that load their names on first use: what runs, and what a type checker sees."""

import ast
import importlib
import os
import pathlib
import pkgutil

import pytest

import firth
from tests.fresh_process import run_python

PACKAGE = pathlib.Path(__file__).parents[1] / "firth"
STUBS = sorted(PACKAGE.rglob("__init__.pyi"))
PACKAGES = [".".join(stub.parent.relative_to(PACKAGE.parent).parts) for stub in STUBS]


# Packages that not every environment has.
OPTIONAL = {"jax", "tensorflow_io"}


def test_each_module_is_imported():
    names = [each.name for each in pkgutil.walk_packages(firth.__path__, "firth.")]
    assert len(names) > 500
    for name in names:
        if not name.endswith("__main__"):
            try:
                importlib.import_module(name)
            except ImportError as error:
                # firth names the extra to install, and the module that is missing is the cause.
                missing = error.__cause__ or error
                assert isinstance(missing, ModuleNotFoundError) and missing.name, name
                assert missing.name.split(".")[0] in OPTIONAL, name


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


@pytest.mark.parametrize("stub", STUBS, ids=PACKAGES)
def test_a_type_checker_sees_the_names_and_no_others(stub):
    """A stub exports a name that it imports as itself, and `__getattr__` would be any name (PEP 484).

    Whether the names are where the stub says is for mypy's run over the sources.
    """
    statements = ast.parse(stub.read_text(encoding="utf-8")).body
    assert {type(each) for each in statements} == {ast.ImportFrom}
    aliases = [alias for each in statements for alias in each.names]
    assert [alias.name for alias in aliases if alias.asname != alias.name] == []
    package = PACKAGES[STUBS.index(stub)]
    assert sorted(alias.name for alias in aliases) == importlib.import_module(package).__all__


def test_layers_are_loaded_at_once_so_that_keras_finds_the_classes_of_saved_ones():
    code = (
        "import sys, keras, firth\n"
        "names = set(firth.layers.__all__) & {'Embedding', 'LSTM', 'Pooler', 'CausalTransformer'}\n"
        "print(*(name for name in names if keras.saving.get_registered_object(f'firth>{name}')))\n"
        "print('firth.recipes.models.stack' in sys.modules, firth.layers.StackConfig.__name__)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    run = run_python(["-c", code], env=environment)
    registered, stack = run.stdout.splitlines()
    assert set(registered.split()) == {"Embedding", "LSTM", "Pooler", "CausalTransformer"}, run.stderr
    assert stack == "False StackConfig"
