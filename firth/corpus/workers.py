"""Beam's worker processes on this machine, forked from one that has imported what they need."""

import json
import os
import subprocess
import sys
import threading

from apache_beam.portability import python_urns
from apache_beam.runners.portability.fn_api_runner.worker_handlers import GrpcWorkerHandler, WorkerHandler
from google.protobuf import json_format, text_format


def fork_workers() -> None:
    """Has the `multi_processing` mode of Beam's runner fork its workers, in this process and from now on.

    Beam starts an interpreter for each worker of each pipeline, which takes seconds to import Beam alone.

    Example:

    >>> fork_workers()
    """
    WorkerHandler.register_environment(python_urns.SUBPROCESS_SDK, bytes)(_ForkedWorkerHandler)


class _Parent:
    """The process that forks workers. It is started with the first of them, and ends with this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def fork(self, environment: dict[str, str]) -> None:
        place = {"environment": environment, "folder": os.getcwd()}
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                command = [sys.executable, "-m", "firth.corpus.worker_parent"]
                self._process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)
            assert self._process.stdin
            self._process.stdin.write(f"{json.dumps(place)}\n")
            self._process.stdin.flush()


_PARENT = _Parent()


class _ForkedWorkerHandler(GrpcWorkerHandler):
    """Beam's handler of a worker in a process, but for how that is started."""

    def __init__(self, worker_command_line, state, provision_info, grpc_server):
        del worker_command_line
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
        """Nothing: a worker ends when its runner's end of the connection does."""
