"""Watches for the notice by which Compute Engine says that it takes a machine away."""

import contextlib
import http.client
import logging
import os
import threading
import urllib.request
from collections.abc import Iterator
from typing import NamedTuple

# What Google's own libraries read; by it a test stands in for the metadata server.
HOST_VARIABLE = "GCE_METADATA_HOST"
_HOST = "metadata.google.internal"
_PRODUCT_NAME = "/sys/class/dmi/id/product_name"
# The server answers after so many seconds at the latest, also where nothing has changed.
_WAIT, _RETRY = 60, 5
# No proxy of the environment reaches a server that answers this machine alone.
_ask = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
_LOG = logging.getLogger(__name__)


class _Notice(NamedTuple):
    """A key of the instance's metadata, its value when the machine goes, and what that says."""

    key: str
    value: str
    says: str


# A machine that is migrated while it runs goes on, and so does the training.
_NOTICES = (
    _Notice("maintenance-event", "TERMINATE_ON_HOST_MAINTENANCE", "maintenance of its host"),
    _Notice("preempted", "TRUE", "preemption"),
)


@contextlib.contextmanager
def watching_maintenance(termination: threading.Event) -> Iterator[None]:
    """Sets an event when the machine is about to be taken away, for as long as the block runs.

    On a machine of Compute Engine, TPU machines among them, two threads wait for the metadata server, which
    tells of maintenance a minute before, and of preemption half a minute. Elsewhere nothing is asked.
    """
    host = metadata_host()
    ended = threading.Event()
    if host:
        for notice in _NOTICES:
            # Not waited for: a request may last a minute.
            threading.Thread(target=_watch, args=(host, notice, termination, ended), daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def metadata_host() -> str:
    """Returns the address of the metadata server; empty on a machine that has none."""
    if named := os.environ.get(HOST_VARIABLE):
        return named
    try:
        with open(_PRODUCT_NAME, encoding="utf-8") as file:
            return _HOST if file.read().startswith("Google") else ""
    except OSError:
        return ""


def _watch(host: str, notice: _Notice, termination: threading.Event, ended: threading.Event) -> None:
    etag = ""
    while not ended.is_set() and not termination.is_set():
        url = f"http://{host}/computeMetadata/v1/instance/{notice.key}"
        # The first request is answered at once.
        if etag:
            url += f"?wait_for_change=true&timeout_sec={_WAIT}&last_etag={etag}"
        try:
            request = urllib.request.Request(url, headers={"Metadata-Flavor": "Google"})
            with _ask(request, timeout=2 * _WAIT) as answer:
                value, etag = answer.read().decode().strip(), answer.headers.get("ETag", "")
        except (OSError, http.client.HTTPException) as error:
            _LOG.debug("the metadata server did not answer about %s: %s", notice.key, error)
            value, etag = "", ""
        if value == notice.value and not ended.is_set():
            _LOG.warning("this machine is about to be taken away: %s", notice.says)
            termination.set()
        elif not etag:
            ended.wait(_RETRY)
