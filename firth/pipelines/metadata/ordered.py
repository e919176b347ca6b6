"""ML Metadata that answers in the order in which it is asked, as TFX expects."""

from collections.abc import Iterable
from typing import Any

from tfx.orchestration import metadata


class OrderedMetadata(metadata.Metadata):
    """TFX's handle of ML Metadata, whose store gives artifacts in the order of the ids that it is asked for.

    TFX takes the first artifact for the first id. A file of SQLite answers in the order of ids, PostgreSQL in
    any order. A component from the cache would have its outputs exchanged there: statistics would be made
    of CorpusExampleGen's documents instead of its records.
    """

    @property
    def store(self) -> Any:
        """Store of the connection that is open."""
        return _OrderedStore(super().store)


class _OrderedStore:
    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def get_artifacts_by_id(self, artifact_ids: Iterable[int], *more: Any, **others: Any) -> list[Any]:
        ids = list(artifact_ids)
        found = {each.id: each for each in self._store.get_artifacts_by_id(ids, *more, **others)}
        return [found[each] for each in dict.fromkeys(ids) if each in found]
