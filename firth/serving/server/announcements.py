"""Servers that run on this machine: each has a file, by which commands of the same user find it."""

import contextlib
import hmac
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
from firth.serving.exported_model import digest_of_files

TOKEN_VARIABLE = "FIRTH_SERVER_TOKEN"
# Address of HTTP at which a server proves that it wrote its file.
CHALLENGE = "/firth/challenge"
# Seconds in which a server on this machine answers a request, and a challenge.
_ANSWER_SECONDS = 600.0
_PROOF_SECONDS = 10.0
# Most bytes of the answer to a challenge, which any process may give.
_PROOF_BYTES = 4_096


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

    It holds a secret, by which the server proves at its address that it wrote the file: another process may
    have the port later.

    Args:
        address: Address of HTTP.
        needs_token: True if requests bear a token.
    """

    def __init__(self, address: str, needs_token: bool) -> None:
        self._name, self._secret, self._address = secrets.token_hex(16), secrets.token_hex(32), address
        self._facts = {
            "address": address,
            "secret": self._secret,
            "process": os.getpid(),
            "needs_token": needs_token,
        }
        self._is_over = False

    def proof(self, nonce: str) -> str:
        """Returns the answer to a challenge; see `proof_of`."""
        return proof_of(self._secret, nonce, self._address)

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
        with storage.whole_file(self._path(folder)) as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(json.dumps(described).encode())

    def remove(self) -> None:
        """Removes the file for good."""
        self._is_over = True
        storage.remove(self._path(_folder()))

    def _path(self, folder: str) -> str:
        return os.path.join(folder, f"{self._name}.json")


def proof_of(secret: str, nonce: str, address: str) -> str:
    """Returns the HMAC-SHA256 of a nonce and an address by a secret, in hexadecimal digits.

    The address is a part of it, so that a process at another address cannot pass a challenge on.

    Example:

    >>> proof_of("secret", "nonce", "http://127.0.0.1:8501")[:8]
    '2254b83d'
    """
    return hmac.new(secret.encode(), f"{nonce} {address}".encode(), "sha256").hexdigest()


class RunningServer(NamedTuple):
    """A server on this machine that has loaded a version of a model.

    Attributes:
        address: Address of HTTP.
        secret: Secret of its file.
        model: The version.
        token: Token that requests bear; empty for none.
    """

    address: str
    secret: str
    model: ServedVersion
    token: str

    def ask(self, path: str, body: Mapping[str, Any]) -> Any:
        """Returns the answer of an address about the model; None if the server does not give one.

        Text and token are sent on a connection on which the server has met a challenge.

        Args:
            path: Path of the address.
            body: Body of the request, without the model and its version.
        """
        asked = {"model": self.model.name, "version": self.model.version, **body}
        with _proven(self.address, self.secret) as connection:
            if connection is None:
                return None
            if connection.sock is not None:
                connection.sock.settimeout(_ANSWER_SECONDS)
            return _answer(connection, path, asked, self.token)


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
        found = [model for model in same if model.digest == digest]
        if not found:
            continue
        with _proven(facts["address"], facts["secret"]) as connection:
            if connection is not None:
                return RunningServer(facts["address"], facts["secret"], found[0], token)
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
            facts = {key: read[key] for key in ("address", "secret", "process", "needs_token")}
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


@contextlib.contextmanager
def _proven(address: str, secret: str) -> Iterator[http.client.HTTPConnection | None]:
    """Gives a connection on which a server has met a challenge; None if none answers, or another one.

    It is not opened again: another process may have the port by then.
    """
    nonce = secrets.token_hex(32)
    with contextlib.closing(_connection(urllib.parse.urlsplit(address), _PROOF_SECONDS)) as connection:
        with contextlib.suppress(OSError):
            connection.connect()
        connection.auto_open = 0
        found = _answer(connection, CHALLENGE, {"nonce": nonce}, most=_PROOF_BYTES)
        proof = found.get("proof") if isinstance(found, dict) else None
        is_proven = isinstance(proof, str) and hmac.compare_digest(
            proof.encode(), proof_of(secret, nonce, address).encode()
        )
        yield connection if is_proven else None


def _answer(
    connection: http.client.HTTPConnection,
    path: str,
    body: Mapping[str, Any],
    token: str = "",
    most: int | None = None,
) -> Any:
    """Returns the JSON of an answer; None for an error, for one that is too long, and if nobody answers."""
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    try:
        connection.request("POST", path, json.dumps(body).encode(), headers)
        answer = connection.getresponse()
        content = answer.read() if most is None else answer.read(most + 1)
        is_whole = most is None or len(content) <= most
        return json.loads(content) if is_whole and answer.status == http.HTTPStatus.OK else None
    except (OSError, ValueError, RecursionError, http.client.HTTPException):
        return None


def _connection(place: urllib.parse.SplitResult, seconds: float) -> http.client.HTTPConnection:
    if place.scheme != "https":
        return http.client.HTTPConnection(place.netloc, timeout=seconds)
    context = ssl.create_default_context()
    return http.client.HTTPSConnection(place.netloc, timeout=seconds, context=context)
