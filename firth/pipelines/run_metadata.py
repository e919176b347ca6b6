"""The metadata of a local run: a file of its folder, or a store that several runs share."""

import contextlib
import dataclasses
import hashlib
import os
import pathlib
import socket

from firth import storage
from firth.pipelines.run_errors import RunFolderError

METADATA_FILE = "metadata.sqlite"
# In a run's folder: which store its metadata are in, if they are not in the folder.
PLACE_FILE = "metadata.json"
_DIGITS = 8
_SECONDS_TO_ANSWER = 10.0


@dataclasses.dataclass(frozen=True)
class RunMetadata:
    """The metadata of a local run.

    Attributes:
        place: Path of a file of SQLite, or URL of a database without its password.
        pipeline: Name of the run's pipeline in a store that several runs share; empty for a file that is the
            run's alone.
    """

    place: str
    pipeline: str = ""


def metadata_of(run_dir: pathlib.Path) -> RunMetadata:
    """Returns the place of the metadata of a run."""
    kept = storage.read_json(run_dir / PLACE_FILE)
    return RunMetadata(str(run_dir / METADATA_FILE)) if kept is None else RunMetadata(**kept)


def keep_metadata_in(run_dir: pathlib.Path, place: str) -> None:
    """Makes a folder's run keep its metadata in a store, which must answer."""
    now = metadata_of(run_dir)
    if not place and not now.pipeline:
        return
    wanted = _checked(place or now.place)
    if wanted == now.place:
        return
    if now.pipeline or storage.exists(now.place):
        raise RunFolderError(
            f"the metadata of {run_dir} are in {now.place}, not in {wanted}; name no other place "
            "for them, or give this run a --name of its own"
        )
    kept = RunMetadata(wanted, _pipeline_of(run_dir))
    storage.write_json(run_dir / PLACE_FILE, dataclasses.asdict(kept))


def _checked(place: str) -> str:
    """Returns a place that answers, with a path written out."""
    from ml_metadata import errors
    from ml_metadata.metadata_store import MetadataStore

    from firth.pipelines.metadata_stores import (
        PASSWORD_VARIABLE,
        address_of,
        connection_config,
        has_password,
    )

    try:
        if has_password(place):
            raise ValueError(
                "metadata: everybody on this machine can read the password of a command; leave it out of the "
                f"URL and set {PASSWORD_VARIABLE}"
            )
        place = place if "://" in place else os.path.abspath(place)
        if "://" not in place and not storage.is_folder(os.path.dirname(place)):
            raise ValueError(f"metadata: there is no folder {os.path.dirname(place)}; make it first")
        config = connection_config(place)
    except ValueError as error:
        raise RunFolderError(str(error)) from None
    try:
        # ML Metadata asks a server that is not there again and again.
        with contextlib.ExitStack() as open_now:
            if address := address_of(config):
                open_now.enter_context(socket.create_connection(address, _SECONDS_TO_ANSWER))
            MetadataStore(config)
    except (errors.StatusError, RuntimeError, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise RunFolderError(f"metadata: {place} does not answer: {reason}") from None
    return place


def _pipeline_of(run_dir: pathlib.Path) -> str:
    """Returns a name that no other run's pipeline has in the store, since outputs of one name are shared."""
    return f"{run_dir.name}-{hashlib.sha256(str(run_dir).encode()).hexdigest()[:_DIGITS]}"
