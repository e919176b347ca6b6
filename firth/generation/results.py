"""Results of generation: finished texts, texts in progress, and streams of their pieces."""

import codecs
from collections.abc import Generator, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from firth.generation.framing import FramedPrompt, PromptFraming
from firth.generation.writer import AT_END, AT_LENGTH, BY_CALLER, RUNNING, DecodedTexts
from firth.recipes.generation.request import GenerationRequest

END, LENGTH, STOP, STUCK = "end", "length", "stop", "stuck"

# Writes a block of tokens of some texts each time that it is asked.
Blocks = Generator[None, None, None]


class Generated(NamedTuple):
    """A text that was written after a prompt.

    Attributes:
        text: The text, without the stop that ended it.
        tokens: Pieces of all tokens that were written, the end among them. If a stop ended the text, they may
            continue after it.
        ids: Their ids.
        ended: Why it ended: `end` (the model wrote the end), `stop` (a stop text came), `length`, or `stuck`
            (no token can continue the text under its constraint).
        log_probabilities: Natural logarithms of the tokens' probabilities, among the tokens that may be
            written, before biases, penalties and the sampler; None unless asked for.
        prompt_tokens: Tokens of the prompt with its special ones.
        prompt_log_probabilities: Natural logarithm of each one's probability after those before it, None for
            the first; None unless asked for.
        score: Score by which a beam search chose the text; None for other samplers.
        others: The next best texts of a search with `n_best` above 1, the best first.
        complete: True if the text meets its constraint, False if it was cut before; None without one.
    """

    text: str
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    ended: str
    log_probabilities: tuple[float, ...] | None
    prompt_tokens: tuple[str, ...]
    prompt_log_probabilities: tuple[float | None, ...] | None
    score: float | None = None
    others: tuple["Generated", ...] = ()
    complete: bool | None = None


# By the value of `Writing.ended`. A caller ends texts at a stop, which is found before, or where no token may
# come.
_REASONS = {AT_END: END, AT_LENGTH: LENGTH, BY_CALLER: STUCK}


class TextInProgress:
    """A text that is being written after a prompt."""

    def __init__(
        self,
        framing: PromptFraming,
        prompt: FramedPrompt,
        request: GenerationRequest,
        room: int | None = None,
    ) -> None:
        self._framing, self.prompt, self.request = framing, prompt, request
        self.most = min(request.max_new_tokens, framing.room(prompt) if room is None else room)
        self._ids: tuple[int, ...] = ()
        self._scores: tuple[float, ...] = ()
        self._prompt_scores: tuple[float | None, ...] = ()
        self._text, self._ended = "", ""
        self._several: list[Generated] = []

    @property
    def scores_prompt(self) -> bool:
        """True if the probabilities of the prompt's tokens are requested."""
        return self.request.prompt_log_probabilities

    @property
    def has_ended(self) -> bool:
        """True if the text is complete."""
        return bool(self._ended)

    @property
    def ended(self) -> str:
        """The reason for the end, as in `Generated`; empty while the text is written."""
        return self._ended

    @property
    def ids(self) -> tuple[int, ...]:
        """The tokens so far, the end among them."""
        return self._ids

    def leave(self) -> None:
        """Ends the text, which nobody reads any more."""
        self._ended = self._ended or STOP

    def take_prompt(self, scores: npt.NDArray[np.float32]) -> None:
        """Stores the probabilities of the prompt's tokens.

        Args:
            scores: Natural logarithms of its tokens' probabilities, float32 [length].
        """
        self._prompt_scores = (None, *map(float, scores[1 : len(self.prompt.ids)]))

    def take(self, written: DecodedTexts) -> None:
        """Stores all that has been written so far; a text that has ended does not change."""
        if self.has_ended:
            return
        ids, log_probabilities, count, ended, several = written
        self._ids = tuple(map(int, ids[:count]))
        self._scores = tuple(map(float, log_probabilities[:count]))
        own = self._ids[:-1] if ended == AT_END else self._ids
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        # Before the end, the bytes of an incomplete character are held back.
        self._text = decoder.decode(self._framing.text(self.prompt, own), final=bool(ended != RUNNING))
        if self.request.constraint is not None:
            # Pieces carry a space, which is no part of a value.
            self._text = self._text.removeprefix(" ")
        place = min((at for stop in self.request.stop if (at := self._text.find(stop)) >= 0), default=-1)
        if place >= 0:
            self._text, self._ended = self._text[:place], STOP
        elif ended != RUNNING:
            self._ended = _REASONS[int(ended)]
        if several and self.has_ended:
            self._several = [*self._found(several)]

    def _found(self, several: Any) -> Iterator[Generated]:
        """Yields the texts of a search, `Hypotheses` of one row, with their scores."""
        for score, *written in zip(*several, strict=True):
            # There may be fewer texts than requested.
            if score > -np.inf:
                text = TextInProgress(self._framing, self.prompt, self.request, self.most)
                text._prompt_scores = self._prompt_scores
                text.take(DecodedTexts(*written))
                yield text.result()._replace(score=float(score))

    @property
    def settled(self) -> str:
        """The text so far, without characters at its end that may begin a stop."""
        if self.has_ended:
            return self._text
        held = max((_begun(self._text, stop) for stop in self.request.stop), default=0)
        return self._text[: len(self._text) - held]

    def result(self) -> Generated:
        """Returns the text with its tokens and probabilities."""
        if self._several:
            best, *others = self._several
            return best._replace(others=tuple(others))
        asked, pieces = self.request, self._framing.pieces
        return Generated(
            self._text,
            pieces(self._ids),
            self._ids,
            self._ended,
            self._scores if asked.log_probabilities else None,
            pieces(self.prompt.ids),
            self._prompt_scores if asked.prompt_log_probabilities else None,
            complete=None if asked.constraint is None else self._ended == END,
        )


def _begun(text: str, stop: str) -> int:
    """Returns the number of characters at the end of a text that begin a stop."""
    return next((size for size in range(len(stop) - 1, 0, -1) if text.endswith(stop[:size])), 0)


class TextStream:
    """The pieces of a text as they are written.

    Args:
        text: The text.
        blocks: Generator that writes one block of tokens after another.
    """

    def __init__(self, text: TextInProgress, blocks: Blocks) -> None:
        self._text, self._blocks, self._given = text, blocks, ""

    def close(self) -> None:
        """Ends the text early: the model writes at most the token that it has begun."""
        self._blocks.close()

    def __iter__(self) -> Iterator[str]:
        for _ in self._blocks:
            settled = self._text.settled
            if len(settled) > len(self._given):
                piece, self._given = settled[len(self._given) :], settled
                yield piece

    @property
    def result(self) -> Generated:
        """The finished text.

        Raises:
            ValueError: if the text has not ended yet.
        """
        if not self._text.has_ended:
            raise ValueError("the text has not ended yet; read all of its pieces first")
        return self._text.result()
