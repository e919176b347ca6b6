"""Finds the statistics of the last run of a pipeline, which those of a new one are compared with."""

import os
from collections.abc import Iterator

from ml_metadata.metadata_store import MetadataStore
from ml_metadata.proto import metadata_store_pb2
from tfx.dsl.components.base.base_node import BaseNode
from tfx.dsl.components.common import resolver
from tfx.types import Channel, standard_artifacts
from tfx.types.artifact import Artifact

STATISTICS, CURRENT = "statistics", "current_statistics"
_FAILED = metadata_store_pb2.Execution.FAILED
_DONE = (metadata_store_pb2.Execution.COMPLETE, metadata_store_pb2.Execution.CACHED)


class PreviousStatisticsStrategy(resolver.ResolverStrategy):
    """Resolves the newest statistics of the same component that are not those of this run.

    Statistics that a validator refused are passed over, so that nothing is compared with data that were not
    used. TFX's LatestArtifactStrategy would give a run its own.
    """

    def resolve_artifacts(
        self, store: MetadataStore, input_dict: dict[str, list[Artifact]]
    ) -> dict[str, list[Artifact]]:
        """Returns at most one artifact under `statistics`, and the current ones as they were given.

        Args:
            store: Metadata of the pipeline.
            input_dict: All statistics of the pipeline, and those of this run under `current_statistics`.
        """
        current = input_dict[CURRENT]
        own, folders = {each.id for each in current}, {_component_folder(each) for each in current}
        of_component = (each for each in input_dict[STATISTICS] if _component_folder(each) in folders)
        earlier = (each for each in of_component if each.id not in own)
        newest_first = sorted(earlier, key=lambda each: each.id, reverse=True)
        found = next((each for each in newest_first if not was_refused(store, each.id)), None)
        return {STATISTICS: [] if found is None else [found], CURRENT: current}


def previous_statistics(current: BaseNode) -> resolver.Resolver:
    """Returns the node that finds the statistics of the last run, if there was one.

    Args:
        current: Component that makes those of this run.
    """
    channels = {
        STATISTICS: Channel(type=standard_artifacts.ExampleStatistics),
        CURRENT: current.outputs["statistics"],
    }
    made = resolver.Resolver(strategy_class=PreviousStatisticsStrategy, **channels)
    return made.with_id("PreviousStatistics")


def was_refused(store: MetadataStore, statistics: int) -> bool:
    """Returns whether a component failed on statistics, and has not passed them since.

    Args:
        store: Metadata of the pipeline.
        statistics: Id of the artifact.
    """
    executions = store.get_executions_by_id(list(_readers(store, statistics)))
    failed = {each.type_id for each in executions if each.last_known_state == _FAILED}
    return bool(failed - {each.type_id for each in executions if each.last_known_state in _DONE})


def _readers(store: MetadataStore, statistics: int) -> Iterator[int]:
    """Yields the executions whose own statistics these were, and not those that they compared theirs with."""
    for event in store.get_events_by_artifact_ids([statistics]):
        keys = [step.key for step in event.path.steps if step.HasField("key")]
        if event.type == metadata_store_pb2.Event.INPUT and keys == [STATISTICS]:
            yield event.execution_id


def _component_folder(statistics: Artifact) -> str:
    """`<component>/statistics` of `<component>/statistics/<execution>`."""
    return os.path.dirname(statistics.uri.rstrip("/"))
