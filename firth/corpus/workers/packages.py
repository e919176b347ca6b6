"""Packages that a pipeline sends to its workers, from `--requirements_file` and similar options of Beam."""

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from apache_beam.portability.api import (
    beam_artifact_api_pb2,
    beam_artifact_api_pb2_grpc,
    beam_runner_api_pb2,
)
from apache_beam.runners.portability import stager
from apache_beam.runners.portability.artifact_service import store_artifact
from apache_beam.runners.worker.channel_factory import GRPCChannelFactory

from firth import storage

if TYPE_CHECKING:
    from apache_beam.portability.api.beam_provision_api_pb2 import ProvisionInfo

_SITE = "site"
_LAST_LINES = 5


class PackageError(Exception):
    """A package that a pipeline sends cannot be installed."""


def install_packages(info: "ProvisionInfo", folder: str) -> list[str]:
    """Installs a pipeline's packages for one worker alone; returns the folders to import them from.

    Only the named packages are installed: requirements name every package that the worker lacks, as a lock
    does.
    """
    if not info.dependencies:
        return []
    _fetch(info, folder)
    site = os.path.join(folder, _SITE)
    wanted = _wanted(folder)
    if not wanted:
        return []
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--find-links", folder, "--target", site]
    done = subprocess.run([*command, *wanted], capture_output=True, text=True, check=False)
    if done.returncode:
        message = "\n".join(done.stderr.strip().splitlines()[-_LAST_LINES:])
        raise PackageError(f"a worker cannot install what the pipeline sends: {message}")
    return [site]


def _wanted(folder: str) -> list[str]:
    """Returns pip's arguments for the files that Beam sends."""
    names = (stager.REQUIREMENTS_FILE, stager.EXTRA_PACKAGES_FILE, stager.WORKFLOW_TARBALL_FILE)
    requirements, extra, workflow = (os.path.join(folder, name) for name in names)
    wanted = ["-r", requirements] if storage.exists(requirements) else []
    if storage.exists(extra):
        wanted += [os.path.join(folder, name) for name in storage.read_text(extra).split()]
    return [*wanted, workflow] if storage.exists(workflow) else wanted


def _fetch(info: "ProvisionInfo", folder: str) -> None:
    """Writes the files that a pipeline sends to a folder, under the names that they have there."""
    with GRPCChannelFactory.insecure_channel(info.artifact_endpoint.url) as channel:
        service = beam_artifact_api_pb2_grpc.ArtifactRetrievalServiceStub(channel)
        request = beam_artifact_api_pb2.ResolveArtifactsRequest(artifacts=info.dependencies)
        for each in service.ResolveArtifacts(request).replacements:
            stored = store_artifact(each, service, folder)
            path = beam_runner_api_pb2.ArtifactFilePayload.FromString(stored.type_payload).path
            name = beam_runner_api_pb2.ArtifactStagingToRolePayload.FromString(each.role_payload).staged_name
            storage.move(path, os.path.join(folder, os.path.basename(name)))
