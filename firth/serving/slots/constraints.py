"""Constraints of texts in slots: the bytes of an exported model's tokens, and what was compiled for them."""

import json
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future

from firth import storage
from firth.constraints.compiling import compile_constraint
from firth.constraints.llguidance_grammar import constraint_key
from firth.constraints.matcher import CompiledConstraint, ConstraintError, LimitError
from firth.constraints.token_bytes import TokenBytes
from firth.recipes.generation.constraints import Constraint
from firth.serving.exported_model import FOLDER

# Next to firth.json.
FILE = "token_bytes.json"
# Constraints that are kept, those that were asked for last.
_KEPT = 64


def write_token_bytes(directory: str, tokens: TokenBytes) -> None:
    """Writes the bytes of a model's tokens into the folder of its SavedModel.

    Args:
        directory: Folder of the SavedModel.
        tokens: The bytes; in the file a character up to U+00FF is a byte.
    """
    texts = [None if each is None else each.decode("latin-1") for each in tokens.texts]
    described = {"end_id": tokens.end_id, "texts": texts}
    storage.write_text(os.path.join(directory, FOLDER, FILE), json.dumps(described))


def read_token_bytes(directory: str) -> TokenBytes:
    """Returns the bytes of the tokens of an exported model.

    Args:
        directory: Folder of its SavedModel.

    Raises:
        ConstraintError: if an earlier version of firth exported it.
    """
    path = os.path.join(directory, FOLDER, FILE)
    described = storage.read_json(path)
    if described is None:
        raise ConstraintError(
            f"there is no {path}, which texts under a constraint need: export the model again"
        )
    texts = (None if each is None else each.encode("latin-1") for each in described["texts"])
    return TokenBytes(tuple(texts), int(described["end_id"]))


class SlotConstraints:
    """The constraints that texts of one model are held to, each compiled once. Threads may share it.

    Args:
        tokens: Function that returns the bytes of the model's tokens, called for the first constraint.
    """

    def __init__(self, tokens: Callable[[], TokenBytes]) -> None:
        self._read = tokens
        self._tokens: TokenBytes | None = None
        self._compiled: dict[str, Future[CompiledConstraint]] = {}
        self._changing = threading.Lock()

    def compiled(self, constraint: Constraint, finish: bool = False) -> CompiledConstraint:
        """Returns a constraint as matchers of the model's tokens need it.

        Args:
            constraint: The constraint.
            finish: True for only tokens after which a valid end can still be reached.

        Raises:
            ConstraintError: for a constraint that is not valid, or that the vocabulary cannot meet.
        """
        key = f"{finish} {constraint_key(constraint)}"
        with self._changing:
            known = self._compiled.pop(key, None)
            made = self._compiled[key] = known or Future()
            for oldest in [*self._compiled][:-_KEPT]:
                del self._compiled[oldest]
        if known is None:
            self._compile(constraint, finish, key, made)
        try:
            return made.result()
        except ConstraintError as error:
            # Each caller has a traceback of its own.
            raise ConstraintError(str(error)) from None

    def _compile(
        self, constraint: Constraint, finish: bool, key: str, made: "Future[CompiledConstraint]"
    ) -> None:
        try:
            made.set_result(compile_constraint(constraint, self.tokens, finish))
        # Those that wait for it are answered, whatever fails.
        except Exception as error:
            made.set_exception(error)
            # What took too long next to other work may not another time.
            if isinstance(error, LimitError) or not isinstance(error, ConstraintError):
                with self._changing:
                    self._compiled.pop(key, None)

    @property
    def tokens(self) -> TokenBytes:
        """Bytes of the model's tokens."""
        # Two threads that read it at once read the same.
        if self._tokens is None:
            self._tokens = self._read()
        return self._tokens
