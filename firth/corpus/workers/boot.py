"""The program that a runner of Beam starts for each worker, like the boot program of Beam's containers.

    firth-beam-worker --id=1 --provision_endpoint=localhost:50000

It is the `command` of `--environment_type=PROCESS`, and the `--container_executable` of Beam's pools of
workers. It asks the runner for the options and the packages of the pipeline, and then runs Beam's harness.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from google.protobuf import json_format, text_format

from firth import storage

if TYPE_CHECKING:
    from apache_beam.portability.api.beam_provision_api_pb2 import ProvisionInfo

_PROGRAM = "firth-beam-worker"
# A runner starts the program, so the example is the option that names it.
_EXAMPLE = """\
example:
  firth curate web.yaml --beam-arg=--runner=FlinkRunner --beam-arg=--environment_type=PROCESS \\
    --beam-arg='--environment_config={"command": "firth-beam-worker"}'
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Works until the runner ends the worker.

    Raises:
        firth.corpus.workers.packages.PackageError: if a package of the pipeline cannot be installed.
    """
    how = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        _PROGRAM, None, "A worker for a runner of Beam.", _EXAMPLE, formatter_class=how
    )
    parser.add_argument("--id", required=True, help="name that the runner gives the worker")
    parser.add_argument("--provision_endpoint", required=True, help="address of the provision service")
    # Some runners also name the other addresses, which this endpoint returns.
    given, _ = parser.parse_known_args(arguments)
    # Beam reads it when it is imported.
    os.environ["WORKER_ID"] = given.id
    info = _ask(given.provision_endpoint, given.id)
    with storage.scratch_folder() as folder:
        from firth.corpus.workers.packages import install_packages

        sys.path[:0] = install_packages(info, folder)
        os.environ.update(harness_variables(info))
        from apache_beam.runners.worker import sdk_worker_main

        sdk_worker_main.main([])


def _ask(address: str, worker: str) -> "ProvisionInfo":
    """Returns the runner's provision of a worker: options, packages and addresses."""
    from apache_beam.portability.api import beam_provision_api_pb2, beam_provision_api_pb2_grpc
    from apache_beam.runners.worker.channel_factory import GRPCChannelFactory

    with GRPCChannelFactory.insecure_channel(address) as channel:
        service = beam_provision_api_pb2_grpc.ProvisionServiceStub(channel)
        request = beam_provision_api_pb2.GetProvisionInfoRequest()
        return service.GetProvisionInfo(request, metadata=(("worker_id", worker),)).info


def harness_variables(info: "ProvisionInfo") -> dict[str, str]:
    """Returns the environment variables that Beam's harness of a worker reads."""
    variables = {
        "CONTROL_API_SERVICE_DESCRIPTOR": text_format.MessageToString(info.control_endpoint),
        "LOGGING_API_SERVICE_DESCRIPTOR": text_format.MessageToString(info.logging_endpoint),
        "PIPELINE_OPTIONS": json_format.MessageToJson(info.pipeline_options),
        "RUNNER_CAPABILITIES": " ".join(info.runner_capabilities),
    }
    if info.HasField("status_endpoint"):
        variables["STATUS_API_SERVICE_DESCRIPTOR"] = text_format.MessageToString(info.status_endpoint)
    return variables


if __name__ == "__main__":
    main()
