"""Calls that touch files outside of `firth.storage`."""

import shutil
import tempfile

import pytest

from firth import storage
from scripts.lint.files import CALLS, LOCAL, METHOD_NAMES, NEAREST, faults, file_calls
from scripts.lint.sources import Source, repository_of


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
def test_a_call_that_touches_files_is_noticed(source):
    assert file_calls(Source("a.py", source))


@pytest.mark.parametrize(
    "source",
    [
        "from firth import storage\nstorage.glob(a)",
        "os.path.join(a, b)",
        "import numpy as np\nnp.asarray(a)",
        "text.replace(a, b)",
        "import glob\nglob.escape(a)",
        "from firth import storage\nstorage.whole_file(a).open()",
    ],
)
def test_a_call_that_touches_no_file_is_not(source):
    assert file_calls(Source("a.py", source)) == []


def allowed_files() -> dict[str, str]:
    """Sources of the files in the table that make their calls, and no others."""
    texts = {}
    for place, (calls, _) in LOCAL.items():
        lines = ["from apache_beam.io.filesystems import FileSystems"]
        for call in calls.split():
            lines.append("x.gfile" if call == ".gfile" else f"{'x' if call[0] == '.' else ''}{call}()")
        texts[place] = "\n".join(lines)
    return texts


def test_calls_are_allowed_by_file_and_needed_there():
    texts = allowed_files()
    assert list(faults(repository_of({**texts, "storage/a.py": "open(b)"}))) == []
    (found,) = faults(repository_of({**texts, "corpus/a.py": "\nopen(b)"}))
    assert str(found) == (
        "firth/corpus/a.py:2: open touches files; use firth.storage, whose nearest function is open_file"
    )
    (found,) = faults(repository_of({**texts, "pipelines/local.py": "open(a)\nos.remove(a)"}))
    assert str(found).startswith("firth/pipelines/local.py:2: os.remove touches files")
    (found,) = faults(repository_of({**texts, "pipelines/local.py": ""}))
    assert found.path == "scripts/lint/files.py" and "does not call open" in found.sentence
    del texts["pipelines/local.py"]
    (found,) = faults(repository_of(texts))
    assert found.path == "scripts/lint/files.py" and found.line > 1
    assert found.sentence == "`pipelines/local.py`: there is no such file; remove the entry"


def test_the_nearest_functions_are_those_of_storage():
    assert set(NEAREST.values()) <= set(storage.__all__)
    seen = METHOD_NAMES.union(*CALLS.values(), dir(shutil), dir(tempfile), ["match"])
    assert NEAREST.keys() <= seen
