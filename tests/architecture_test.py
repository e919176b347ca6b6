"""BUILD is the drawing of the house and its rule: folders, who imports whom, and which third parties."""

import ast
import pathlib
import sys
from collections import Counter

import pytest

from scripts.docs.build_file import read_targets
from tests.storage_rule import LOCAL, file_calls

REPOSITORY = pathlib.Path(__file__).parents[1]
PACKAGE = REPOSITORY / "firth"
TESTS = REPOSITORY / "tests"

# Import names that differ from the distribution's.
DISTRIBUTIONS = {
    "absl": "absl_py",
    "stdnum": "python_stdnum",
    "sklearn": "scikit_learn",
    "yaml": "pyyaml",
    "tensorflow_serving": "tensorflow_serving_api",
    "google": "protobuf",
}
# firth/__init__.py and __main__.py stand for the whole package.
ROOT_FILES = {"__init__.py", "__main__.py"}


TARGETS = read_targets((REPOSITORY / "BUILD").read_text())


def target_of(path: pathlib.Path) -> str:
    """Returns the target that a source file belongs to."""
    relative = path.relative_to(PACKAGE)
    if len(relative.parts) == 1:
        return "firth" if relative.name in ROOT_FILES else relative.stem
    return nearest(relative.parts[:-1], TARGETS)


def nearest(parts, targets) -> str:
    """Returns the target of the innermost folder that has one of its own: a room's, or its folder's."""
    names = ("/".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((name for name in names if name in targets), "firth")


def allowed(imported: str, home: str, inner: set[str]) -> bool:
    """Who may import a folder may import its rooms; what is in a folder, its rooms only as its deps say."""
    return imported == home or imported in inner or imported.split("/")[0] in inner


def imports_of(tree: ast.AST):
    """Yields (line, dotted name) of every import, wherever in the file it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import"
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def test_tfx_is_imported_without_the_clients_of_google_cloud():
    """`tfx.v1` takes five seconds more than its components: it loads the client of every service."""
    sources = {path: path.read_text() for path in PACKAGE.rglob("*.py")}
    assert not [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path, source in sources.items()
        if "tfx" in source
        for line, name in imports_of(ast.parse(source))
        if name.startswith("tfx.v1")
    ]


def violations(path: pathlib.Path, source: str, targets=None) -> list[str]:
    """Returns a sentence for each import of a file that its target's deps do not allow."""
    targets = targets or TARGETS
    home = target_of(path)
    inner, outer = targets[home]
    found = []
    for line, name in imports_of(ast.parse(source)):
        top, *rest = name.split(".")
        if top == "firth":
            imported = nearest(rest, targets)
            if not allowed(imported, home, inner):
                found.append(f"{path.name}:{line}: firth.{home} may not import {name}")
        elif top not in sys.stdlib_module_names:
            distribution = DISTRIBUTIONS.get(top, top)
            if distribution not in outer:
                found.append(f"{path.name}:{line}: firth.{home} may not import {distribution}")
    return found


def sources() -> list[pathlib.Path]:
    return sorted(PACKAGE.rglob("*.py"))


def test_artifacts_are_touched_by_storage_alone():
    calls = {path.relative_to(PACKAGE): file_calls(path.read_text()) for path in sources()}
    found = [
        f"{path}:{line}: {name}"
        for path, of_file in calls.items()
        for line, name in of_file
        if path.parts[0] != "storage" and name not in allowed_calls(path)
    ]
    assert found == []


def allowed_calls(path: pathlib.Path) -> list[str]:
    return LOCAL[str(path)][0].split() if str(path) in LOCAL else []


@pytest.mark.parametrize("path", LOCAL)
def test_what_is_local_makes_the_calls_that_it_may_make(path):
    made = {name for _, name in file_calls((PACKAGE / path).read_text())}
    assert sorted(made) == sorted(allowed_calls(pathlib.Path(path)))


@pytest.mark.parametrize(
    "source",
    [
        "open('a')",
        "def f(path):\n    with path.open() as file: ...",
        "os.replace(a, b)",
        "from os import replace\nreplace(a, b)",
        "os.path.exists(a)",
        "os.path.getmtime(a)",
        "from os import path as names\nnames.isdir(a)",
        "a.is_file()",
        "shutil.rmtree(a)",
        "shutil.disk_usage(a)",
        "tempfile.mkdtemp()",
        "glob.glob('*')",
        "pathlib.Path('a').write_text('b')",
        "import tensorflow as tf\ntf.io.gfile.GFile(a)",
        "import tensorflow as tf\ntf.io.gfile.exists(a)",
        "import tensorflow as tf\ntf.io.TFRecordWriter(a)",
        "from tensorflow.io import gfile",
        "from tfx.dsl.io import fileio",
        "from tfx.dsl.io.fileio import exists",
        "from tfx.utils import io_utils\nio_utils.copy_dir(a, b)",
        "import numpy as np\nnp.load(a)",
        "import numpy as np\nnp.savez(a, b=c)",
        "import numpy\nnumpy.memmap(a)",
        "from apache_beam.io.filesystems import FileSystems\nFileSystems.match([a])",
    ],
)
def test_another_door_is_noticed(source):
    assert file_calls(source)


@pytest.mark.parametrize(
    "source",
    [
        "from firth import storage\nstorage.glob(a)",
        "os.path.join(a, b)",
        "import numpy as np\nnp.asarray(a)",
        "text.replace(a, b)",
        "import glob\nglob.escape(a)",
    ],
)
def test_what_touches_no_file_is_no_door(source):
    assert file_calls(source) == []


def test_every_folder_has_a_target_and_every_target_a_folder():
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    for folder in list(folders):
        rooms = [path.parent for path in (PACKAGE / folder).glob("*/__init__.py")]
        folders |= {f"{folder}/{room.name}" for room in rooms if f"{folder}/{room.name}" in TARGETS}
        # All rooms of a folder have a target, or none has.
        assert sum(name.startswith(f"{folder}/") for name in folders) in (0, len(rooms)), folder
    files = {path.stem for path in PACKAGE.glob("*.py") if path.name not in ROOT_FILES}
    assert set(TARGETS) == folders | files | {"firth"}


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_are_allowed_by_build(path):
    assert violations(path, path.read_text()) == []


def test_there_is_no_cycle():
    done: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, " -> ".join([*above, name])
        if name not in done:
            for dep in TARGETS[name][0]:
                visit(dep, (*above, name))
            done.add(name)

    for name in TARGETS:
        visit(name, ())


def test_no_file_is_longer_than_five_hundred_lines():
    long = {str(path): n for path in sources() if (n := len(path.read_text().splitlines())) > 500}
    assert long == {}


def test_no_folder_holds_more_than_two_dozen_modules():
    modules = Counter(path.parent for path in sources() if path.name != "__init__.py")
    assert {str(folder): count for folder, count in modules.items() if count > 24} == {}


def shared_names(sources_by_place: dict[str, str]) -> dict[str, list[str]]:
    """Returns the places of each public class whose name another class has too."""
    places: dict[str, list[str]] = {}
    for place, source in sources_by_place.items():
        for node in ast.parse(source).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(place)
    return {name: found for name, found in places.items() if len(found) > 1}


def test_no_two_classes_share_a_name():
    """A recipe type and what is built from it have two names; each component of TFX has an `Executor`."""
    found = shared_names({str(path.relative_to(PACKAGE)): path.read_text() for path in sources()})
    assert all(place.endswith("/executor.py") for place in found.pop("Executor"))
    assert found == {}


def test_a_shared_name_is_noticed():
    source = "class A: ...\nclass _B: ..."
    assert shared_names({"a": source, "b": source, "c": "class C: ..."}) == {"A": ["a", "b"]}


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("import tfx", "may not import tfx"),
        ("def f():\n    from firth.components import Curator", "may not import firth.components.Curator"),
        ("from firth import serving", "may not import firth.serving"),
        ("from firth.layers.blocks import feed_forward", "may not import firth.layers.blocks.feed_forward"),
        ("from firth.layers import FeedForward", "may not import firth.layers.FeedForward"),
    ],
)
def test_the_rule_itself_notices(source, complaint):
    found = violations(PACKAGE / "layers" / "attention" / "x.py", source)
    assert len(found) == 1
    assert complaint in found[0]


