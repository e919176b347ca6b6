"""The component PinnedSchemaGen. Its executor is that of TFX's ImportSchemaGen."""

from tfx.components.schema_gen.import_schema_gen.executor import Executor
from tfx.types import standard_artifacts

from firth.components.declaration import Component, declare


class PinnedSchemaGen(Component, executor=Executor):
    """Brings a schema file into the pipeline.

    TFX's ImportSchemaGen does the same, but uses its cached output again if the file has been changed in its
    place.

    Args:
        schema_file: Path of a schema as text, on any file system that TFX reads.
        digest: Digest of its content. The cached output is used again only while it stays the same.

    Outputs:
        schema: A copy of the file.
    """

    SPEC_CLASS = declare(
        outputs={"schema": standard_artifacts.Schema}, parameters={"schema_file": str, "digest": str}
    )

    def __init__(self, schema_file: str, digest: str) -> None:
        super().__init__(schema_file=schema_file, digest=digest)
