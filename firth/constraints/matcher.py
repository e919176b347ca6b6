"""Matchers: which tokens may come next in a text that is held to a constraint."""

import abc
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


class ConstraintError(ValueError):
    """Raised for a constraint that is not valid, or that nothing here can hold a text to."""


class LimitError(ConstraintError):
    """Raised for a constraint that was not read within the limits of time or memory."""


class Matcher(abc.ABC):
    """A text that is being written under a constraint.

    A mask has bit `id % 32` of word `id // 32` set for each token that may come next, the end among them.
    """

    @property
    @abc.abstractmethod
    def complete(self) -> bool:
        """True if the text so far meets the constraint."""

    @abc.abstractmethod
    def write_mask(self, words: npt.NDArray[np.int32]) -> None:
        """Writes the mask of the tokens that may come next.

        Args:
            words: Words of the mask, int32 [words], contiguous; all are overwritten. They are 0 if no token
                may come, not even the end.
        """

    @abc.abstractmethod
    def accept(self, token: int) -> None:
        """Takes the next token, which the mask allows.

        Args:
            token: Its id.

        Raises:
            ConstraintError: if the token may not come.
        """

    @abc.abstractmethod
    def copy(self) -> "Matcher":
        """Returns a matcher of the same text, which continues on its own."""


class CompiledConstraint(abc.ABC):
    """A constraint that was read once, for any number of texts of one vocabulary.

    Attributes:
        size: Bytes of memory that it holds, as far as they are known.
    """

    size = 0

    @abc.abstractmethod
    def new_matcher(self, most_tokens: int) -> Matcher:
        """Returns the matcher of a text without a token.

        Args:
            most_tokens: Most tokens of the text, the end among them.
        """


def fill_masks(matchers: Sequence[Matcher | None], words: npt.NDArray[np.int32]) -> None:
    """Writes the masks of several texts.

    Args:
        matchers: Matcher of each text; None for one without a constraint, whose mask allows all tokens.
        words: Words of the masks, int32 [texts, words].
    """
    from firth.constraints.llguidance_matcher import LLGuidanceMatcher, fill_in_parallel

    parallel: list[tuple[LLGuidanceMatcher, int]] = []
    first: dict[int, int] = {}
    for row, matcher in enumerate(matchers):
        # Texts that are the same so far may share a matcher.
        if matcher is None or first.setdefault(id(matcher), row) != row:
            continue
        if isinstance(matcher, LLGuidanceMatcher):
            parallel.append((matcher, row))
        else:
            matcher.write_mask(words[row])
    fill_in_parallel(parallel, words)
    for row, matcher in enumerate(matchers):
        if matcher is None:
            words[row] = -1
        elif first[id(matcher)] != row:
            words[row] = words[first[id(matcher)]]
