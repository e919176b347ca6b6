"""The components that compare the data of a run with those of the last one, and with requests."""

import json
import os
from collections.abc import Iterable, Iterator
from typing import ClassVar

from ml_metadata.metadata_store import MetadataStore
from ml_metadata.proto import metadata_store_pb2
from tfx.components import StatisticsGen
from tfx.dsl.components.base.base_node import BaseNode
from tfx.dsl.components.common import resolver
from tfx.dsl.components.common.resolver import Resolver
from tfx.types import BaseChannel, Channel, standard_artifacts
from tfx.types.artifact import Artifact

from firth.components import DistributionValidator, RequestExampleGen
from firth.components.artifacts import CorpusReport
from firth.components.file_digests import FileDigests
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.run.validation import CorpusValidation, Validation

REQUEST_STATISTICS = "RequestStatistics"
STATISTICS, REPORT = "statistics", "report"
# Prefix of the input with this run's data, and of the output, which has them if an earlier run took them.
_CURRENT = "current_"
_FAILED = metadata_store_pb2.Execution.FAILED
_DONE = (metadata_store_pb2.Execution.COMPLETE, metadata_store_pb2.Execution.CACHED)


def comparison_components(
    validation: Validation,
    statistics: StatisticsGen,
    schema: BaseChannel,
    checked: BaseNode,
    *,
    is_local: bool,
    serving: BaseNode | None = None,
) -> list[BaseNode]:
    """Returns the components that compare statistics as a recipe says; the last one is the gate.

    Raises:
        ValueError: if a recipe limits the drift where the orchestrator cannot look up an earlier run.
    """
    if not validation.compares:
        return []
    if validation.drift:
        _check_local("drift", is_local)
    previous = previous_statistics(statistics) if validation.drift else None
    gate = DistributionValidator(
        statistics=statistics.outputs[STATISTICS],
        schema=schema,
        validation=validation,
        serving_statistics=serving.outputs[STATISTICS] if serving else None,
        **earlier_inputs(previous, STATISTICS, validation),
    )
    # It takes no input from the validator, and only compares records that fit the schema.
    gate.add_upstream_node(checked)
    return [*([previous] if previous else []), gate]


def earlier_corpus(validation: CorpusValidation, curator: BaseNode, *, is_local: bool) -> Resolver | None:
    """Returns the node that finds the corpus report of the last run; None if no share is bounded.

    Raises:
        ValueError: if a recipe bounds shares where the orchestrator cannot look up an earlier run.
    """
    if not validation.shares:
        return None
    _check_local("shares", is_local)
    return previous_report(curator)


def _check_local(key: str, is_local: bool) -> None:
    if not is_local:
        raise ValueError(f"validation.{key}: this orchestrator cannot look up the data of an earlier run")


def requests_of(recipe: AdaptingRecipe, path: str, digests: FileDigests) -> RequestExampleGen:
    """Returns the component that reads texts without labels."""
    columns = getattr(recipe.data, "texts", {})
    return RequestExampleGen(
        path,
        {role: columns.get(role, role) for role in recipe.task.roles},
        digests.of_requests(path),
        quoted=getattr(recipe.data, "quoted", None),
    )


def request_statistics(requests: RequestExampleGen) -> StatisticsGen:
    """Returns the component that makes the statistics of requests."""
    return StatisticsGen(examples=requests.outputs["examples"]).with_id(REQUEST_STATISTICS)


def distances_in(nodes: Iterable[BaseNode]) -> BaseChannel | None:
    """Returns the measured distances of a pipeline; None if it compares nothing."""
    found = (each.outputs["distances"] for each in nodes if "distances" in each.outputs)
    return next(found, None)