# Tests, and folders of tests, that test something outside of `firth/`, or all of it.
OUTSIDE = {
    "additions_test": "what an addition to any folder touches",
    "architecture_test": "BUILD and the folders",
    "beam_lookups_test": "Beam, in the tests of every folder",
    "docs": "README.md, the site, and scripts/docs",
    "docstrings_test": "the docstrings of every folder",
    "pipelines/examples_scripts_test": "examples/",
    "pipelines/examples_test": "examples/",
    "kinds_rule_test": "the tables by kind, in the sources of every folder",
    "private_parts_test": "private names, in the sources of every folder",
    "setup_test": "setup.py",
    "shared_data_test": "../shared/data and its twins",
}


def is_placed(test: str, modules: set[str]) -> bool:
    """Whether a test is named after a module or folder in its folder of `firth/`, or after that folder."""
    folder, _, name = test.removesuffix("_test").rpartition("/")
    subjects = {module.rpartition("/")[2] for module in modules if module.rpartition("/")[0] == folder}
    subjects.add(folder.rpartition("/")[2])
    return any(f"{name}_".startswith(f"{subject}_") for subject in subjects if subject)


def test_tests_mirror_the_package():
    """`x_test.py` or `x_<theme>_test.py` tests the module or folder `x`, or the folder that it stands in."""
    tests = {path.relative_to(TESTS).with_suffix("").as_posix() for path in TESTS.rglob("*_test.py")}
    files = {path.relative_to(PACKAGE).with_suffix("").as_posix() for path in sources()}
    folders = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*") if path.is_dir()}
    inside = {test for test in tests if not {test, test.rpartition("/")[0]} & OUTSIDE.keys()}
    assert sorted(test for test in inside if not is_placed(test, files | folders)) == []
    assert is_placed("layers/recurrent/lstm_theme_test", files) and not is_placed("layers/lstm_test", files)
