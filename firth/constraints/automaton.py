"""Automata over bytes, made of regular expressions in a process of its own."""

import io
import json
import os
import resource
import subprocess
import sys
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from firth.constraints.matcher import ConstraintError, LimitError
from firth.constraints.patterns import escaped
from firth.constraints.schema_regex import schema_regex
from firth.lazy import import_extra
from firth.recipes.generation.constraints import Constraint

MOST_STATES, MOST_SECONDS, MOST_BYTES = 32_000, 60, 64 * 2**20
# Memory of the process that builds: intermediate automata are larger than the one that is kept.
_MOST_MEMORY = 4 * 2**30
# Character after each text while its automaton is made; it is never written. outlines-core loses what may
# follow where a text may also end: of `1|12` the second, of `1(\.5)?` the fraction.
_LAST = "\U0010ffff"


class Automaton(NamedTuple):
    """A deterministic automaton over bytes, whose first state is 0. From every state an end can be reached.

    Attributes:
        classes: Class of each byte, uint8 [256]; bytes of a class lead to the same states.
        transitions: Next state by state and class, int32 [states, classes]; -1 for none.
        is_final: True for states in which a text may end, bool [states].
    """

    classes: npt.NDArray[np.uint8]
    transitions: npt.NDArray[np.int32]
    is_final: npt.NDArray[np.bool_]

    @property
    def states(self) -> int:
        """Number of states."""
        return len(self.is_final)

    @property
    def size(self) -> int:
        """Size in bytes."""
        return sum(each.nbytes for each in self)

    def accepts(self, text: bytes) -> bool:
        """Returns true if a text is led to an end."""
        state = 0
        for byte in text:
            state = self.transitions[state, self.classes[byte]]
            if state < 0:
                return False
        return bool(self.is_final[state])

    def can_avoid(self, lacking: Collection[int]) -> bool:
        """Returns true if a text is led to an end that has none of some bytes.

        Args:
            lacking: The bytes.
        """
        classes = np.unique(np.delete(self.classes, sorted(lacking)))
        found, waiting = {0}, [0]
        while waiting:
            state = waiting.pop()
            if self.is_final[state]:
                return True
            new = {int(each) for each in self.transitions[state, classes] if each >= 0} - found
            found |= new
            waiting += new
        return False


def constraint_regex(constraint: Constraint) -> str:
    """Returns the regular expression of a constraint.

    Raises:
        ConstraintError: for a constraint that no regular expression has.
    """
    if constraint.of_json is not None:
        return schema_regex(constraint.of_json.json_schema, constraint.of_json.white_space)
    if constraint.expression is not None:
        return constraint.expression
    if constraint.texts:
        return "|".join(map(escaped, constraint.texts))
    raise ConstraintError(f"{constraint.kind}: no automaton has what a grammar says; use a schema or a regex")