class _PreviousStrategy(resolver.ResolverStrategy):
    """Resolves the newest artifact of the same component that is not that of this run.

    What a validator refused is passed over, so that nothing is compared with data that were not used. TFX's
    LatestArtifactStrategy would give a run its own.
    """

    key: ClassVar[str]

    def resolve_artifacts(
        self, store: MetadataStore, input_dict: dict[str, list[Artifact]]
    ) -> dict[str, list[Artifact]]:
        """Returns at most one artifact under the key, and this run's if its data were taken before."""
        current = input_dict[_CURRENT + self.key]
        own, folders = {each.id for each in current}, {_component_folder(each) for each in current}
        of_component = (each for each in input_dict[self.key] if _component_folder(each) in folders)
        earlier = (each for each in of_component if each.id not in own)
        newest_first = sorted(earlier, key=lambda each: each.id, reverse=True)
        found = next((each for each in newest_first if not was_refused(store, each.id, self.key)), None)
        taken = [each for each in current if was_taken(store, each.id, self.key)]
        return {self.key: [] if found is None else [found], _CURRENT + self.key: taken}


class PreviousStatisticsStrategy(_PreviousStrategy):
    """Resolves the statistics of the last run."""

    key = STATISTICS


class PreviousReportStrategy(_PreviousStrategy):
    """Resolves the corpus report of the last run."""

    key = REPORT


def previous_statistics(current: BaseNode) -> resolver.Resolver:
    """Returns the node that finds the statistics of the last run, if there was one."""
    return _previous(
        PreviousStatisticsStrategy, current, standard_artifacts.ExampleStatistics, "PreviousStatistics"
    )


def previous_report(current: BaseNode) -> resolver.Resolver:
    """Returns the node that finds the corpus report of the last run, if there was one."""
    return _previous(PreviousReportStrategy, current, CorpusReport, "PreviousReport")


def earlier_inputs(
    node: resolver.Resolver | None, key: str, validation: Validation
) -> dict[str, BaseChannel]:
    """Returns the inputs of a validator that are about earlier runs, by their names."""
    if node is None:
        return {}
    found = {f"previous_{key}": node.outputs[key]}
    # Where nothing is refused, a validator need not run again because it has run.
    return {**found, f"taken_{key}": node.outputs[_CURRENT + key]} if validation.stops else found


def was_refused(store: MetadataStore, artifact: int, key: str = STATISTICS) -> bool:
    """Returns whether a component failed on an artifact, and has never passed it."""
    executions = store.get_executions_by_id(list(_readers(store, artifact, key)))
    failed = {each.type_id for each in executions if each.last_known_state == _FAILED}
    return bool(failed - {each.type_id for each in executions if each.last_known_state in _DONE})


def was_taken(store: MetadataStore, artifact: int, key: str = STATISTICS) -> bool:
    """Returns whether a validator has passed an artifact under `on_anomaly: report`."""
    executions = store.get_executions_by_id(list(_readers(store, artifact, key)))
    stated = (each.custom_properties["validation"].string_value for each in executions if _is_judged(each))
    return any(json.loads(each).get("on_anomaly") == "report" for each in stated)


def _is_judged(execution: metadata_store_pb2.Execution) -> bool:
    return execution.last_known_state in _DONE and "validation" in execution.custom_properties


def _previous(
    strategy: type[_PreviousStrategy], current: BaseNode, artifacts: type[Artifact], name: str
) -> resolver.Resolver:
    channels = {strategy.key: Channel(type=artifacts), _CURRENT + strategy.key: current.outputs[strategy.key]}
    return resolver.Resolver(strategy_class=strategy, **channels).with_id(name)


def _readers(store: MetadataStore, artifact: int, key: str) -> Iterator[int]:
    """Yields the executions that read it as their own data, and not those that compared theirs with it."""
    for event in store.get_events_by_artifact_ids([artifact]):
        keys = [step.key for step in event.path.steps if step.HasField("key")]
        if event.type == metadata_store_pb2.Event.INPUT and keys == [key]:
            yield event.execution_id


def _component_folder(artifact: Artifact) -> str:
    """`<component>/statistics` of `<component>/statistics/<execution>`."""
    return os.path.dirname(artifact.uri.rstrip("/"))
