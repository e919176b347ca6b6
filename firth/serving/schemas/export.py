"""Schemas at export: their automata are checked by other engines, described, and stored next to the model."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from firth.constraints.automaton import Automaton
from firth.constraints.compiling import compile_constraint
from firth.constraints.matcher import ConstraintError, Matcher
from firth.constraints.token_bytes import SINGLE_BYTES
from firth.constraints.validity import validator_of
from firth.lazy import import_extra
from firth.recipes.generation.constraints import JsonSchema
from firth.serving.schemas.automata import write_automaton
from firth.serving.schemas.signature import automaton_of, read_schemas
from firth.serving.served_model import Served

# Strings that an automaton is checked by, at least.
LEAST_STRINGS = 1_000


def describe_schemas(served: Served) -> dict[str, dict[str, Any]]:
    """Returns the schemas of a model with the sizes of their automata, fit for JSON.

    Each automaton is checked first; see `check_automaton`.

    Raises:
        ConstraintError: for a schema that is not supported, or whose automaton is wrong.
    """
    found = {}
    for name, schema in read_schemas(served.recipe).items():
        try:
            automaton = automaton_of(served, name)
            checked = check_automaton(automaton.automaton, schema)
        except ConstraintError as error:
            raise ConstraintError(f"export.schemas.{name}: {error}") from None
        found[name] = {
            "schema": schema,
            "states": automaton.automaton.states,
            "sets": len(automaton.masks),
            "bytes": automaton.size,
            "least_tokens": automaton.least_tokens,
            "checked_strings": checked,
        }
    return found


def write_automata(served: Served, directory: str) -> None:
    """Writes the automata of a model's schemas next to `firth.json`, to drive slots without llguidance."""
    for name in served.recipe.export.schemas:
        write_automaton(directory, name, automaton_of(served, name))


def check_automaton(automaton: Automaton, schema: Any) -> int:
    """Checks texts of an automaton with jsonschema and with llguidance, and returns their number.

    The texts take every transition, and there are `LEAST_STRINGS` at least.

    Args:
        automaton: The automaton over bytes.
        schema: Its schema.

    Raises:
        ConstraintError: for the first text that is not valid by one of them.
    """
    (library,) = import_extra(ConstraintError, "structured", "jsonschema")
    validator = validator_of(schema)
    # Of white space and formats both engines have the same notions.
    matchers = compile_constraint(JsonSchema(json_schema=schema), SINGLE_BYTES)
    checked = 0
    for text in _texts(automaton):
        value = json.loads(text)
        error = library.exceptions.best_match(validator.iter_errors(value))
        if error is not None:
            path = "/".join(["#", *map(str, error.absolute_schema_path)])
            raise ConstraintError(f"{path}: the automaton writes {text.decode()!r}, which is not valid")
        if not _follows(matchers.new_matcher(len(text) + 1), text):
            raise ConstraintError(f"#: the automaton writes {text.decode()!r}, which llguidance does not")
        checked += 1
    return checked


def _follows(matcher: Matcher, text: bytes) -> bool:
    try:
        for byte in text:
            matcher.accept(byte)
    except ConstraintError:
        return False
    return matcher.complete


def _texts(automaton: Automaton) -> Iterator[bytes]:
    """Yields texts that take every transition together, and texts at random."""
    generator = np.random.default_rng(0)
    bytes_of = [np.flatnonzero(automaton.classes == each) for each in range(automaton.transitions.shape[1])]

    def drawn(of_class: int) -> int:
        own = bytes_of[of_class]
        return int(own[generator.integers(len(own))])

    before, after = _ways_from_start(automaton), _ways_to_end(automaton)

    def end_of(state: int) -> bytes:
        found = bytearray()
        while not automaton.is_final[state]:
            of_class = after[state]
            found.append(drawn(of_class))
            state = int(automaton.transitions[state, of_class])
        return bytes(found)

    def begin_of(state: int) -> bytes:
        found = bytearray()
        while state:
            state, of_class = before[state]
            found.append(drawn(of_class))
        return bytes(reversed(found))

    count = 0
    for state, of_class in zip(*np.nonzero(automaton.transitions >= 0)):
        target = int(automaton.transitions[state, of_class])
        # The outer space is no part of the value, which `json` reads as well.
        yield begin_of(int(state)) + bytes([drawn(int(of_class))]) + end_of(target)
        count += 1
    for _ in range(count, LEAST_STRINGS):
        state, found = 0, bytearray()
        for _ in range(int(generator.integers(1, 200))):
            classes = np.flatnonzero(automaton.transitions[state] >= 0)
            if not len(classes):
                break
            of_class = int(classes[generator.integers(len(classes))])
            found.append(drawn(of_class))
            state = int(automaton.transitions[state, of_class])
        yield bytes(found) + end_of(state)


def _ways_from_start(automaton: Automaton) -> dict[int, tuple[int, int]]:
    """Returns the state before each state and the class between them, on a shortest way from the start."""
    found: dict[int, tuple[int, int]] = {0: (0, 0)}
    waiting = [0]
    for state in waiting:
        for of_class, target in enumerate(automaton.transitions[state].tolist()):
            if target >= 0 and target not in found:
                found[target] = (state, of_class)
                waiting.append(target)
    return found


def _ways_to_end(automaton: Automaton) -> dict[int, int]:
    """Returns the class that leads each state towards a final one, on a shortest way."""
    sources: dict[int, list[tuple[int, int]]] = {}
    for state, of_class in zip(*(each.tolist() for each in np.nonzero(automaton.transitions >= 0))):
        sources.setdefault(int(automaton.transitions[state, of_class]), []).append((state, of_class))
    waiting = np.flatnonzero(automaton.is_final).tolist()
    found, known = {}, set(waiting)
    for target in waiting:
        for state, of_class in sources.get(target, ()):
            if state not in known:
                known.add(state)
                found[state] = of_class
                waiting.append(state)
    return found
