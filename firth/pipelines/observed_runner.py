"""TFX's runner on one machine, which reports the start and the end of each component."""

import datetime
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import apache_beam as beam
from absl import logging
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from google.protobuf.message import Message
from ml_metadata.proto import metadata_store_pb2
from tfx.dsl.compiler import constants
from tfx.orchestration import metadata
from tfx.orchestration.local import runner_utils
from tfx.orchestration.portable import (
    beam_executor_operator,
    launcher,
    runtime_parameter_utils,
    tfx_runner,
)
from tfx.proto.orchestration import executable_spec_pb2
from tfx.utils import telemetry_utils

BACKSLASH, ESCAPED = "\\", "%5C"


class Observer(Protocol):
    """An object that is called for each component of a running pipeline."""

    def begin(self, components: Sequence[str]) -> None:
        """Notes which components there are."""

    def start(self, component: str) -> None:
        """Notes that a component starts."""

    def end(self, state: str) -> None:
        """Notes that the component that started last has ended."""


class InProcessBeam(beam_executor_operator.BeamExecutorOperator):
    """Runs a component on Beam; without options of Beam, by the runner of this process.

    Beam's default, `DirectRunner`, offers each pipeline to Prism first, a program that it loads from the
    internet. It ends with the same runner where Prism is not there, after it has translated the pipeline
    once more and looked through all of its functions twice.
    """

    def run_executor(
        self, execution_info: Any, make_beam_pipeline_fn: Callable[[], beam.Pipeline] | None = None
    ) -> Any:
        """Runs the component."""
        if make_beam_pipeline_fn is None and not self.beam_pipeline_args:
            make_beam_pipeline_fn = _pipeline_in_process
        return super().run_executor(execution_info, make_beam_pipeline_fn)


def _pipeline_in_process() -> beam.Pipeline:
    return beam.Pipeline(runner=FnApiRunner(), argv=[])


class ObservedDagRunner(tfx_runner.IrBasedRunner):
    """Runs a pipeline's components one after the other, each by TFX's launcher, as `LocalDagRunner` does.

    `LocalDagRunner` announces components on its log alone. Whether a component's outputs came from the cache
    is read from its execution in ML Metadata.
    """

    def __init__(self, observer: Observer) -> None:
        super().__init__()
        self._observer = observer

    def run_with_ir(self, pipeline: Any, run_options: Any = None, **kwargs: Any) -> None:
        """Runs a compiled pipeline.

        Raises:
            Exception: as a component does; the observer is not called for its end.
        """
        if run_options is not None or kwargs:
            raise ValueError("the whole pipeline runs: no options are taken")
        # Two runs under a clock that was set back are two runs.
        run_id = f"{datetime.datetime.now().isoformat()}-{uuid.uuid4().hex[:8]}"
        runtime_parameter_utils.substitute_runtime_parameter(
            pipeline, {constants.PIPELINE_RUN_ID_PARAMETER_NAME: run_id}
        )
        self._observer.begin([node.pipeline_node.node_info.id for node in pipeline.nodes])
        with telemetry_utils.scoped_labels({telemetry_utils.LABEL_TFX_RUNNER: "local"}):
            for node in pipeline.nodes:
                self._run_component(pipeline, node.pipeline_node)

    def _run_component(self, pipeline: Any, node: Any) -> None:
        name = node.node_info.id
        deployment = runner_utils.extract_local_deployment_config(pipeline)
        connection = deployment.metadata_connection_config
        store = OrderedMetadata(getattr(connection, connection.WhichOneof("connection_config")))
        component = launcher.Launcher(
            pipeline_node=node,
            mlmd_connection=store,
            pipeline_info=pipeline.pipeline_info,
            pipeline_runtime_spec=pipeline.runtime_spec,
            executor_spec=runner_utils.extract_executor_spec(deployment, name),
            custom_driver_spec=runner_utils.extract_custom_driver_spec(deployment, name),
            custom_executor_operators={executable_spec_pb2.BeamExecutableSpec: InProcessBeam},
        )
        logging.info("Component %s is running.", name)
        self._observer.start(name)
        execution = component.launch()
        self._observer.end(
            "cached" if execution and _is_cached(store, execution.execution_id) else "finished"
        )
        logging.info("Component %s is finished.", name)


def _is_cached(store: metadata.Metadata, execution_id: int | None) -> bool:
    if execution_id is None:
        return False
    try:
        with store as handle:
            (execution,) = handle.store.get_executions_by_id([execution_id])
    except Exception as error:
        # The component has succeeded. This decides only between the words `cached` and `finished`.
        logging.warning("whether execution %d was cached cannot be read: %s", execution_id, error)
        return False
    return execution.last_known_state == metadata_store_pb2.Execution.CACHED


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


def without_backslashes(given: Any) -> Any:
    r"""Returns artifacts, executions and contexts whose values have %5C for each backslash.

    Components get the values from memory, so that only readers of the store see the change.

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
                value.string_value = value.string_value.replace(BACKSLASH, ESCAPED)
    return made
