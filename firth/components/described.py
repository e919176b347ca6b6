"""The facts of an artifact that a report shows."""

import os

from tfx.types.artifact import Artifact

from firth.analysis import ArtifactRecord
from firth.analysis.lineage import directory_digest


def describe(name: str, artifact: Artifact, run_dir: str) -> ArtifactRecord:
    """Returns the facts of an artifact that a report shows.

    Args:
        name: Name of the input.
        artifact: Artifact, with its id.
        run_dir: Folder of a local run, which paths are told from; may be empty.
    """
    is_below = bool(run_dir) and artifact.uri.startswith(run_dir + os.sep)
    digest = directory_digest(artifact.uri)
    properties = (artifact.get_string_custom_property(key) for key in ("digest", "tokenizer_digest"))
    tokenizer = next(filter(None, properties), "")
    return ArtifactRecord(
        id=artifact.id,
        name=name,
        type=artifact.type_name,
        uri=os.path.relpath(artifact.uri, run_dir) if is_below else artifact.uri,
        digest=f"{digest}, of the tokenizer {tokenizer}" if tokenizer else digest,
    )
