"""The schema of the sources' records: which one a run is checked against, and what it proposes to pin."""

import os
import pathlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firth.pipelines.lineage import Outputs

SCHEMA_FILE = "schema.pbtxt"
# A few records of a new kind, of a hundred, are no change of a source.
MIN_DOMAIN_MASS = 0.99
HEADER = """\
# What the records of the sources are: of each source the outcomes of reading, and what records state.
# Another run stops where theirs differ, but for a share of {rest:g} of a feature's values (min_domain_mass).
# To pin it in a recipe: `source_schema: <this file's path>`.
"""


def schema_of(run_dir: pathlib.Path) -> str | None:
    """Returns the schema that an earlier run left in a folder; None if none has."""
    path = run_dir / SCHEMA_FILE
    return str(path) if path.exists() else None


def propose_schema(run_dir: pathlib.Path, outputs: "Outputs") -> pathlib.Path | None:
    """Writes the schema of a run's records into its folder, unless there is one.

    Returns:
        The file that was written; None if none was.
    """
    path, inferred = run_dir / SCHEMA_FILE, outputs.get("SchemaGen", {}).get("schema")
    if inferred is None or path.exists():
        return None
    temporary = run_dir / f"{SCHEMA_FILE}.partial"
    header = HEADER.format(rest=round(1 - MIN_DOMAIN_MASS, 4))
    temporary.write_text(header + tolerant((inferred / SCHEMA_FILE).read_text("utf-8")), encoding="utf-8")
    os.replace(temporary, path)
    return path


def tolerant(schema: str) -> str:
    """Returns a schema whose categories take a share of other values, of features that may be absent.

    Args:
        schema: As text.

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

    parsed = text_format.Parse(schema, schema_pb2.Schema())
    for feature in parsed.feature:
        # Rejected records have an outcome alone.
        feature.presence.ClearField("min_fraction")
        if feature.HasField("string_domain") or feature.HasField("domain"):
            feature.distribution_constraints.min_domain_mass = MIN_DOMAIN_MASS
    return text_format.MessageToString(parsed)
