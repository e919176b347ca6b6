"""Tokens of a model with slots: texts to tokens and back, special pieces by their names."""

import itertools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from firth.serving.server.asking import computed
from firth.serving.server.errors import RequestError
from firth.serving.server.versions import ModelVersion

# Tokens before one that say how it is written: a character has at most four bytes, and a word more pieces.
_CONTEXT = 8
# A character of which not all bytes are there.
_UNFINISHED = "\ufffd"


class Pieces:
    """Tokens of one version of a model.

    Args:
        version: Version of a model with slots.

    Attributes:
        special: Ids of special pieces by their names.
        before: Tokens in front of each text that the model reads.
        after: Tokens after it.
        rows: Number of tokens that the model knows.
        longest: Most tokens of a prompt.
    """

    def __init__(self, version: ModelVersion) -> None:
        described: Any = version.description
        self._version, slots = version, described["slots"]
        tokenizer = described.get("tokenizer", {})
        self.special: dict[str, int] = tokenizer.get("special_pieces", {})
        self.before, self.after = (tuple(tokenizer.get(name, ())) for name in ("before", "after"))
        self.rows, self.longest = int(slots["vocabulary"]), int(slots["prompt_lengths"][-1])
        self.end_id = int(slots["end_id"])
        self._names = {number: name for name, number in self.special.items()}
        longest_first = sorted(self.special, key=len, reverse=True)
        self._is_special = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def name(self, token: int) -> str:
        """Returns the name of a special piece; empty for any other token."""
        return self._names.get(token, "")

    async def framed(self, text: str, parameter: str) -> tuple[int, ...]:
        """Returns a text as the model reads it, with its special pieces around it.

        The name of a special piece is ordinary text in it. An empty text is the end of another one where the
        model has no piece that begins a text.

        Args:
            text: The text, or the JSON of a dialogue for a model that learned dialogues.
            parameter: Name of the parameter that has the text.

        Raises:
            RequestError: for a text that is longer than the model reads.
        """
        asked = {"text": np.array([text.encode()], object), "max_new_tokens": np.array([1], np.int32)}
        found = await computed(self._version, "tokenize", asked)
        if found["truncated"][0]:
            raise self._too_long(parameter)
        ids = tuple(map(int, found["ids"][0, : found["length"][0]]))
        return ids or (self.end_id,)

    async def own(self, text: str, parameter: str) -> tuple[int, ...]:
        """Returns the tokens of a text alone, in which the name of a special piece is that piece.

        Raises:
            RequestError: for a text that is longer than the model reads.
        """
        found: list[int] = []
        for part in self._split(text):
            if part in self.special:
                found.append(self.special[part])
            elif part:
                ids = await self.framed(part, parameter)
                found += ids[len(self.before) : len(ids) - len(self.after)]
            if len(found) > self.longest:
                raise self._too_long(parameter)
        return tuple(found)

    def _too_long(self, parameter: str) -> RequestError:
        problem = f"the text has more tokens than the {self.longest} that the model reads"
        return RequestError(f"{parameter}: {problem}", 400, parameter)

    def _split(self, text: str) -> list[str]:
        if self._is_special is None:
            return [text]
        places = [0]
        for each in self._is_special.finditer(text):
            places += [each.start(), each.end()]
        places.append(len(text))
        return [text[first:last] for first, last in itertools.pairwise(places)]

    def checked(self, ids: Sequence[int], parameter: str) -> tuple[int, ...]:
        """Returns tokens that a client gives as a prompt.

        Raises:
            RequestError: for no token, for too many, and for one that there is not.
        """
        if not 0 < len(ids) <= self.longest:
            raise RequestError(
                f"{parameter}: {len(ids)} tokens; a prompt has 1 to {self.longest}", 400, parameter
            )
        return self.known(ids, parameter)

    def known(self, ids: Sequence[int], parameter: str) -> tuple[int, ...]:
        """Returns tokens of a client.

        Raises:
            RequestError: for one that there is not.
        """
        for each in ids:
            if not 0 <= each < self.rows:
                raise RequestError(
                    f"{parameter}: there is no token {each}; ids are at least 0 and below {self.rows}",
                    400,
                    parameter,
                )
        return tuple(ids)

    async def text(self, ids: Sequence[int]) -> str:
        """Returns the text of tokens, with special pieces by their names."""
        parts: list[str] = []
        stretch: list[int] = []
        for each in [*ids, None]:
            if each is None or self.name(each):
                parts += await self._texts([stretch]) if stretch else []
                parts += [self.name(each)] if each is not None else []
                stretch = []
            else:
                stretch.append(each)
        return "".join(parts)

    async def each_text(self, rows: Sequence[tuple[Sequence[int], int]]) -> list[str]:
        """Returns the text that each of some tokens adds after others.

        That of a special piece is its name. One that adds no whole character is `token_id:` and its number,
        as other servers name it.

        Args:
            rows: The tokens before each, and the token.
        """
        contexts = [self._context(before) for before, _ in rows]
        wholes = [(*context, token) for context, (_, token) in zip(contexts, rows)]
        texts = await self._texts([*contexts, *wholes])
        found = []
        for known, whole, (_, token) in zip(texts, texts[len(rows) :], rows):
            added = whole.rstrip(_UNFINISHED)[len(known.rstrip(_UNFINISHED)) :]
            found.append(self.name(token) or added or f"token_id:{token}")
        return found

    def _context(self, before: Sequence[int]) -> tuple[int, ...]:
        last = before[-_CONTEXT:]
        specials = [place for place, each in enumerate(last) if self.name(each)]
        return tuple(last[specials[-1] + 1 if specials else 0 :])

    async def _texts(self, rows: Sequence[Sequence[int]]) -> list[str]:
        if not rows:
            return []
        width = max(1, *map(len, rows))
        ids = np.zeros([len(rows), width], np.int32)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = row
        nothing = np.zeros([len(rows)], np.int32)
        asked: dict[str, npt.NDArray[Any]] = {
            "prompt_ids": np.zeros([len(rows), 1 + len(self.before)], np.int32),
            "prompt_length": nothing,
            "ids": ids,
            "length": np.array([len(row) for row in rows], np.int32),
        }
        found = await computed(self._version, "detokenize", asked)
        return [each.decode("utf-8", "replace") for each in found["generated"]]
