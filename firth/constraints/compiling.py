"""From a constraint of a request to its matchers."""

import functools
import json
from typing import Any

from firth.constraints.automaton import build_automaton, constraint_regex
from firth.constraints.llguidance_matcher import LLGuidanceConstraint
from firth.constraints.matcher import CompiledConstraint, ConstraintError
from firth.constraints.token_automaton import (
    AutomatonConstraint,
    TokenAutomaton,
    build_token_automaton,
)
from firth.constraints.token_bytes import TokenBytes
from firth.recipes.generation.constraints import Constraint, JsonSchema

# Automata that a process keeps; one is asked for several times during an export.
_KEPT = 16


def compile_constraint(
    constraint: Constraint, tokens: TokenBytes, finish: bool = False
) -> CompiledConstraint:
    """Returns a constraint that texts of a vocabulary are held to.

    Args:
        constraint: The constraint.
        tokens: Bytes of the model's tokens.
        finish: True for only tokens after which a valid end can still be reached.

    Raises:
        ConstraintError: for a constraint that is not valid, or that nothing here can hold a text to.
    """
    if not finish:
        return LLGuidanceConstraint(constraint, tokens)
    try:
        automaton = build_automaton(constraint_regex(constraint))
        return AutomatonConstraint(build_token_automaton(automaton, tokens), finish)
    except ConstraintError as error:
        # What took too long may be tried again.
        raise type(error)(f"finish needs an automaton: {error}") from None


def schema_automaton(schema: Any, tokens: TokenBytes) -> TokenAutomaton:
    """Returns the automaton of a schema over the tokens of a model.

    Args:
        schema: The schema (draft 2020-12).
        tokens: Bytes of the model's tokens.

    Raises:
        ConstraintError: for a schema that is not supported, with the JSON Pointer of the part, and for one
            that the vocabulary cannot write.
    """
    return _automaton(json.dumps(schema), tokens)


@functools.lru_cache(_KEPT)
def _automaton(schema: str, tokens: TokenBytes) -> TokenAutomaton:
    expression = constraint_regex(JsonSchema(json_schema=json.loads(schema)))
    return build_token_automaton(build_automaton(expression), tokens)
