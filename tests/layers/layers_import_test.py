"""Importing layers and models loads no more libraries than Keras and its backend load anyway."""

import json
import sys

import pytest

from tests.fresh_process import run_python

# What the server of forks has imported counts as not imported, apart from TensorFlow, which Keras imports.
PROGRAM = """
import json, sys
for name in [name for name in sys.modules if name.split(".")[0] == "tensorflow_text"]:
    del sys.modules[name]
loaded = {}
for name in ("keras", "firth.layers", "firth.models"):
    __import__(name)
    loaded[name] = sorted(sys.modules)
print(json.dumps(loaded))
"""
# The names of firth itself are found by lazy_loader.
OF_LAYERS = {"lazy_loader"}
# Recipe types, which firth.models reads, are pydantic's; safetensors keeps weights.
PYDANTIC = {"annotated_types", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection", "yaml"}
OF_MODELS = {*OF_LAYERS, *PYDANTIC, "safetensors"}


@pytest.fixture(scope="module")
def loaded() -> dict[str, set[str]]:
    """The names in `sys.modules` after each import, one upon the other, in a fresh process."""
    result = run_python(["-c", PROGRAM], check=True)
    return {name: set(modules) for name, modules in json.loads(result.stdout.splitlines()[-1]).items()}


def libraries(modules: set[str]) -> set[str]:
    top = {name.split(".")[0] for name in modules}
    return {name for name in top if name not in sys.stdlib_module_names and not name.startswith("_")}


@pytest.mark.parametrize("package, allowed", [("firth.layers", OF_LAYERS), ("firth.models", OF_MODELS)])
def test_loads_no_library_that_keras_does_not(package, allowed, loaded):
    assert package in loaded[package]
    assert libraries(loaded[package]) - libraries(loaded["keras"]) <= {"firth"} | allowed
    for heavy in ("google.cloud", "apache_beam", "tfx", "tensorflow_text"):
        assert not [name for name in loaded[package] - loaded["keras"] if name.startswith(heavy)]
