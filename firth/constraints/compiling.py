"""From a constraint of a request to its matchers."""

from firth.constraints.llguidance_matcher import LLGuidanceConstraint
from firth.constraints.matcher import CompiledConstraint, ConstraintError
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
    if finish:
        raise ConstraintError("finish: only a schema that is baked into a model can be finished")
    return LLGuidanceConstraint(constraint, tokens)
