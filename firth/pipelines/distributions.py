"""The components that compare the data of a run with those of the last one, and with requests."""

from collections.abc import Iterable

from tfx.components import StatisticsGen
from tfx.dsl.components.base.base_node import BaseNode
from tfx.dsl.components.common.resolver import Resolver
from tfx.types import BaseChannel

from firth.components import DistributionValidator, RequestExampleGen
from firth.components.file_digests import FileDigests
from firth.pipelines.previous_statistics import STATISTICS, found_by, previous_report, previous_statistics
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.run.validation import CorpusValidation, Validation

REQUEST_STATISTICS = "RequestStatistics"


def compared_with_others(
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
        **found_by(previous, STATISTICS, validation),
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
    made: StatisticsGen = StatisticsGen(examples=requests.outputs["examples"]).with_id(REQUEST_STATISTICS)
    return made


def distances_in(nodes: Iterable[BaseNode]) -> BaseChannel | None:
    """Returns the measured distances of a pipeline; None if it compares nothing."""
    found = (each.outputs["distances"] for each in nodes if "distances" in each.outputs)
    return next(found, None)
