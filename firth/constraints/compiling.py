"""From a constraint of a request to its matchers."""

from firth.constraints.automaton import build_automaton, constraint_regex
from firth.constraints.llguidance_matcher import LLGuidanceConstraint
from firth.constraints.matcher import CompiledConstraint, ConstraintError
from firth.constraints.token_automaton import AutomatonConstraint, build_token_automaton
from firth.constraints.token_bytes import TokenBytes
from firth.recipes.generation.constraints import Constraint


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
        raise ConstraintError(f"finish needs an automaton: {error}") from None
