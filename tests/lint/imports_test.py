"""Imports and deps that BUILD does not allow."""

import pytest

from scripts.docs.build_file import Target
from scripts.lint.imports import dep_faults, faults, import_faults, target_of
from scripts.lint.sources import Source, repository_of

TARGETS = {
    "firth": Target({"layers"}, set()),
    "features": Target(set(), set()),
    "layers": Target({"layers/attention", "features"}, {"keras", "pyyaml"}),
    "layers/attention": Target({"features"}, {"keras"}),
    "layers/blocks": Target({"layers/attention"}, {"keras"}),
    "layers/search": Target({"layers"}, set()),
    "serving": Target({"layers"}, {"tensorflow"}),
}
BUILD = """py_library(
    name = "a",
    deps = [":b"],
)

py_library(
    name = "b",
    deps = {deps},
)
"""


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("import tfx", "1: layers/attention may not import tfx:"),
        ("import yaml", "1: layers/attention may not import pyyaml:"),
        (
            "def f():\n    from firth.components import Curator",
            "2: layers/attention may not import firth.compon",
        ),
        ("from firth import serving", "1: layers/attention may not import firth.serving:"),
        (
            "from firth.layers.blocks import add",
            "1: layers/attention may not import firth.layers.blocks.add:",
        ),
        (
            "from firth.layers import FeedForward",
            "1: layers/attention may not import firth.layers.FeedForward:",
        ),
        ("from . import x", "1: relative import; write `firth.layers.attention.x`"),
        ("from .y import x", "1: relative import; write `firth.layers.attention.y.x`"),
    ],
)
def test_an_import_that_is_not_allowed_is_noticed(source, complaint):
    (found,) = import_faults(Source("layers/attention/x.py", source), TARGETS)
    assert str(found).startswith(f"firth/layers/attention/x.py:{complaint}")


@pytest.mark.parametrize(
    ("place", "source"),
    [
        ("layers/attention/x.py", "import os.path, keras\nfrom firth.features import ROW"),
        ("layers/attention/x.py", "from firth.layers.attention.y import z"),
        ("layers/x.py", "import yaml\nfrom firth.layers.attention import y"),
        # Who may import a folder may import its rooms.
        ("serving/x.py", "from firth.layers.blocks.y import z"),
        ("__init__.py", "from firth import layers"),
    ],
)
def test_an_import_that_is_allowed_is_not(place, source):
    assert list(import_faults(Source(place, source), TARGETS)) == []


def test_a_room_that_may_import_its_folder_may_not_import_other_rooms():
    imports = "from firth.layers.x import y\nfrom firth.layers.blocks import z"
    (found,) = import_faults(Source("layers/search/x.py", imports), TARGETS)
    assert found.line == 2 and found.sentence.startswith("layers/search may not import firth.layers.blocks.z")


def test_a_refusal_names_the_line_of_the_target_in_build():
    build = BUILD.format(deps="[]")
    (found,) = faults(repository_of({"b/x.py": "\nimport firth.a"}, build))
    assert str(found) == "firth/b/x.py:2: b may not import firth.a: it is not in the deps at BUILD:7"


def test_the_clients_of_google_cloud_are_not_loaded():
    targets = {"components": Target(set(), {"tfx"})}
    (found,) = import_faults(Source("components/x.py", "import tfx.v1.dsl\nfrom tfx.dsl import io"), targets)
    assert found.line == 1 and "loads the clients" in found.sentence


def test_a_cycle_is_noticed():
    build = BUILD.format(deps='[":a"]')
    (found,) = faults(repository_of({}, build))
    assert str(found) == "BUILD:7: the targets import each other: a -> b -> a"


def test_a_dep_that_is_no_target_is_noticed():
    (found,) = dep_faults({"layers": Target({"featurs"}, set()), "features": Target(set(), set())}, "")
    assert found.sentence == 'layers: the dep ":featurs" is not a target; did you mean ":features"?'


@pytest.mark.parametrize(
    ("place", "target"),
    [
        ("__init__.py", "firth"),
        ("features.py", "features"),
        ("layers/attention/deep/x.py", "layers/attention"),
        ("layers/norms/x.py", "layers"),
    ],
)
def test_a_file_belongs_to_the_innermost_target(place, target):
    assert target_of(place, TARGETS) == target
