"""Packages that a pipeline sends, from a service on this machine."""

import contextlib
import sys
from concurrent import futures

import grpc
import pytest
from apache_beam.portability.api import (
    beam_artifact_api_pb2_grpc,
    beam_provision_api_pb2,
    beam_runner_api_pb2,
    endpoints_pb2,
)
from apache_beam.portability.common_urns import artifact_roles, artifact_types
from apache_beam.runners.portability.artifact_service import ArtifactRetrievalService

from firth.corpus.workers.packages import PackageError, install_packages
from tests.corpus.workers.wheels import write_wheel


@contextlib.contextmanager
def sending(files):
    """Gives what a runner says of a pipeline that sends files, contents by name."""
    server = grpc.server(futures.ThreadPoolExecutor(1))
    beam_artifact_api_pb2_grpc.add_ArtifactRetrievalServiceServicer_to_server(
        ArtifactRetrievalService(file_reader=None), server
    )
    port = server.add_insecure_port("localhost:0")
    server.start()
    sent = [
        beam_runner_api_pb2.ArtifactInformation(
            type_urn=artifact_types.EMBEDDED.urn,
            type_payload=beam_runner_api_pb2.EmbeddedFilePayload(data=content).SerializeToString(),
            role_urn=artifact_roles.STAGING_TO.urn,
            role_payload=beam_runner_api_pb2.ArtifactStagingToRolePayload(
                staged_name=name
            ).SerializeToString(),
        )
        for name, content in files.items()
    ]
    address = endpoints_pb2.ApiServiceDescriptor(url=f"localhost:{port}")
    yield beam_provision_api_pb2.ProvisionInfo(dependencies=sent, artifact_endpoint=address)
    server.stop(None)


@pytest.mark.parametrize(
    "listed",
    [
        pytest.param(
            {"extra_packages.txt": b"tiny_words-1.0-py3-none-any.whl\n"}, marks=pytest.mark.repeated
        ),
        {"requirements.txt": b"--no-index\ntiny_words==1.0\n"},
    ],
)
def test_a_package_is_installed_for_the_worker_alone(tmp_path, listed):
    wheel = write_wheel(tmp_path)
    folder = tmp_path / "worker"
    folder.mkdir()
    with sending({wheel.name: wheel.read_bytes(), **listed}) as info:
        (site,) = install_packages(info, str(folder))
    assert (folder / "site" / "tiny_words.py").exists() and site == str(folder / "site")
    assert site not in sys.path


def test_nothing_is_installed_where_nothing_is_asked_for(tmp_path):
    assert install_packages(beam_provision_api_pb2.ProvisionInfo(), str(tmp_path)) == []
    with sending({"submission_environment_dependencies.txt": b"numpy==1.0\n"}) as info:
        assert install_packages(info, str(tmp_path)) == []


def test_what_pip_says_of_a_package_that_is_broken_is_said(tmp_path):
    files = {"broken-1.0-py3-none-any.whl": b"", "extra_packages.txt": b"broken-1.0-py3-none-any.whl\n"}
    with sending(files) as info, pytest.raises(PackageError, match="broken"):
        install_packages(info, str(tmp_path))
