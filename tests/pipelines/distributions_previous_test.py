"""Which earlier data those of a run are compared with, by the metadata of made-up runs."""

import json

import pytest
from ml_metadata.metadata_store import MetadataStore
from ml_metadata.proto import metadata_store_pb2 as mlmd
from tfx.types import standard_artifacts

from firth.components.artifacts import CorpusReport
from firth.pipelines.distributions import PreviousReportStrategy, PreviousStatisticsStrategy

DONE, FAILED = mlmd.Execution.COMPLETE, mlmd.Execution.FAILED


class _Runs:
    """Metadata of validators and what they read, one artifact for each run's data."""

    def __init__(self, strategy, artifact_type, component):
        config = mlmd.ConnectionConfig()
        config.fake_database.SetInParent()
        self._store = MetadataStore(config)
        self._strategy, self._type, self._folder = (
            strategy(),
            artifact_type,
            f"/run/{component}/{strategy.key}",
        )
        self._artifacts = self._store.put_artifact_type(mlmd.ArtifactType(name=artifact_type.TYPE_NAME))
        self._validators = self._store.put_execution_type(mlmd.ExecutionType(name="Validator"))
        self._made = []

    def data(self):
        """Returns the number of new data."""
        made = mlmd.Artifact(type_id=self._artifacts, uri=f"{self._folder}/{len(self._made)}")
        (id,) = self._store.put_artifacts([made])
        artifact = self._type()
        artifact.id, artifact.uri = id, made.uri
        self._made.append(artifact)
        return len(self._made) - 1

    def judge(self, number, state, on_anomaly, key=None):
        """A validator passes or refuses data."""
        execution = mlmd.Execution(type_id=self._validators, last_known_state=state)
        execution.custom_properties["validation"].string_value = json.dumps({"on_anomaly": on_anomaly})
        (id,) = self._store.put_executions([execution])
        event = mlmd.Event(artifact_id=self._made[number].id, execution_id=id, type=mlmd.Event.INPUT)
        event.path.steps.add().key = key or self._strategy.key
        event.path.steps.add().index = 0
        self._store.put_events([event])

    def found(self, number):
        """Returns the number of what data are compared with, and whether a run has taken them before."""
        key = self._strategy.key
        given = {key: list(self._made), f"current_{key}": [self._made[number]]}
        resolved = self._strategy.resolve_artifacts(self._store, given)
        numbers = {each.id: place for place, each in enumerate(self._made)}
        (previous,) = [numbers[each.id] for each in resolved[key]] or [None]
        return previous, bool(resolved[f"current_{key}"])


@pytest.fixture(
    params=[
        (PreviousStatisticsStrategy, standard_artifacts.ExampleStatistics, "StatisticsGen"),
        (PreviousReportStrategy, CorpusReport, "Curator"),
    ],
    ids=["statistics", "report"],
)
def runs(request):
    return _Runs(*request.param)


def test_the_first_data_have_nothing_to_be_compared_with(runs):
    assert runs.found(runs.data()) == (None, False)


def test_data_that_were_refused_are_passed_over(runs):
    first, refused, third = runs.data(), runs.data(), runs.data()
    runs.judge(first, DONE, "stop")
    runs.judge(refused, FAILED, "stop")
    assert runs.found(third) == (first, False)
    assert runs.found(refused) == (third, False)


def test_data_that_were_taken_under_report_are_not_refused_again_under_stop(runs):
    """A run has used them, so later data are compared with them, whatever later checks found."""
    first, far = runs.data(), runs.data()
    runs.judge(first, DONE, "stop")
    runs.judge(far, FAILED, "stop")
    assert runs.found(far) == (first, False)
    runs.judge(far, DONE, "report")
    assert runs.found(far) == (first, True)
    runs.judge(far, FAILED, "stop")
    assert runs.found(far) == (first, True) and runs.found(runs.data()) == (far, False)


def test_what_a_validator_compared_others_with_was_not_judged(runs):
    first, second = runs.data(), runs.data()
    runs.judge(first, DONE, "report", key="previous_" + runs._strategy.key)
    assert runs.found(first) == (second, False)
