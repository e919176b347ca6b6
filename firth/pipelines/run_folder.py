"""A run's folder: its name, the recipe and sources that it was made from, and the schema of its records."""

import os
import pathlib
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from firth import storage
from firth.pipelines.run_errors import RunFolderError, is_full
from firth.pipelines.run_metadata import metadata_of
from firth.recipes import RecipeError
from firth.recipes.base.file_names import suggest_path
from firth.recipes.base.names import check_folder_name
from firth.recipes.base.yaml_text import read_yaml
from firth.recipes.reading.adapting import run_yaml
from firth.recipes.reading.differences import differences
from firth.recipes.reading.loading import load_run_recipe
from firth.recipes.run.run_recipe import RunRecipe

if TYPE_CHECKING:
    from firth.pipelines.lineage import Outputs

RECIPE_FILE = "recipe.yaml"
MOST_CHANGES = 8
# The components that read the sources or the labelled data of a run.
READERS = ("CorpusExampleGen", "LabelledExampleGen")
SCHEMA_FILE = "schema.pbtxt"
# The name that a schema gets when the folder's sources are no longer those that it describes.
PREVIOUS_FILE = "schema.previous.pbtxt"
# A source has not changed because one value in a hundred is of a new kind.
MIN_DOMAIN_MASS = 0.99
# Broken records are rejected and counted, and `max_rejected_fraction` limits them. A lost key or another type
# changes more of a source than this.
MIN_OUTCOME_MASS = 0.9
HEADER = """\
# What the records of the sources are: of each source the outcomes of reading, and what records state.
# Another run stops if theirs differ. `min_domain_mass` is the least share of a feature's values that must be
# among those listed here: {outcomes:g} of the outcomes, so that a few broken records are only rejected and
# counted, and {others:g} of the others.
# To pin it in a recipe: `source_schema: <this file's path>`.
"""


def run_folder(root: str | os.PathLike[str], name: str) -> pathlib.Path:
    """Returns the folder of a run, which exists afterwards, as does the root.

    Raises:
        OSError: if the disk is full.
    """
    try:
        check_folder_name(name)
    except ValueError as error:
        raise RunFolderError(str(error)) from None
    folder = pathlib.Path(root).resolve()
    if folder.parent.is_file():
        raise RunFolderError(f"{folder.parent} is a file; runs need a folder")
    if not folder.parent.exists():
        # Another command makes it: a root that is misspelt may lead to another disk.
        advice = suggest_path(str(folder)) or "; make it first"
        raise RunFolderError(f"the root of runs is {folder}, but there is no folder {folder.parent}{advice}")
    for each in (folder, folder / name):
        _make_writable(each)
    return folder / name


