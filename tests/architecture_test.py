"""BUILD is the drawing of the house and its rule: folders, who imports whom, and which third parties."""

import ast
import functools
import pathlib
import sys
from collections import Counter

import pytest

from scripts.docs.build_file import read_targets
from tests.kinds_rule import tables_of, told_apart
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


# The one table by kind of each family, and of what else is called as kinds are.
TABLES = {
    "corpus/curation/step_table.py": "cleaning steps",
    "corpus/decontamination/benchmarks.py": "evaluation data that is kept out of a corpus",
    "corpus/readers/sources.py": "sources",
    "interop/peft/kinds.py": "methods that peft has too",
    "layers/attention/building.py": "positions that attention reads",
    "layers/blocks/input_embedding.py": "positions that are added to embeddings, the other half",
    "models/additions/table.py": "methods whose additions do not merge",
    "models/tables.py": "models; and heads, some of which are called as objectives are",
    "objectives/table.py": "objectives",
    "recipes/counting/heads.py": "heads again, counted without Keras",
    "tasks/labelled/data_readers.py": "labelled data",
    "tasks/table.py": "tasks",
    "tokenizers/table.py": "tokenizers",
    "training/optimizers.py": "optimizers",
    "tuning/table.py": "methods that adapt a model",
}
# No kinds: names that are also those of kinds.
NOT_KINDS = {"recipes/reading/families.py": "families of presets, two of which are called as objectives are"}


def kinds_told_apart(path: pathlib.Path, source: str) -> list[str]:
    """Returns what tells kinds apart in a file, next to its table if it holds one of `TABLES`."""
    place = path.relative_to(PACKAGE).as_posix()
    if place not in TABLES:
        return told_apart(source, _all_tables())
    found = told_apart(source, tables_of(source))
    return [each for each in found if not each.partition(": ")[2].startswith("{")]


@functools.cache
def _all_tables() -> dict[str, set[str]]:
    found = [tables_of((PACKAGE / place).read_text()) for place in TABLES]
    return {name: set().union(*(each.get(name, ()) for each in found)) for each in found for name in each}


def test_a_kind_is_asked_and_never_told_apart():
    """A kind states its facts on its own type: what compares kinds elsewhere is a second list of them."""
    found = {
        place: lines
        for path in sources()
        if (place := path.relative_to(PACKAGE).as_posix()) not in NOT_KINDS
        and (lines := kinds_told_apart(path, path.read_text()))
    }
    assert found == {}


@pytest.mark.parametrize("place", [*TABLES, *NOT_KINDS])
def test_what_may_list_kinds_does_so(place):
    assert told_apart((PACKAGE / place).read_text(), _all_tables())


KNOWN = {"BACKBONES": {"BiLSTMBackbone"}}


@pytest.mark.parametrize(
    "source",
    [
        # Comparisons.
        'recipe.objective.kind == "causal_lm"',
        'recipe.model.kind in ("bilstm", "t5")',
        'kind = recipe.model.kind\nif kind == "bilstm": ...',
        'shape = recipe.model.kind\nif shape != "bilstm": ...',
        'if (shape := model.kind) == "bilstm": ...',
        'a, b = name, model.kind\nb == "bilstm"',
        'def f(kind):\n    return kind in {"weights"}',
        'data["model"]["kind"] == "bilstm"',
        'data.get("kind") == "pii"',
        'getattr(step, "kind", None) == "pii"',
        'model.kind.startswith("bi")',
        "type(model) is BiLSTMConfig",
        'type(model).__name__ == "BiLSTMConfig"',
        'recipe.objective.heads == "language_model"',
        'recipe.model.architecture == "encoder"',
        'objective.model_architecture in ("encoder", "two_streams")',
        "type(model) in (models.BiLSTMConfig, models.EncoderDecoderConfig)",
        # Types, and bases that only some kinds have.
        "isinstance(objective, MaskedLM | UniLM)",
        "isinstance(tokenizer, WordTokenizerConfig)",
        "isinstance(backbone, BiLSTMBackbone)",
        "isinstance(model, model_types.BiLSTMConfig)",
        "isinstance(model, (model_types.BiLSTMConfig, int))",
        "isinstance(source, DocstringsSource)",
        "isinstance(source, RecordSource)",
        "isinstance(step, PiiStep)",
        "isinstance(mixture, AsIs)",
        "isinstance(optimizer, recipes.AdagradConfig)",
        "issubclass(config, TransformerConfig)",
        # Match statements.
        'match model.kind:\n    case "bilstm": ...',
        'match kind:\n    case "t5" | "bilstm": ...',
        "match model:\n    case BiLSTMConfig(): ...",
        "match model:\n    case models.BiLSTMConfig(layers=1): ...",
        'match model:\n    case Part(kind="bilstm"): ...',
        'match data:\n    case {"kind": "bilstm"}: ...',
        # Lists and tables.
        'NAMES = {"masked_lm": 1, "causal_lm": 2}',
        "NAMES = {BiLSTMConfig: 1}",
        "NAMES = {models.BiLSTMConfig: 1}",
        'ENCODERS = ("masked_transformer", "bilstm")',
        'ENCODERS = {"masked_transformer", "bilstm"}',
        "NAMES[model.kind]",
        "module.NAMES[model.kind]",
        "NAMES.get(model.kind, 1)",
        "shape = model.kind\nNAMES[shape]",
    ],
)
def test_telling_kinds_apart_is_noticed(source):
    assert len(told_apart(source, KNOWN)) >= 1


@pytest.mark.parametrize(
    "source",
    [
        'record.header.kind == "response"',
        "model.architecture == objective.model_architecture",
        'self.architecture == "decoder"',
        "stack.attention.heads == 4",
        'unit == "words"',
        "BACKBONES[config.kind](config)",
        "tables.BACKBONES.get(config.kind)",
        "counts[step.kind] += 1",
        'row = {"text": text, "length": 3}',
        "isinstance(step, CleaningStep)",
        'match unit:\n    case "words": ...',
        'f"{model.kind} has no decoder"',
    ],
)
def test_asking_a_kind_is_allowed(source):
    assert told_apart(source, KNOWN) == []


def test_a_second_table_is_noticed_next_to_the_first():
    table = 'SOURCES = {"text": 1, "jsonl": 2}\n'
    place = PACKAGE / "corpus" / "readers" / "sources.py"
    assert kinds_told_apart(place, table) == []
    assert len(kinds_told_apart(place, table + 'if source.kind == "text": ...')) == 1
    assert len(kinds_told_apart(PACKAGE / "corpus" / "x.py", table)) == 1
