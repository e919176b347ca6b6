"""Beam's worker processes on this machine, forked from a process that has imported what they need."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions
from apache_beam.portability import python_urns
from apache_beam.runners.portability.fn_api_runner.worker_handlers import GrpcWorkerHandler, WorkerHandler
from google.protobuf import json_format, text_format


def fork_workers(beam_pipeline_args: Sequence[str] = ()) -> None:
    """Makes Beam's `multi_processing` mode fork its workers, for all later pipelines of this process.

    Otherwise Beam starts a new interpreter for each worker of each pipeline, which takes seconds to import
    Beam.

    Args:
        beam_pipeline_args: Arguments of later pipelines. If they ask for that mode, the process from which
            workers are forked is started at once, and imports what they need while this process continues.

    Example:

    >>> fork_workers()
    """
    # Beam has no public option for the way workers start. Two pipelines of two workers that do nearly
    # nothing take 8 s with forks, and 30 s with an interpreter for each worker (benchmarks/worker_start.py).
    WorkerHandler.register_environment(python_urns.SUBPROCESS_SDK, bytes)(_ForkedWorkerHandler)
    options = PipelineOptions(list(beam_pipeline_args)).view_as(DirectOptions)
    if options.direct_running_mode == "multi_processing":
        _PARENT.start()


class _Parent:
    """The process from which workers are forked. It ends when this process ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def fork(self, environment: dict[str, str]) -> None:
        place = {"environment": environment, "folder": os.getcwd()}
        with self._lock:
            stdin = self._started().stdin
            assert stdin
            stdin.write(f"{json.dumps(place)}\n")
            stdin.flush()

    def start(self) -> None:
        with self._lock:
            self._started()

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            command = [sys.executable, "-m", "firth.corpus.workers.worker_parent"]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)
        return self._process


_PARENT = _Parent()


class _ForkedWorkerHandler(GrpcWorkerHandler):
    """Beam's handler of a worker in a process of its own, which is forked from `_PARENT`."""

    def __init__(self, worker_command_line: bytes, state: Any, provision_info: Any, grpc_server: Any) -> None:
        super().__init__(state, provision_info, grpc_server)

    def start_worker(self) -> None:
        options = self.provision_info.provision_info.pipeline_options
        _PARENT.fork(
            {
                **os.environ,
                "CONTROL_API_SERVICE_DESCRIPTOR": text_format.MessageToString(
                    self.control_api_service_descriptor()
                ),
                "LOGGING_API_SERVICE_DESCRIPTOR": text_format.MessageToString(
                    self.logging_api_service_descriptor()
                ),
                "PIPELINE_OPTIONS": json_format.MessageToJson(options),
                "WORKER_ID": self.worker_id,
            }
        )

    def stop_worker(self) -> None:
        """Does nothing: a worker ends when the runner closes its end of the connection."""
