"""Cache of compiled constraints, bounded by their number and their bytes, which threads may share."""

import threading
from collections.abc import Callable
from concurrent.futures import Future

from firth.constraints.compiling import compile_constraint
from firth.constraints.llguidance_grammar import constraint_key
from firth.constraints.matcher import CompiledConstraint, ConstraintError, LimitError
from firth.constraints.token_bytes import TokenBytes
from firth.recipes.generation.constraints import Constraint

# Most constraints that are kept, and most bytes of their keys, grammars and automata.
_MOST, _MOST_BYTES = 64, 256 * 2**20

# Function that calls another one at some time, maybe in another thread.
Run = Callable[[Callable[[], None]], object]


class ConstraintCache:
    """The constraints that texts of one model were held to, each compiled once. Threads may share it.

    Those that were requested last are kept.

    Args:
        tokens: Function that returns the bytes of the model's tokens, called for the first constraint.
        most_bytes: Most bytes of all that are kept; the last one is always kept.
    """

    def __init__(self, tokens: Callable[[], TokenBytes], most_bytes: int = _MOST_BYTES) -> None:
        self._read, self._most_bytes = tokens, most_bytes
        self._tokens: TokenBytes | None = None
        self._compiled: dict[str, Future[CompiledConstraint]] = {}
        self._changing = threading.Lock()

    @property
    def tokens(self) -> TokenBytes:
        """Bytes of the model's tokens."""
        # Two threads that read it at once read the same.
        if self._tokens is None:
            self._tokens = self._read()
        return self._tokens

    def compiled(self, constraint: Constraint, finish: bool = False) -> CompiledConstraint:
        """Returns a constraint as matchers of the model's tokens need it, which may be compiled in this call.

        Args:
            constraint: The constraint.
            finish: True for only tokens after which a valid end can still be reached.

        Raises:
            ConstraintError: for a constraint that is not valid, or that the vocabulary cannot meet.
        """
        return compiled_or_raised(self.future(constraint, finish))

    def future(
        self, constraint: Constraint, finish: bool = False, run: Run = lambda work: work()
    ) -> Future[CompiledConstraint]:
        """Returns the future of a constraint, which is done already if the constraint is in the cache.

        Args:
            constraint: The constraint.
            finish: True for only tokens after which a valid end can still be reached.
            run: Function that lets another function run, which compiles; called for a new constraint alone.

        Raises:
            ConstraintError: for a constraint that is nested too deep or has more than 1 MB.
            Exception: that of `run`; the constraint is then not in the cache.
        """
        key = f"{finish} {constraint_key(constraint)}"
        with self._changing:
            known = self._compiled.pop(key, None)
            made = self._compiled[key] = known or Future()
            if known is None:
                # None of those that wait for it can cancel it for the others.
                made.set_running_or_notify_cancel()
        if known is None:
            try:
                run(lambda: self._compile(constraint, finish, key, made))
            except BaseException as error:
                self._forget(key)
                if not made.done():
                    made.set_exception(error)
                raise
        return made

    def _compile(
        self, constraint: Constraint, finish: bool, key: str, made: "Future[CompiledConstraint]"
    ) -> None:
        try:
            made.set_result(compile_constraint(constraint, self.tokens, finish))
        # Those that wait for it are answered, whatever fails.
        except Exception as error:
            made.set_exception(_unraised(error) if isinstance(error, ConstraintError) else error)
            # What took too long next to other work may not another time.
            if isinstance(error, LimitError) or not isinstance(error, ConstraintError):
                self._forget(key)
        self._drop_oldest()

    def _forget(self, key: str) -> None:
        with self._changing:
            self._compiled.pop(key, None)

    def _drop_oldest(self) -> None:
        """Drops the constraints that were requested longest ago, as far as they are too many or too large."""
        with self._changing:
            count = size = 0
            for key, made in reversed([*self._compiled.items()]):
                count, size = count + 1, size + len(key) + _bytes(made)
                if count > 1 and (count > _MOST or size > self._most_bytes):
                    del self._compiled[key]


def compiled_or_raised(made: "Future[CompiledConstraint]") -> CompiledConstraint:
    """Returns the constraint of a future when it is done.

    Raises:
        ConstraintError: for one that was refused; each caller has an error of its own.
    """
    error = made.exception()
    if isinstance(error, ConstraintError):
        raise _unraised(error)
    return made.result()


def _unraised(error: ConstraintError) -> ConstraintError:
    """Returns an error that holds no frames, and so none of the automata in them."""
    return type(error)(str(error))


def _bytes(made: "Future[CompiledConstraint]") -> int:
    """Returns the bytes of a constraint, 0 while it is compiled and for one that was refused."""
    return 0 if not made.done() or made.exception() else made.result().size
