"""ML Metadata that answers in the order in which it is asked, and whose values PostgreSQL can write."""

from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf.message import Message
from ml_metadata.proto import metadata_store_pb2
from tfx.orchestration import metadata


class OrderedMetadata(metadata.Metadata):
    """TFX's handle of ML Metadata, whose store gives artifacts in the order of the ids that it is asked for.

    TFX takes the first artifact for the first id. A file of SQLite answers in the order of ids, PostgreSQL in
    any order. A component from the cache would have its outputs exchanged there: statistics would be made
    of CorpusExampleGen's documents instead of its records. Nor can values with backslashes be written there.
    """

    @property
    def store(self) -> Any:
        """Store of the connection that is open."""
        config = self.connection_config
        is_plain = not isinstance(config, metadata_store_pb2.ConnectionConfig) or not config.HasField(
            "postgresql"
        )
        return _OrderedStore(super().store) if is_plain else _PostgreSQLStore(super().store)


class _OrderedStore:
    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def get_artifacts_by_id(self, artifact_ids: Iterable[int], *more: Any, **others: Any) -> list[Any]:
        ids = list(artifact_ids)
        found = {each.id: each for each in self._store.get_artifacts_by_id(ids, *more, **others)}
        return [found[each] for each in dict.fromkeys(ids) if each in found]


class _PostgreSQLStore(_OrderedStore):
    def __getattr__(self, name: str) -> Any:
        method = super().__getattr__(name)
        if not name.startswith("put_"):
            return method
        return lambda *given, **named: method(*without_backslashes(given), **without_backslashes(named))


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
