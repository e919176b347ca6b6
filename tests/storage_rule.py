"""Calls that touch files, found in sources, and the files of the package that may make them.

Artifacts may be in a bucket, so that `firth.storage` alone opens, writes, moves, lists and asks for them.
"""

import ast

# By module. `*` stands for all that it has.
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
# Of pathlib's paths, whatever the variable is called.
METHODS = (
    "exists glob hardlink_to is_dir is_file is_symlink iterdir lstat mkdir open read_bytes read_text rename "
    "rglob rmdir stat symlink_to tofile touch unlink write_bytes write_text"
)
# They have such functions, and are not paths.
NOT_PATHS = ("firth.storage", "webbrowser")
# Other doors: naming them is enough.
OTHER_DOORS = {"tensorflow.io.gfile", "tfx.dsl.io.fileio"}

_BEAM = "a user's files, which Beam reads where it runs"
_LOCAL_RUN = "a local run's folder"
_LOG = "a log on the user's machine"
_METADATA = "the metadata of a local run, which SQLite opens"
_PACKAGE = "data of the package"
_USER = "what a user names on this machine"
_WHOLE_FOLDER = "writes in a folder of `storage.whole_folder`"
# Files that are local by what they are: by source file, the calls that it may make, and why.
LOCAL = {
    "cli/compare.py": (".write_text", _USER),
    "cli/main.py": ("tempfile.NamedTemporaryFile", _LOG),
    "cli/asking/predict.py": (".exists", _USER),
    "cli/quietly.py": ("os.remove tempfile.mkstemp", _LOG),
    "cli/runs_on_disk.py": (".exists .glob .stat", "the folders of local runs"),
    "corpus/curation/step_files.py": ("FileSystems.open", _BEAM),
    "corpus/grouping/values.py": (
        "FileSystems.create FileSystems.match FileSystems.open",
        "scratch of Beam's workers: each file has a random name, and goes with the folder",
    ),
    "corpus/io/file_systems.py": ("FileSystems.set_options", _BEAM),
    "corpus/io/lines.py": ("FileSystems.open", _BEAM),
    "corpus/io/record_files.py": (
        "FileSystems.open",
        "Beam's workers read records of artifacts without loading TensorFlow; they are written by storage",
    ),
    "corpus/io/records.py": ("FileSystems.match", "what Beam's workers then read"),
    "corpus/io/source_files.py": ("FileSystems.match os.path.isdir", _BEAM),
    "corpus/quality/quality_model.py": ("numpy.load numpy.savez", "in files that storage has opened"),
    "corpus/readers/parquet_source.py": ("FileSystems.open", _BEAM),
    "corpus/readers/python_packages.py": ("os.path.isfile os.stat os.walk", "installed packages"),
    "models/elmo_import.py": (".exists .read_text", _USER),
    "pipelines/blessing.py": (".glob", _LOCAL_RUN),
    "pipelines/metadata/leftovers.py": (".glob", _LOCAL_RUN),
    "pipelines/metadata/lineage.py": (".exists sqlite3.connect", _METADATA),
    "pipelines/local.py": ("open", _LOG),
    "pipelines/logs.py": (".mkdir open", _LOG),
    "pipelines/metadata/repair.py": ("sqlite3.connect", _METADATA),
    "pipelines/run_errors.py": (".is_dir shutil.disk_usage", "how much room a local disk has"),
    "pipelines/run_folder.py": (".exists .is_file .mkdir .read_text", _LOCAL_RUN),
    "recipes/base/file_names.py": ("glob.iglob os.path.isfile", _USER),
    "recipes/base/paths.py": (".exists os.listdir", _USER),
    "recipes/reading/presets.py": (".is_dir .iterdir .read_text", _PACKAGE),
    "recipes/reading/recipe_files.py": (".glob .open", _USER),
    "recipes/reading/requirements.py": ("os.path.isdir", _USER),
    "recipes/run/advice.py": ("os.path.getsize", _USER),
    "serving/batch/predicting.py": (
        "tempfile.SpooledTemporaryFile",
        "answers until they are written in order, to the artifact that storage has opened",
    ),
    "serving/isolated_check.py": (".gfile open", "runs without firth, on a local copy"),
    "serving/validation.py": ("tempfile.TemporaryDirectory", "what two processes tell each other"),
    "serving/warmup.py": ("os.makedirs tensorflow.io.TFRecordWriter", _WHOLE_FOLDER),
    "tokenizers/graph/frozen_tables.py": (".read_text", _PACKAGE),
    "training/maintenance.py": ("open", "what the kernel says of this machine"),
    "training/objective_rates.py": (
        "tempfile.TemporaryDirectory tensorflow.io.TFRecordWriter",
        "a sample of rows, which is measured and dropped",
    ),
    "training/rows.py": ("numpy.load numpy.memmap numpy.save open shutil.copyfileobj", _WHOLE_FOLDER),
}


def file_calls(source: str) -> list[tuple[int, str]]:
    """Returns (line, name) of each call that touches files, and of what names another door to them."""
    tree = ast.parse(source)
    names = _imported_names(tree)
    return sorted((node.lineno, name) for node in ast.walk(tree) if (name := _touching(node, names)))


def _imported_names(tree: ast.AST) -> dict[str, str]:
    """Returns what the names of imports stand for, such as {"np": "numpy"}."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {each.asname: each.name for each in node.names if each.asname}
        elif isinstance(node, ast.ImportFrom):
            names |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    return names


def _touching(node: ast.AST, names: dict[str, str]) -> str:
    if isinstance(node, ast.ImportFrom):
        imported = {f"{node.module}.{each.name}" for each in node.names} | {node.module}
        return next(iter(imported & OTHER_DOORS), "")
    if isinstance(node, ast.Attribute) and node.attr == "gfile":
        return ".gfile"
    return _called(node.func, names) if isinstance(node, ast.Call) else ""


def _called(function: ast.expr, names: dict[str, str]) -> str:
    root, dot, rest = ast.unparse(function).partition(".")
    full = names.get(root, root) + dot + rest
    home, _, name = full.rpartition(".")
    if full == "open" or FUNCTIONS.get(home) == "*" or name in FUNCTIONS.get(home, "").split():
        return full.removeprefix("apache_beam.io.filesystems.")
    is_method = isinstance(function, ast.Attribute) and name in METHODS.split()
    return f".{name}" if is_method and not full.startswith(NOT_PATHS) else ""
