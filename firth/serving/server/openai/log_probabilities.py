"""Log-probabilities of tokens in the forms of completions and of chat completions."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from firth.serving.server.asking import computed
from firth.serving.server.errors import RequestError
from firth.serving.server.openai.slots import signature_names
from firth.serving.server.openai.writing import SoFar
from firth.serving.server.pieces import Pieces
from firth.serving.server.versions import ModelVersion
from firth.serving.slots.batcher import SlotText

SCORE_TOKENS = "score_tokens"


class ScoredToken(NamedTuple):
    """A token with its log-probability and the likeliest ones at its place.

    Attributes:
        id: The token.
        score: Natural logarithm of its probability after all before it; None for the first of a prompt.
        top: The likeliest tokens with theirs, the likeliest first.
    """

    id: int
    score: float | None
    top: tuple[tuple[int, float], ...] = ()


class NamedToken(NamedTuple):
    """A scored token with its text.

    Attributes:
        text: Text that it adds, or its name.
        score: As `ScoredToken` has it.
        top: Texts of the likeliest tokens with their scores, the likeliest first.
    """

    text: str
    score: float | None
    top: tuple[tuple[str, float], ...]


def written_tokens(text: SlotText, end_id: int) -> list[ScoredToken]:
    """Returns the tokens of a written text, and its end where the model wrote it."""
    ids = [*text.ids, *([end_id] if text.ended == "end" else [])]
    tops = text.top or ((),) * len(ids)
    return [
        ScoredToken(number, float(score), tuple((int(each), float(value)) for each, value in top))
        for number, score, top in zip(ids, text.log_probabilities, tops)
    ]


async def prompt_tokens(
    version: ModelVersion, prompts: Sequence[Sequence[int]], parameter: str
) -> list[list[ScoredToken]]:
    """Returns the tokens of prompts with their log-probabilities and the likeliest token at each place.

    Raises:
        RequestError: 400 for a model that does not score tokens.
    """
    if SCORE_TOKENS not in version.signature_defs:
        raise RequestError(
            f"{parameter}: log-probabilities of a prompt need the signature {SCORE_TOKENS}, which "
            f"{version.name} lacks; it has {signature_names(version)}",
            400,
            parameter,
        )
    ids = np.zeros([len(prompts), max(map(len, prompts))], np.int32)
    for row, each in enumerate(prompts):
        ids[row, : len(each)] = each
    lengths = np.array([len(each) for each in prompts], np.int32)
    found = await computed(version, SCORE_TOKENS, {"ids": ids, "length": lengths})
    return [
        _scored(each, {name: values[row] for name, values in found.items()})
        for row, each in enumerate(prompts)
    ]


def _scored(ids: Sequence[int], found: Mapping[str, Any]) -> list[ScoredToken]:
    own, likeliest, best = (
        found[name] for name in ("log_probabilities", "likeliest_ids", "likeliest_log_probabilities")
    )
    # Nothing is before the first token of a prompt.
    return [ScoredToken(int(ids[0]), None)] + [
        ScoredToken(int(ids[place]), float(own[place]), ((int(likeliest[place]), float(best[place])),))
        for place in range(1, len(ids))
    ]


async def named(
    pieces: Pieces, before: Sequence[int], tokens: Sequence[ScoredToken], most: int
) -> list[NamedToken]:
    """Returns tokens with their texts.

    Args:
        pieces: Tokens of the model.
        before: Tokens before the first one.
        tokens: The tokens.
        most: Number of the likeliest tokens that are wanted at each place.
    """
    ids = [*before, *(each.id for each in tokens)]
    rows = [
        (ids[: len(before) + place], number)
        for place, each in enumerate(tokens)
        for number in (each.id, *(top for top, _ in each.top[:most]))
    ]
    texts = iter(await pieces.each_text(rows))
    return [
        NamedToken(next(texts), each.score, tuple((next(texts), score) for _, score in each.top[:most]))
        for each in tokens
    ]


def within(tokens: Sequence[NamedToken], size: int) -> list[NamedToken]:
    """Returns the tokens of a text that was cut, those that begin before its end.

    Example:

    >>> [each.text for each in within([NamedToken(text, -1.0, ()) for text in ("ab", "c", "d")], 3)]
    ['ab', 'c']
    """
    found, place = [], 0
    for each in tokens:
        if place < size:
            found.append(each)
        place += len(each.text)
    return found


def of_value(tokens: Sequence[NamedToken]) -> list[NamedToken]:
    """Returns the tokens of a text under a constraint, without the space that its first piece carries.

    Example:

    >>> [each.text for each in of_value([NamedToken(text, -1.0, ()) for text in (" {", " a")])]
    ['{', ' a']
    """
    return [each._replace(text=each.text.removeprefix(" ")) for each in tokens[:1]] + [*tokens[1:]]


def certain(tokens: Sequence[NamedToken], written: SoFar, sent: int) -> list[NamedToken]:
    """Returns the tokens of a text that is cut at a stop, or may be, that begin in its certain part.

    Args:
        tokens: Tokens of the text from a place on.
        written: The text.
        sent: Number of characters before that place.
    """
    is_cut = len(written.text) < len(written.slot.text)
    return within(tokens, len(written.text) - sent) if is_cut else list(tokens)


def completion_form(tokens: Sequence[NamedToken], offset: int, has_top: bool) -> dict[str, Any]:
    """Returns tokens in the form of completions.

    Args:
        tokens: The tokens.
        offset: Place of the first one's text in the text of the answer.
        has_top: True if the likeliest tokens were asked for.

    Example:

    >>> tokens = [NamedToken("a", None, ()), NamedToken(" b", -0.5, ((" c", -0.25), (" c", -3.0)))]
    >>> made = completion_form(tokens, 0, True)
    >>> made["tokens"], made["token_logprobs"], made["text_offset"]
    (['a', ' b'], [None, -0.5], [0, 1])
    >>> made["top_logprobs"]
    [None, {' c': -0.25, ' b': -0.5}]
    """
    offsets = []
    for each in tokens:
        offsets.append(offset)
        offset += len(each.text)
    return {
        "tokens": [each.text for each in tokens],
        "token_logprobs": [each.score for each in tokens],
        "top_logprobs": [_top(each) for each in tokens] if has_top else None,
        "text_offset": offsets,
    }


def _top(token: NamedToken) -> dict[str, float] | None:
    """Returns the likeliest tokens by their texts, and the token itself; of two of one text the likelier."""
    if token.score is None:
        return None
    found: dict[str, float] = {}
    for text, score in (*token.top, (token.text, token.score)):
        found[text] = max(score, found.get(text, score))
    return found


def chat_form(tokens: Sequence[NamedToken]) -> dict[str, Any]:
    """Returns tokens in the form of chat completions.

    Example:

    >>> chat_form([NamedToken("é", -0.5, (("a", -0.25),))])["content"][0]["top_logprobs"]
    [{'token': 'a', 'logprob': -0.25, 'bytes': [97]}]
    """
    return {
        "content": [
            {
                **_one(each.text, each.score),
                "top_logprobs": [_one(text, score) for text, score in each.top],
            }
            for each in tokens
        ],
        "refusal": None,
    }


def _one(text: str, score: float | None) -> dict[str, Any]:
    return {"token": text, "logprob": score, "bytes": list(text.encode())}
