"""Digests of contents, kept on this machine so that unchanged files are not read again."""

import contextlib
import os
import pathlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

# Digests that no one has asked for in so many days are removed.
_KEPT_DAYS = 180
_DAY_SECONDS = 86_400
_MAX_READERS = 8
_TABLE = "create table if not exists digests (path blob primary key, state text, digest blob, day integer)"


def cache_folder() -> str:
    """Returns the folder of what firth keeps for the user: `firth` in `XDG_CACHE_HOME`, or in `~/.cache`."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(home, "firth")


def cached_digests(states: Mapping[str, str], read: Callable[[str], bytes]) -> dict[str, bytes | OSError]:
    """Returns the digests of files, of which those with a known state are not read.

    They are kept in `digests.sqlite` in `cache_folder`. Where it cannot be written, all files are read.
    """
    with _cache() as cache:
        known = {} if cache is None else _known(cache, states)
        unread = [path for path in states if path not in known]
        with ThreadPoolExecutor(min(_MAX_READERS, os.cpu_count() or 1)) as readers:
            found = dict(zip(unread, readers.map(lambda path: _or_error(read, path), unread)))
        if cache is not None:
            _keep(cache, states, found)
    return {path: known[path] if path in known else found[path] for path in states}


def _or_error(read: Callable[[str], bytes], path: str) -> bytes | OSError:
    try:
        return read(path)
    except OSError as error:
        return error


@contextlib.contextmanager
def _cache() -> Iterator[sqlite3.Connection | None]:
    folder = pathlib.Path(cache_folder())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        cache = sqlite3.connect(folder / "digests.sqlite", timeout=10)
        cache.execute(_TABLE)
    except (OSError, sqlite3.Error):
        yield None
        return
    with contextlib.closing(cache):
        yield cache


def _known(cache: sqlite3.Connection, states: Mapping[str, str]) -> dict[str, bytes]:
    known = {}
    with contextlib.suppress(sqlite3.Error):
        for path, state in states.items():
            row = cache.execute("select state, digest from digests where path = ?", [os.fsencode(path)])
            kept = row.fetchone()
            if state and kept and kept[0] == state:
                known[path] = bytes(kept[1])
    return known


def _keep(cache: sqlite3.Connection, states: Mapping[str, str], found: Mapping[str, bytes | OSError]) -> None:
    today = int(time.time() // _DAY_SECONDS)
    rows = [
        (os.fsencode(path), states[path], digest, today)
        for path, digest in found.items()
        if states[path] and isinstance(digest, bytes)
    ]
    asked = [(today, os.fsencode(path)) for path in states]
    # Another process may hold the file; then nothing is kept.
    with contextlib.suppress(sqlite3.Error), cache:
        cache.executemany("update digests set day = ?1 where path = ?2 and day <> ?1", asked)
        cache.executemany("insert or replace into digests values (?, ?, ?, ?)", rows)
        cache.execute("delete from digests where day < ?", [today - _KEPT_DAYS])
