"""Bounds of a YAML text: a few lines of it can stand for more values than a machine can hold."""

from typing import Any

import yaml

# A recipe of every key written out has about 200 values, five deep, in 5 kB.
MAX_BYTES = 2**18
MAX_VALUES = 20_000
MAX_DEPTH = 50


class BoundError(yaml.MarkedYAMLError):
    """A text holds too many values, or nests them too deeply."""


class BoundedLoader(yaml.SafeLoader):
    """Refuses too much while it reads, before Python's stack ends or minutes pass."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = self._values = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Composes a node, as its base class does.

        Raises:
            BoundError: if the text holds too many values, or nests them too deeply.
        """
        self._values += 1
        if self._depth > MAX_DEPTH:
            raise self._error(f"nested more than {MAX_DEPTH} deep")
        if self._values > 2 * MAX_VALUES:  # A key is a node too.
            raise self._error(f"more than {MAX_VALUES:,} values")
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1

    def _error(self, problem: str) -> BoundError:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # PyYAML's stubs leave it untyped
        return BoundError(problem=problem, problem_mark=event.start_mark)