def _make_writable(folder: pathlib.Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except FileExistsError:
        raise RunFolderError(f"{folder} is a file; runs need a folder") from None
    except OSError as error:
        if is_full(error):
            raise
        raise RunFolderError(f"the folder {folder} cannot be made: {error.strerror}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise RunFolderError(f"the folder {folder} cannot be written in: permission denied")


def remember_recipe(run_dir: pathlib.Path, recipe: RunRecipe) -> None:
    """Writes the recipe into the run's folder, whole or not at all.

    If the same recipe is there, the file is left as it is: its time says when the recipe last changed.
    """
    path, text = run_dir / RECIPE_FILE, run_yaml(recipe)
    if path.exists() and path.read_text(encoding="utf-8", errors="replace") == text:
        return
    storage.write_text(path, text)


def refuse_imported(run_dir: pathlib.Path) -> None:
    """Checks that a folder is not that of an imported model, which a run would mix with its own."""
    summary = storage.read_json_object(run_dir / "run.json")
    if "imported_from" in summary:
        raise RunFolderError(f"{run_dir} is an imported model; give this run a --name of its own")


def require_same_origin(run_dir: pathlib.Path, recipe: RunRecipe) -> None:
    """Checks that a folder holds nothing made from sources, or was made from the recipe's name and sources.

    If other keys of a recipe change, the pipeline runs again what depends on them.
    """
    path = run_dir / RECIPE_FILE
    if not path.exists():
        return
    name, data = _origin(path, recipe)
    problems = [] if name == recipe.name else [f"its recipe was {name!r}, and this one is {recipe.name!r}"]
    problems += _source_changes(_reads(path, recipe, data), recipe.reads_in(_data_of(recipe)))
    if problems and _has_read_sources(run_dir):
        raise RunFolderError(
            f"{run_dir} was made from something else:\n  "
            + "\n  ".join(problems)
            + "\nGive this run a --name of its own, or use the folder all the same with --reuse-folder."
        )


def sources_changed(run_dir: pathlib.Path, recipe: RunRecipe) -> bool:
    """Returns true if a recipe's sources differ from those of the folder's last run in any key."""
    path = run_dir / RECIPE_FILE
    if not path.exists():
        return False
    try:
        return bool(_origin(path, recipe)[1] != _data_of(recipe))
    except RunFolderError:
        return True


def changed_keys(run_dir: pathlib.Path, recipe: RunRecipe) -> list[str]:
    """Returns a line for each key that differs from the recipe of the folder's last run, at most a few."""
    try:
        before = load_run_recipe(run_dir / RECIPE_FILE)
    except RecipeError:
        return []
    found = [
        f"{key}: {now}, in this folder's last run {then}"
        for key, (then, now) in differences([before, recipe]).items()
    ]
    if len(found) > MOST_CHANGES:
        return [*found[:MOST_CHANGES], f"and {len(found) - MOST_CHANGES} more keys"]
    return found


def _has_read_sources(run_dir: pathlib.Path) -> bool:
    # ML Metadata takes a while to import, and is needed only where something differs.
    from firth.pipelines.lineage import has_completed

    return any(has_completed(metadata_of(run_dir), reader) for reader in READERS)


def _data_of(recipe: RunRecipe) -> Any:
    return recipe.model_dump(mode="json")[recipe.data_key]


def _origin(path: pathlib.Path, recipe: RunRecipe) -> tuple[str, Any]:
    """Returns the name and the sources or data of a recipe that an older firth may have written."""
    try:
        data = read_yaml(path.read_text(encoding="utf-8"), str(path)).data
        return data["name"], data[recipe.data_key]
    except (ValueError, KeyError, TypeError):
        raise _unreadable(path) from None


def _reads(path: pathlib.Path, recipe: RunRecipe, data: Any) -> list[str]:
    try:
        return recipe.reads_in(data)
    except (ValueError, TypeError):
        raise _unreadable(path) from None


def _unreadable(path: pathlib.Path) -> RunFolderError:
    return RunFolderError(
        f"{path} cannot be read, so what the folder was made from is not known; give this run a --name "
        "of its own, or use the folder all the same with --reuse-folder"
    )


def _source_changes(then: Sequence[str], now: Sequence[str]) -> list[str]:
    before, after = Counter(then), Counter(now)
    gone = [f"no longer read: {read}" for read in (before - after)]
    return gone + [f"not read before: {read}" for read in (after - before)]


def schema_of(run_dir: pathlib.Path) -> str | None:
    """Returns the path of the schema that an earlier run left in a folder; None if there is no such file."""
    path = run_dir / SCHEMA_FILE
    return str(path) if storage.exists(path) else None


def set_schema_aside(run_dir: pathlib.Path) -> None:
    """Renames the schema that an earlier run left in a folder, so that the next run writes its own."""
    path = run_dir / SCHEMA_FILE
    if storage.exists(path):
        storage.move(path, run_dir / PREVIOUS_FILE)


def propose_schema(run_dir: pathlib.Path, outputs: "Outputs") -> pathlib.Path | None:
    """Writes the schema of a run's records into its folder, unless there is one."""
    path, inferred = run_dir / SCHEMA_FILE, outputs.get("SchemaGen", {}).get("schema")
    if inferred is None or storage.exists(path):
        return None
    header = HEADER.format(outcomes=MIN_OUTCOME_MASS, others=MIN_DOMAIN_MASS)
    storage.write_text(path, header + tolerant(storage.read_text(inferred / SCHEMA_FILE)))
    return path


def tolerant(schema: str) -> str:
    """Returns a schema that allows a share of other values, and features that are absent.

    Example:

    >>> print(tolerant('feature { name: "a" domain: "b" presence { min_fraction: 1 min_count: 1 } }').strip())
    feature {
      name: "a"
      domain: "b"
      presence {
        min_count: 1
      }
      distribution_constraints {
        min_domain_mass: 0.99
      }
    }
    """
    from google.protobuf import text_format
    from tensorflow_metadata.proto.v0 import schema_pb2

    from firth.corpus.readers.record_profiles import OUTCOME

    parsed = text_format.Parse(schema, schema_pb2.Schema())
    for feature in parsed.feature:
        # Rejected records have an outcome alone.
        feature.presence.ClearField("min_fraction")
        if feature.HasField("string_domain") or feature.HasField("domain"):
            is_outcome = feature.name.endswith(f"/{OUTCOME}")
            mass = MIN_OUTCOME_MASS if is_outcome else MIN_DOMAIN_MASS
            feature.distribution_constraints.min_domain_mass = mass
    return text_format.MessageToString(parsed)
