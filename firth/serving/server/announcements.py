"""Servers that run on this machine: each has a file, by which commands of the same user find it."""

import contextlib
import http.client
import json
import os
import pathlib
import secrets
import ssl
import stat
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from firth import storage
from firth.serving.server.sources import digest_of_files

TOKEN_VARIABLE = "FIRTH_SERVER_TOKEN"
# Seconds in which a server on this machine answers a request, and says whether it is ready.
_ANSWER_SECONDS = 600.0
_READY_SECONDS = 10.0


class ServedVersion(NamedTuple):
    """A version of a model that a server has loaded.

    Attributes:
        name: Name of the model in requests.
        version: Number of the version.
        path: Folder of its SavedModel.
        digest: Digest of its files as they were when it was loaded; see `digest_of_files`.
    """

    name: str
    version: int
    path: str
    digest: str


class Announcement:
    """The file of a server, which is removed when it ends.

    Args:
        address: Address of HTTP.
        needs_token: True if requests bear a token.

    Attributes:
        identity: Random name of the process, which `/readyz` also gives.
    """

    def __init__(self, address: str, needs_token: bool) -> None:
        self.identity = secrets.token_hex(16)
        self._facts = {
            "address": address,
            "identity": self.identity,
            "process": os.getpid(),
            "needs_token": needs_token,
        }
        self._is_over = False

    def write(self, models: Iterable[ServedVersion]) -> None:
        """Writes the versions that are loaded now, and removes files of processes that are gone.

        Args:
            models: The versions.

        Raises:
            OSError: if the folder of the files cannot be used.
        """
        if self._is_over:
            return
        folder = _folder()
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not _is_own(folder):
            raise PermissionError(f"{folder} is open to other users")
        for path, facts in _announcements(folder):
            if not _is_running(facts):
                storage.remove(path)
        described = {**self._facts, "models": [each._asdict() for each in models]}
        storage.write_json(self._path(folder), described)

    def remove(self) -> None:
        """Removes the file for good."""
        self._is_over = True
        storage.remove(self._path(_folder()))

    def _path(self, folder: str) -> str:
        return os.path.join(folder, f"{self.identity}.json")


class RunningServer(NamedTuple):
    """A server on this machine that has loaded a version of a model.

    Attributes:
        address: Address of HTTP.
        model: The version.
        token: Token that requests bear; empty for none.
    """

    address: str
    model: ServedVersion
    token: str

    def ask(self, path: str, body: Mapping[str, Any]) -> Any:
        """Returns the answer of an address about the model; None if the server does not give one.

        Args:
            path: Path of the address.
            body: Body of the request, without the model and its version.
        """
        asked = {"model": self.model.name, "version": self.model.version, **body}
        return _answer(f"{self.address}{path}", self.token, json.dumps(asked).encode(), _ANSWER_SECONDS)


def server_of(path: str) -> RunningServer | None:
    """Returns a server of this user that has loaded a SavedModel as its files are now; None without one.

    One that asks for a token is asked only where `FIRTH_SERVER_TOKEN` has it, and one with TLS where its
    certificate is trusted here, for example by `SSL_CERT_FILE`.

    Args:
        path: Folder of the SavedModel.
    """
    folder, wanted = _folder(), os.path.realpath(path)
    if not storage.is_folder(folder) or not _is_own(folder):
        return None
    digest = ""
    for _, facts in _announcements(folder):
        token = os.environ.get(TOKEN_VARIABLE, "") if facts["needs_token"] else ""
        same = [model for model in facts["models"] if os.path.realpath(model.path) == wanted]
        if not same or not _is_running(facts) or (facts["needs_token"] and not token):
            continue
        digest = digest or digest_of_files(path)
        # Another process may have the port by now; the token is for the one that wrote the file.
        ready = _answer(f"{facts['address']}/readyz", seconds=_READY_SECONDS)
        if isinstance(ready, dict) and ready.get("id") == facts["identity"]:
            for model in same:
                if model.digest == digest:
                    return RunningServer(facts["address"], model, token)
    return None


def _folder() -> str:
    """Returns the folder of the files, which only this user reads."""
    home = os.environ.get("XDG_RUNTIME_DIR")
    if home:
        return os.path.join(home, "firth")
    return os.path.join(storage.lasting_temporary_folder(), f"firth-{os.getuid()}")


def _is_own(folder: str) -> bool:
    """Returns whether nobody else can have written into a folder."""
    found = os.lstat(folder)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def _announcements(folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the files and what they say; one that another version of firth wrote says nothing."""
    for path in sorted(map(str, pathlib.Path(folder).glob("*.json"))):
        # A server may have ended meanwhile.
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            read: Any = storage.read_json(path)
            facts = {key: read[key] for key in ("address", "identity", "process", "needs_token")}
            yield path, {**facts, "models": [ServedVersion(**each) for each in read["models"]]}


def _is_running(facts: Mapping[str, Any]) -> bool:
    try:
        os.kill(facts["process"], 0)
    except ProcessLookupError:
        return False
    except (OSError, TypeError, OverflowError):
        # The number is that of another user's process by now.
        return False
    return True


def _answer(address: str, token: str = "", body: bytes | None = None, seconds: float | None = None) -> Any:
    """Returns the JSON of an answer; None for an error, and if nobody answers."""
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    try:
        place = urllib.parse.urlsplit(address)
        with contextlib.closing(_connection(place, seconds)) as connection:
            connection.request("GET" if body is None else "POST", place.path, body, headers)
            answer = connection.getresponse()
            return json.loads(answer.read()) if answer.status == http.HTTPStatus.OK else None
    except (OSError, ValueError, http.client.HTTPException):
        return None


def _connection(place: urllib.parse.SplitResult, seconds: float | None) -> http.client.HTTPConnection:
    if place.scheme != "https":
        return http.client.HTTPConnection(place.netloc, timeout=seconds)
    context = ssl.create_default_context()
    return http.client.HTTPSConnection(place.netloc, timeout=seconds, context=context)
