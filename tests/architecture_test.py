"""BUILD is the drawing of the house and its rule: folders, who imports whom, and which third parties."""

import ast
import pathlib
import sys
from collections import Counter

import pytest

from firth.recipes import Recipe
from firth.recipes.base.types import configs_in, kinds_of
from firth.recipes.corpus.cleaning import Step
from scripts.docs.build_file import read_targets

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


# What touches files. Artifacts may be in a bucket, so that they are opened, written, moved and listed by
# `firth.storage` alone.
FILE_CALLS = {
    "os": "listdir makedirs mkdir open remove rename replace rmdir scandir unlink walk",
    "shutil": "copy copy2 copyfile copytree move rmtree",
    "glob": "glob iglob",
    "io_utils": "copy_dir copy_file delete_dir write_bytes_file write_string_file write_tfrecord_file",
}
PATH_METHODS = (
    "glob iterdir mkdir open read_bytes read_text rename rglob rmdir touch unlink write_bytes write_text"
)
# What gives bytes or text itself: these are no paths, or doors of their own.
NOT_PATHS = {"FileSystems", "gzip", "lzma", "storage", "webbrowser"}
FILE_MODULES = {"tensorflow.io.gfile", "tfx.dsl.io.fileio"}
# Files that are local by what they are.
LOCAL = {
    "cli": "recipes, pages and run folders of the user's machine",
    "corpus/readers/python_packages.py": "installed packages",
    "models/elmo_import.py": "files that a user downloaded",
    "pipelines/blessing.py": "a local run's folder",
    "pipelines/leftovers.py": "a local run's folder",
    "pipelines/local.py": "a local run's log",
    "pipelines/local_runner.py": "a local run's folder",
    "pipelines/logs.py": "a local run's log",
    "pipelines/run_folder.py": "a local run's folder",
    "recipes": "recipes of the user's machine, and presets",
    "serving/isolated_check.py": "runs without firth, on a local copy",
    "serving/warmup.py": "writes in a folder of `storage.whole_folder`",
    "storage": "the door",
    "tokenizers/graph": "data of the package",
    "training/rows.py": "writes in a folder of `storage.whole_folder`",
}


def file_calls(source: str) -> list[str]:
    """Returns `line: name` of each call that touches files, and of each import of another door to them."""
    tree = ast.parse(source)
    found = [f"{line}: {name}" for line, name in imports_of(tree) if name in FILE_MODULES]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "gfile":
            found.append(f"{node.lineno}: gfile")
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id == "open":
            found.append(f"{node.lineno}: open")
        elif isinstance(node.func, ast.Attribute):
            home = ast.unparse(node.func.value)
            methods = FILE_CALLS.get(home, "" if home in NOT_PATHS else PATH_METHODS)
            if node.func.attr in methods.split():
                found.append(f"{node.lineno}: {home}.{node.func.attr}")
    return found


def is_local(path: pathlib.Path) -> bool:
    relative = path.relative_to(PACKAGE)
    return any(str(each) in LOCAL for each in (relative, *relative.parents))


def test_artifacts_are_touched_by_storage_alone():
    found = {str(path): file_calls(path.read_text()) for path in sources() if not is_local(path)}
    assert {path: calls for path, calls in found.items() if calls} == {}


@pytest.mark.parametrize("place", LOCAL)
def test_what_is_called_local_touches_files(place):
    home = PACKAGE / place
    assert any(file_calls(path.read_text()) for path in (home.rglob("*.py") if home.is_dir() else [home]))


@pytest.mark.parametrize(
    "source",
    [
        "open('a')",
        "def f(path):\n    with path.open() as file: ...",
        "os.replace(a, b)",
        "shutil.rmtree(a)",
        "glob.glob('*')",
        "pathlib.Path('a').write_text('b')",
        "tf.io.gfile.GFile(a)",
        "from tfx.dsl.io import fileio",
        "io_utils.copy_dir(a, b)",
    ],
)
def test_another_door_is_noticed(source):
    assert len(file_calls(source)) == 1


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
    "docs": "README.md, the site, and scripts/docs",
    "docstrings_test": "the docstrings of every folder",
    "pipelines/examples_scripts_test": "examples/",
    "pipelines/examples_test": "examples/",
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


def kinds_and_types() -> tuple[set[str], set[str]]:
    """The kinds of all parts of a recipe that say which they are, and the types of those that models have."""
    types = {
        field: configs_in(Recipe.model_fields[field].annotation)
        for field in ("objective", "model", "tokenizer")
    }
    others = [*configs_in(Recipe.model_fields["sources"].annotation), *configs_in(Step)]
    named = [each for group in types.values() for each in group]
    names = {name for each in named for name in (each.__name__, each.__name__.removesuffix("Config"))}
    return {kind for each in [*named, *others] for kind in kinds_of(each)}, names


KINDS, TYPES = kinds_and_types()


def told_apart(tree: ast.AST) -> list[int]:
    """The lines that compare a `kind` with one that there is, or ask whether a part is of one type."""
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
            constants = {
                each.value for part in parts for each in ast.walk(part) if isinstance(each, ast.Constant)
            }
            asks = any(isinstance(part, ast.Attribute) and part.attr == "kind" for part in parts)
            lines += [node.lineno] if asks and constants & KINDS else []
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
            names = {getattr(each, "id", "") for each in ast.walk(node.args[1])}
            lines += [node.lineno] if names & TYPES else []
    return lines


def test_a_kind_is_asked_and_never_told_apart():
    """A kind states its facts on its own type: what compares kinds elsewhere is a second list of them."""
    found = {str(path.relative_to(PACKAGE)): told_apart(ast.parse(path.read_text())) for path in sources()}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('recipe.objective.kind == "causal_lm"', 1),
        ('recipe.model.kind in ("bilstm", "encoder_decoder")', 1),
        ("isinstance(objective, MaskedLM | UniLM)", 1),
        ("isinstance(tokenizer, WordTokenizer)", 1),
        ('record.header.kind == "response"', 0),
        ("model.kind in objective.model_kinds", 0),
    ],
)
def test_telling_kinds_apart_is_noticed(source, count):
    assert len(told_apart(ast.parse(source))) == count
