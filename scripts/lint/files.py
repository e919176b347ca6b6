"""Calls that touch files, and the files of the package that may make them.

Artifacts may be in a bucket, so that only `firth.storage` opens, writes, moves, lists and finds them.
"""

import ast
from collections.abc import Iterator

from scripts.lint.sources import Fault, Repository, Source, entry_fault

# By module. `*` means all of its functions.
FUNCTIONS = {
    "os": "chmod link listdir lstat makedirs mkdir open readlink remove removedirs rename renames replace "
    "rmdir scandir stat symlink truncate unlink utime walk",
    "os.path": "exists getatime getctime getmtime getsize isdir isfile islink lexists samefile",
    "shutil": "*",
    # An artifact would be written in a temporary folder, and copied by hand.
    "tempfile": "*",
    "glob": "glob iglob",
    "gzip": "open",
    "lzma": "open",
    "bz2": "open",
    "io": "open",
    "isal.igzip": "open",
    "sqlite3": "connect",
    "numpy": "fromfile genfromtxt load loadtxt memmap save savetxt savez savez_compressed",
    "safetensors": "safe_open",
    "safetensors.numpy": "load_file save_file",
    "tensorflow.io": "TFRecordWriter matching_files read_file write_file",
    "tfx.utils.io_utils": "copy_dir copy_file delete_dir write_bytes_file write_string_file "
    "write_tfrecord_file",
    "apache_beam.io.filesystems.FileSystems": "*",
}
# Methods of pathlib's paths, whatever the variable is called.
METHODS = (
    "exists glob hardlink_to is_dir is_file is_symlink iterdir lstat mkdir open read_bytes read_text rename "
    "rglob rmdir stat symlink_to tofile touch unlink write_bytes write_text"
)
# Modules that have such functions, and are not paths.
NOT_PATHS = ("firth.storage", "webbrowser")
# Importing them is enough.
OTHER_DOORS = {"tensorflow.io.gfile", "tfx.dsl.io.fileio"}
CALLS = {module: set(names.split()) for module, names in FUNCTIONS.items()}
METHOD_NAMES = set(METHODS.split())
# The function of firth.storage that does the same, by the last part of a call.
NEAREST = {
    name: function
    for function, names in {
        "copy_file": "copy copy2 copyfile copy_file",
        "copy_folder": "copytree copy_dir",
        "exists": "exists isfile is_file lexists",
        "files_below": "rglob walk",
        "glob": "glob iglob match matching_files",
        "is_folder": "isdir is_dir",
        "list_folder": "iterdir listdir scandir",
        "local_copy": "connect fromfile load load_file memmap safe_open",
        "move": "move rename renames replace",
        "open_file": "open read_bytes read_file",
        "read_text": "read_text",
        "remove": "delete_dir remove removedirs rmdir rmtree unlink",
        "scratch_folder": "NamedTemporaryFile TemporaryDirectory TemporaryFile mkdtemp mkstemp",
        "size_of": "getsize stat",
        "whole_folder": "makedirs mkdir",
        "write_text": "write_string_file write_text",
    }.items()
    for name in names.split()
}