def build_automaton(expression: str, most_seconds: float = MOST_SECONDS) -> Automaton:
    """Returns the automaton of the texts that match a regular expression, after one space or none.

    It is built in a process of its own, within `MOST_STATES` and `MOST_BYTES`.

    Args:
        expression: Regular expression as Rust's crate `regex` reads it, without look-around.
        most_seconds: Most seconds that it takes.

    Raises:
        ConstraintError: if it is not valid, or the automaton is larger.
    """
    import_extra(ConstraintError, "structured", "outlines_core")
    asked = json.dumps(expression).encode()
    try:
        made = subprocess.run(
            [sys.executable, "-c", "from firth.constraints.automaton import main; main()"],
            input=asked,
            capture_output=True,
            timeout=most_seconds,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
    except subprocess.TimeoutExpired:
        raise LimitError(f"no automaton of it is made within {most_seconds} seconds") from None
    if made.returncode:
        last = made.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        if made.returncode < 0 or "MemoryError" in last:
            raise LimitError(f"no automaton of it fits into {_MOST_MEMORY >> 30} GiB")
        raise ConstraintError(last.partition(": ")[2] or last)
    with np.load(io.BytesIO(made.stdout)) as parts:
        return Automaton(parts["classes"], parts["transitions"], parts["is_final"])


def main() -> None:
    """Reads an expression and writes its automaton, in the process that `build_automaton` starts."""
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    automaton = _built(json.loads(sys.stdin.buffer.read()))
    np.savez(sys.stdout.buffer, **automaton._asdict())


def _built(expression: str) -> Automaton:
    import outlines_core

    _check_brackets(expression)
    end = 256
    vocabulary = outlines_core.Vocabulary(end, {bytes([each]): [each] for each in range(256)})
    try:
        index = outlines_core.Index(rf"(?:{expression})\x{{{ord(_LAST):X}}}", vocabulary)
    except ValueError as error:
        if any(each in str(error) for each in ("universal start state", "Found no transitions")):
            raise ConstraintError(
                "no automaton of it: anchors (^, $, \\b) are to be left out, since it matches whole texts"
            ) from None
        # Rust's message draws the place below the expression.
        raise ConstraintError(str(error).strip().rpartition("\n")[2].removeprefix("error: ")) from None
    edges, finals = _without_last(index.get_transitions(), set(index.get_final_states()))
    live = _live(edges, finals, end)
    first = index.get_initial_state()
    if first not in live:
        raise ConstraintError("no text matches it")
    edges, finals, first = _after_space(edges, finals, first)
    live.add(first)
    numbers = {state: place for place, state in enumerate([first, *sorted(live - {first})])}
    if len(numbers) > MOST_STATES:
        raise ConstraintError(f"its automaton has {len(numbers):,} states, more than {MOST_STATES:,}")
    table = np.full([len(numbers), 256], -1, np.int32)
    for state, place in numbers.items():
        for byte, target in edges.get(state, {}).items():
            if byte != end and target in numbers:
                table[place, byte] = numbers[target]
    columns, classes = np.unique(table, axis=1, return_inverse=True)
    is_final = np.zeros(len(numbers), bool)
    is_final[[numbers[each] for each in finals & live]] = True
    made = Automaton(classes.reshape(-1).astype(np.uint8), np.ascontiguousarray(columns), is_final)
    if made.size > MOST_BYTES:
        raise ConstraintError(f"its automaton has {made.size:,} bytes, more than {MOST_BYTES:,}")
    return made


def _check_brackets(expression: str) -> None:
    """Refuses an expression that is one only in the brackets around it."""
    depth, is_set, place = 0, False, 0
    while place < len(expression) and depth >= 0:
        each = expression[place]
        place += 2 if each == "\\" else 1
        if is_set:
            is_set = each != "]"
        elif each == "[":
            # A bracket that comes first in a set is one of its characters.
            is_set, place = True, place + expression[place : place + 2].startswith(("]", "^]"))
        else:
            depth += (each == "(") - (each == ")")
    if depth < 0:
        raise ConstraintError(f"a bracket at place {place} of {expression[:80]!r} has no opening one")


def _after_space(
    edges: dict[int, dict[int, int]], finals: set[int], first: int
) -> tuple[dict[int, dict[int, int]], set[int], int]:
    """Returns the automaton of the texts after one space, and of those alone that begin with no space."""
    targets = {each for of_state in edges.values() for each in of_state.values()}
    outer = max({first, *edges, *finals, *targets}) + 1
    own = {**edges.get(first, {}), ord(" "): first}
    return {**edges, outer: own}, finals | ({outer} if first in finals else set()), outer


def _without_last(
    edges: dict[int, dict[int, int]], ends: set[int]
) -> tuple[dict[int, dict[int, int]], set[int]]:
    """Returns the edges without those of `_LAST`, and the states in which it may come."""
    finals = set()
    for first in edges:
        state: int | None = first
        for byte in _LAST.encode():
            state = edges.get(state, {}).get(byte) if state is not None else None
        if state in ends:
            finals.add(first)
    # Only the last byte of `_LAST` leads to an end.
    kept = {
        state: {byte: target for byte, target in targets.items() if target not in ends}
        for state, targets in edges.items()
    }
    return kept, finals


def _live(edges: dict[int, dict[int, int]], finals: set[int], end: int) -> set[int]:
    """Returns the states from which a final one can be reached."""
    before: dict[int, set[int]] = {}
    for state, targets in edges.items():
        for byte, target in targets.items():
            if byte != end:
                before.setdefault(target, set()).add(state)
    found, waiting = set(finals), list(finals)
    while waiting:
        new = before.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found
