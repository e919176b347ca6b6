"""TFX's runner on one machine, observed: it says when each component starts, and how it ended."""

import datetime
import uuid
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import apache_beam as beam
from absl import logging
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
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

from firth.pipelines.metadata.ordered_store import OrderedMetadata


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
            Exception: what a component raises; the observer is not called for its end.
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