_BEAM = "a user's files, which Beam reads where it runs"
_LOCAL_RUN = "a local run's folder"
_LOG = "a log on the user's machine"
_METADATA = "the metadata of a local run, which SQLite opens"
_PACKAGE = "data of the package"
_USER = "what a user names on this machine"
_WHOLE_FOLDER = "writes in a folder of `storage.whole_folder`"
# By source file, the calls on files that are always local, and the reason.
LOCAL = {
    "cli/main.py": ("tempfile.NamedTemporaryFile", _LOG),
    "cli/requests/constraint_options.py": (".read_bytes", _USER),
    "cli/requests/predict.py": (".exists", _USER),
    "cli/output.py": ("os.remove tempfile.mkstemp", _LOG),
    "constraints/automaton.py": ("numpy.load numpy.savez", "pipes of the process that it starts"),
    "cli/runs.py": (".write_text", _USER),
    "cli/runs_on_disk.py": (".exists .glob .stat", "the folders of local runs"),
    "corpus/documents/example.py": (".read_text", _PACKAGE),
    "corpus/filters/gopher_quality.py": (".read_text", _PACKAGE),
    "corpus/grouping/values.py": (
        "FileSystems.create FileSystems.open",
        "scratch of Beam's workers: each file has a random name, and goes with the folder",
    ),
    "corpus/io/content_digests.py": ("FileSystems.checksum FileSystems.open os.stat", _BEAM),
    "corpus/io/file_contents.py": ("FileSystems.open", _BEAM),
    "corpus/io/source_files.py": (
        "FileSystems.match FileSystems.set_options os.listdir os.path.exists os.path.isdir os.path.islink "
        "os.path.lexists os.stat",
        _BEAM,
    ),
    "corpus/io/records.py": (
        "FileSystems.match FileSystems.open",
        "Beam's workers read records of artifacts without loading TensorFlow; they are written by storage",
    ),
    "corpus/privacy/national_ids.py": (".read_text", _PACKAGE),
    "corpus/privacy/secrets.py": (".read_text", _PACKAGE),
    "corpus/quality/quality_model.py": ("numpy.load numpy.savez", "in files that storage has opened"),
    "corpus/readers/parquet_source.py": ("FileSystems.open", _BEAM),
    "corpus/readers/docstrings_source.py": ("os.path.isfile os.stat os.walk", "installed packages"),
    "evaluation/references.py": (".read_text", _PACKAGE),
    "interop/hugging_face/config.py": (".read_text", _PACKAGE),
    "interop/peft/kind.py": (".read_text", _PACKAGE),
    "models/elmo_import.py": (".exists .read_text", _USER),
    "pipelines/events.py": (".glob .stat", _LOCAL_RUN),
    "scores/bleu.py": ("os.path.exists", "a model that sacrebleu has downloaded"),
    "pipelines/lineage.py": (".exists sqlite3.connect", _METADATA),
    "pipelines/local.py": ("open", _LOG),
    "pipelines/logs.py": (".mkdir open", _LOG),
    "pipelines/leftovers.py": (".glob sqlite3.connect", _METADATA),
    "pipelines/run_errors.py": (".is_dir shutil.disk_usage", "how much room a local disk has"),
    "pipelines/run_folder.py": (".exists .is_file .mkdir .read_text", _LOCAL_RUN),
    "recipes/base/file_names.py": ("glob.iglob os.listdir os.path.exists os.path.isfile", _USER),
    "recipes/reading/families.py": (".iterdir .read_text", _PACKAGE),
    "recipes/reading/raw_recipes.py": (".glob .open", _USER),
    "recipes/reading/requirements.py": ("os.path.getsize os.path.isdir", _USER),
    "serving/batch/prediction.py": (
        "tempfile.SpooledTemporaryFile",
        "answers until they are written in order, to the artifact that storage has opened",
    ),
    "serving/isolated_check.py": ("open", "runs without firth, on a local copy"),
    "serving/isolated_session.py": (
        ".glob .rglob open os.path.exists",
        "libraries of installed packages, and a local copy of a model",
    ),
    "serving/validation.py": ("tempfile.TemporaryDirectory", "what two processes tell each other"),
    "serving/warmup.py": ("os.makedirs tensorflow.io.TFRecordWriter", _WHOLE_FOLDER),
    "serving/server/announcements.py": (
        ".glob os.lstat os.makedirs",
        "files of the servers that run on this machine",
    ),
    "serving/schemas/automata.py": ("numpy.load numpy.savez_compressed", "bytes in memory"),
    "serving/server/playground/page.py": (".iterdir .read_bytes", _PACKAGE),
    "tokenizers/graph/characters.py": (".read_text", _PACKAGE),
    "tokenizers/graph/sentencepiece_model.py": (".read_text", _PACKAGE),
    "training/termination.py": ("open", "what the kernel says of this machine"),
    "training/objective_rates.py": (
        "tempfile.TemporaryDirectory tensorflow.io.TFRecordWriter",
        "a sample of rows, which is measured and dropped",
    ),
    "training/rows.py": ("numpy.load numpy.memmap numpy.save open shutil.copyfileobj", _WHOLE_FOLDER),
}


def faults(repository: Repository) -> Iterator[Fault]:
    """Yields a fault for each call that touches files and is not allowed, and for each unused allowance.

    Args:
        repository: The files.
    """
    for place, source in repository.sources.items():
        calls = file_calls(source)
        allowed = set(LOCAL[place][0].split()) if place in LOCAL else set()
        if not place.startswith("storage/"):
            for line, name in calls:
                if name not in allowed:
                    near = NEAREST.get(name.rpartition(".")[2], "whole_file")
                    sentence = f"{name} touches files; use firth.storage, whose nearest function is {near}"
                    yield source.fault(line, sentence)
        for name in sorted(allowed - {name for _, name in calls}):
            yield entry_fault(__file__, place, f"the file does not call {name}; remove it from the entry")
    for place in LOCAL.keys() - repository.sources.keys():
        yield entry_fault(__file__, place, "there is no such file; remove the entry")


def file_calls(source: Source) -> list[tuple[int, str]]:
    """Returns (line, name) of each call that touches files, and of each import of a module that does.

    Args:
        source: The file.
    """
    names = _imported_names(source)
    found = [(node.lineno, _called(node.func, names)) for node in source.nodes(ast.Call)]
    found += [(node.lineno, ".gfile") for node in source.nodes(ast.Attribute) if node.attr == "gfile"]
    for node in source.nodes(ast.ImportFrom):
        imported = {f"{node.module}.{each.name}" for each in node.names} | {node.module}
        found += [(node.lineno, door) for door in imported & OTHER_DOORS]
    return sorted(each for each in found if each[1])


def _imported_names(source: Source) -> dict[str, str]:
    """Full names of the names that imports give, such as {"np": "numpy"}."""
    imports = (each for node in source.nodes(ast.Import) for each in node.names)
    names = {each.asname: each.name for each in imports if each.asname}
    for node in source.nodes(ast.ImportFrom):
        names |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    return names


def _called(function: ast.expr, names: dict[str, str]) -> str:
    """Name of a function or method that touches files, or an empty text for another one."""
    is_method = isinstance(function, ast.Attribute) and function.attr in METHOD_NAMES
    # Unparsing takes long: only a method may be that of any expression.
    root, dot, rest = (ast.unparse(function) if is_method else _dotted(function)).partition(".")
    full = names.get(root, root) + dot + rest
    home, _, name = full.rpartition(".")
    if full == "open" or CALLS.get(home) == {"*"} or name in CALLS.get(home, ()):
        return full.removeprefix("apache_beam.io.filesystems.")
    return f".{name}" if is_method and not full.startswith(NOT_PATHS) else ""


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
