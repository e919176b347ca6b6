"""The declaration of PinnedSchemaGen. Its executor is that of TFX's ImportSchemaGen."""

from typing import Any

from tfx import types
from tfx.components.schema_gen.import_schema_gen.executor import Executor
from tfx.dsl.components.base import base_component, executor_spec
from tfx.types import standard_artifacts
from tfx.types.component_spec import ChannelParameter, ComponentSpec, ExecutionParameter


class PinnedSchemaGenSpec(ComponentSpec):
    """Outputs and parameters of PinnedSchemaGen."""

    PARAMETERS = {  # noqa: RUF012
        "schema_file": ExecutionParameter(type=str),
        "digest": ExecutionParameter(type=str),
    }
    INPUTS: dict[str, Any] = {}  # noqa: RUF012
    OUTPUTS = {"schema": ChannelParameter(type=standard_artifacts.Schema)}  # noqa: RUF012


class PinnedSchemaGen(base_component.BaseComponent):
    """Brings a schema file into the pipeline.

    TFX's ImportSchemaGen does the same, but uses its cached output again if the file has been changed in its
    place.

    Args:
        schema_file: Path of a schema as text, on any file system that TFX reads.
        digest: Digest of its content. The cached output is used again only while it stays the same.

    Outputs:
        schema: A copy of the file.
    """

    SPEC_CLASS = PinnedSchemaGenSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(self, schema_file: str, digest: str) -> None:
        schema = types.Channel(type=standard_artifacts.Schema)
        super().__init__(spec=PinnedSchemaGenSpec(schema_file=schema_file, digest=digest, schema=schema))
