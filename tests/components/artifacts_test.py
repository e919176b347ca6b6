"""Artifact types are found by their names, as TFX looks for them in a container."""

import importlib

import pytest

from firth.components import artifacts

TYPES = [
    each for each in vars(artifacts).values() if getattr(each, "TYPE_NAME", "") and each.__name__[0] != "_"
]


@pytest.mark.parametrize("artifact", [each for each in TYPES if each is not artifacts.Artifact])
def test_a_type_is_a_name_of_the_package(artifact):
    module, _, name = artifact.TYPE_NAME.rpartition(".")
    assert getattr(importlib.import_module(module), name) is artifact
