"""Imports of libraries that log before their level of logs is read."""

import contextlib
import importlib.util
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

# Lines of Abseil's logs below errors, and the one that comes before the first of them.
_LOG = re.compile(rb"WARNING: All log messages before absl::InitializeLog\(\)|[IW]\d{4} ")


def import_without_logs(name: str) -> None:
    """Hides the logs that a package writes to the file descriptor of stderr while it is imported later.

    TensorFlow 2.21 logs while it is loaded, whatever `TF_CPP_MIN_LOG_LEVEL` is. Errors are shown.

    Args:
        name: Name of the package.
    """
    if name not in sys.modules:
        sys.meta_path.insert(0, _Finder(name))


class _Finder(MetaPathFinder):
    """Finds one package, once."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec and spec.loader:
            execute = spec.loader.exec_module

            def execute_without_logs(module: ModuleType) -> None:
                with _logs_hidden():
                    execute(module)

            spec.loader.exec_module = execute_without_logs  # type: ignore[method-assign]
        return spec


@contextlib.contextmanager
def _logs_hidden() -> Iterator[None]:
    sys.stderr.flush()
    shown = os.dup(2)
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(shown, 2)
            os.close(shown)
            held.seek(0)
            os.write(2, b"".join(line for line in held if not _LOG.match(line)))
