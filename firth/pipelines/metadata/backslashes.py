"""Values with backslashes, which ML Metadata cannot write to PostgreSQL.

It takes the quotes off what libpq has quoted, and puts its own there. Where a value has a backslash, libpq
writes a space and an E before its quotes, so that the statement is one of wrong syntax.
"""

from collections.abc import Mapping
from typing import Any

from google.protobuf.message import Message

BACKSLASH, IN_ITS_PLACE = "\\", "%5C"


def without_backslashes(given: Any) -> Any:
    r"""Returns artifacts, executions and contexts whose values have %5C for each backslash.

    What they are made of goes to components from memory, so that only those who read the store see it.

    Example:

    >>> from ml_metadata.proto.metadata_store_pb2 import Execution
    >>> execution = Execution()
    >>> execution.custom_properties["pattern"].string_value = r"\s+"
    >>> without_backslashes([execution])[0].custom_properties["pattern"].string_value
    '%5Cs+'
    """
    if isinstance(given, list | tuple):
        return type(given)(map(without_backslashes, given))
    if isinstance(given, Mapping):
        return {key: without_backslashes(value) for key, value in given.items()}
    if not isinstance(given, Message) or "custom_properties" not in given.DESCRIPTOR.fields_by_name:
        return given
    made: Any = type(given)()
    made.CopyFrom(given)
    for properties in (made.properties, made.custom_properties):
        for value in properties.values():
            if BACKSLASH in value.string_value:
                value.string_value = value.string_value.replace(BACKSLASH, IN_ITS_PLACE)
    return made
