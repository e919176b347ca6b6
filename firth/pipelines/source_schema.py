"""The schema of the sources' records: the one a run is checked against, and the one it proposes."""

import pathlib
from typing import TYPE_CHECKING

from firth import storage

if TYPE_CHECKING:
    from firth.pipelines.metadata.lineage import Outputs

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
