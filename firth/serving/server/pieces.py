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
CONTEXT = 8
# Tokens of one request for them or for their text.
_MOST_IDS = 2**17
# The signature of all tokens of a text; models that an earlier version exported lack it.
_TEXT_IDS = "text_ids"
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
        self._prefix = tokenizer.get("prefix", "")
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

    async def whole(self, text: str, parameter: str) -> tuple[int, ...]:
        """Returns all tokens of a text with the special pieces around it; a dialogue is an ordinary text.

        The name of a special piece is ordinary text in it.

        Raises:
            RequestError: for more tokens than a request has.
        """
        if not self._reads_whole:
            return await self.framed(text, parameter)
        (ids,) = await self._text_ids([self._prefix + text])
        self.check_count((*self.before, *ids, *self.after), parameter)
        return (*self.before, *ids, *self.after)

    async def own(self, text: str, parameter: str) -> tuple[int, ...]:
        """Returns all tokens of a text alone, in which the name of a special piece is that piece.

        Raises:
            RequestError: for more tokens than a request has.
        """
        parts = [each for each in self._split(text) if each]
        plain = [each for each in parts if each not in self.special]
        if self._reads_whole:
            rows = iter(await self._text_ids(plain))
        else:
            framed = [await self.framed(each, parameter) for each in plain]
            rows = iter([each[len(self.before) : len(each) - len(self.after)] for each in framed])
        found: list[int] = []
        for part in parts:
            found += [self.special[part]] if part in self.special else next(rows)
        self.check_count(found, parameter)
        return tuple(found)

    @property
    def _reads_whole(self) -> bool:
        return self._version.has(_TEXT_IDS)

    async def _text_ids(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        found: list[tuple[int, ...]] = [()] * len(texts)
        for places in by_size([len(each) for each in texts]):
            asked = {"text": np.array([texts[place].encode() for place in places], object)}
            made = await computed(self._version, _TEXT_IDS, asked)
            for place, ids, length in zip(places, made["ids"], made["length"]):
                found[place] = tuple(map(int, ids[:length]))
        return found

    def check_count(self, ids: Sequence[int], parameter: str) -> None:
        """Passes if a request may have so many tokens.

        Raises:
            RequestError: 400 if it may not.
        """
        if len(ids) > _MOST_IDS:
            raise RequestError(
                f"{parameter}: {len(ids):,} tokens; at most {_MOST_IDS:,} in a request", 400, parameter
            )

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
        stretches = [(name, [*group]) for name, group in itertools.groupby(ids, key=self.name)]
        texts = iter(await self._texts([group for name, group in stretches if not name]))
        return "".join(name * len(group) if name else next(texts) for name, group in stretches)

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
        last = before[-CONTEXT:]
        specials = [place for place, each in enumerate(last) if self.name(each)]
        return tuple(last[specials[-1] + 1 if specials else 0 :])

    async def _texts(self, rows: Sequence[Sequence[int]]) -> list[str]:
        found = [""] * len(rows)
        for places in by_size([len(each) for each in rows]):
            made = await self._padded_texts([rows[place] for place in places])
            for place, text in zip(places, made):
                found[place] = text
        return found

    async def _padded_texts(self, rows: Sequence[Sequence[int]]) -> list[str]:
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


def by_size(sizes: Sequence[int]) -> list[list[int]]:
    """Returns the places of sizes in groups within which none is twice another, so that little is padded.

    Example:

    >>> by_size([1, 30, 0, 17, 1])
    [[2], [0, 4], [1, 3]]
    """
    groups: dict[int, list[int]] = {}
    for place, size in enumerate(sizes):
        groups.setdefault(size.bit_length(), []).append(place)
    return [groups[each] for each in sorted(groups)]
