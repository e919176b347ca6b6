"""Fixtures of the tests of the server."""

import collections
import hashlib
import itertools
import pathlib
import types
from unittest import mock

import pytest

from firth.serving.slots.loaded import Loaded


@pytest.fixture(scope="package", autouse=True)
def lent_sessions():
    """Lends the session of a version that was closed to the next version of the same files.

    To load a model and to run each of its graphs once takes seconds.
    """
    idle = collections.defaultdict(list)

    class Lent(Loaded):
        def __init__(self, directory: str, lanes: int = 0) -> None:
            own = idle[lanes, digest_of(directory)]
            if own:
                vars(self).update(own.pop())
            else:
                super().__init__(directory, lanes)
            kept, session = dict(vars(self)), self.session

            def run(*arguments):
                if not own_session.is_open:
                    raise RuntimeError("the session is closed")
                return session.run(*arguments)

            def close():
                # Only here: the session of a version that is dropped unclosed is deleted with it.
                if own_session.is_open:
                    own_session.is_open = False
                    own.append(kept)

            self.session = own_session = types.SimpleNamespace(run=run, close=close, is_open=True)

    with mock.patch("firth.serving.server.saved_model_version.Loaded", Lent):
        yield
    for kept in itertools.chain(*idle.values()):
        kept["session"].close()


def digest_of(directory: str) -> str:
    """Returns a digest of the graphs, weights and assets of a SavedModel, which its session holds."""
    folder, found = pathlib.Path(directory), hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder)
        if path.is_file() and place.parts[0] != "assets.extra":
            found.update(f"{place} {path.stat().st_size} ".encode() + path.read_bytes())
    return found.hexdigest()
