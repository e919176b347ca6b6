"""The arguments of a worker's program, and what it tells Beam's harness."""

import json

import pytest
from apache_beam.portability.api import beam_provision_api_pb2, endpoints_pb2
from google.protobuf import json_format, struct_pb2, text_format

from firth.corpus.workers import boot


def info(**more):
    options = json_format.ParseDict({"beam:option:job_name:v1": "firth"}, struct_pb2.Struct())
    addresses = {
        f"{name}_endpoint": endpoints_pb2.ApiServiceDescriptor(url=f"localhost:{port}")
        for name, port in (("control", 1), ("logging", 2))
    }
    return beam_provision_api_pb2.ProvisionInfo(
        pipeline_options=options, runner_capabilities=["a", "b"], **addresses, **more
    )


def address(line):
    return text_format.Parse(line, endpoints_pb2.ApiServiceDescriptor()).url


def test_the_harness_is_told_addresses_and_options():
    variables = boot.harness_variables(info())
    assert address(variables["CONTROL_API_SERVICE_DESCRIPTOR"]) == "localhost:1"
    assert address(variables["LOGGING_API_SERVICE_DESCRIPTOR"]) == "localhost:2"
    assert json.loads(variables["PIPELINE_OPTIONS"]) == {"beam:option:job_name:v1": "firth"}
    assert variables["RUNNER_CAPABILITIES"] == "a b"
    assert "STATUS_API_SERVICE_DESCRIPTOR" not in variables
    status = endpoints_pb2.ApiServiceDescriptor(url="localhost:3")
    variables = boot.harness_variables(info(status_endpoint=status))
    assert address(variables["STATUS_API_SERVICE_DESCRIPTOR"]) == "localhost:3"


def test_the_help_shows_how_a_runner_starts_it(capsys):
    with pytest.raises(SystemExit):
        boot.main(["--help"])
    assert "--environment_config=" in capsys.readouterr().out


def test_the_name_and_the_address_are_needed(capsys):
    with pytest.raises(SystemExit) as ended:
        boot.main(["--id=1"])
    assert ended.value.code == 2 and "--provision_endpoint" in capsys.readouterr().err
