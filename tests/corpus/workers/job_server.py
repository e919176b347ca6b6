"""Beam's job service in Python, which starts a process for each worker of `--environment_type=PROCESS`.

    python -m tests.corpus.workers.job_server PORT_FILE

The service that Beam has knows no such environment. What it lacks is here: the command of the environment is
started with the arguments that Beam's runners in Java give it.
"""

import os
import pathlib
import subprocess
import sys
import threading

from apache_beam.portability.api import beam_runner_api_pb2
from apache_beam.portability.common_urns import environments
from apache_beam.runners.portability.fn_api_runner.worker_handlers import GrpcWorkerHandler, WorkerHandler
from apache_beam.runners.portability.local_job_service import LocalJobServicer


@WorkerHandler.register_environment(environments.PROCESS.urn, beam_runner_api_pb2.ProcessPayload)
class ProcessWorkerHandler(GrpcWorkerHandler):
    """A worker in a process of the environment's command."""

    def __init__(self, payload, state, provision_info, grpc_server):
        super().__init__(state, provision_info, grpc_server)
        self._payload = payload

    def start_worker(self):
        ends = ("provision", "logging", "artifact", "control")
        addresses = [f"--{each}_endpoint={self.control_address}" for each in ends]
        self._process = subprocess.Popen(
            [self._payload.command, f"--id={self.worker_id}", *addresses],
            env={**os.environ, **self._payload.env},
        )
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self):
        # Otherwise the runner waits for ever for a worker that has never come.
        if self._process.wait():
            os._exit(1)

    def stop_worker(self):
        self._process.wait()


def main(port_file):
    server = LocalJobServicer()
    pathlib.Path(port_file).write_text(str(server.start_grpc_server()))
    # It ends with the process that has started it.
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
