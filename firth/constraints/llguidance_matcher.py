"""Constraints that llguidance holds a text to while it is written."""

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from firth.constraints.matcher import CompiledConstraint, ConstraintError, Matcher
from firth.constraints.schemas import checked_schema
from firth.constraints.token_bytes import TokenBytes
from firth.lazy import import_extra
from firth.recipes.generation.constraints import Choices, Constraint, Grammar, JsonSchema, Regex

# llguidance's reason where no token can continue a text that is not complete.
_STUCK = "NoExtensionBias"
# A value may follow one space, since pieces carry it.
_OUTER = 'start: " "? @value'


@functools.lru_cache(1)
def _library() -> Any:
    (library,) = import_extra(ConstraintError, "structured", "llguidance")
    return library


@functools.lru_cache(1)
def _executor() -> Any:
    return _library().LLExecutor()


class _Vocabulary:
    """A vocabulary in the form that llguidance reads."""

    bos_token_id = None

    def __init__(self, tokens: TokenBytes) -> None:
        self.eos_token_id = tokens.end_id
        texts = set(tokens.texts)
        # llguidance reads bytes that a constraint forces as tokens, whether a token has them alone or not.
        # Rows after those of the model do, and are never let through.
        missing = [each for each in map(bytes, zip(range(256))) if each not in texts]
        rows = (*tokens.texts, *missing)
        self.tokens = [b"<%d>" % row if text is None else text for row, text in enumerate(rows)]
        self.special_token_ids = [row for row, text in enumerate(rows) if text is None]

        self._ids = {text: row for row, text in enumerate(rows) if text is not None}
        self._longest = max(map(len, self._ids), default=0)

    def __call__(self, text: bytes | str) -> list[int]:
        """Returns the tokens of a stretch that llguidance forces: at each place the longest."""
        rest, ids = text.encode() if isinstance(text, str) else text, []
        while rest:
            sizes = range(min(self._longest, len(rest)), 0, -1)
            size = next(size for size in sizes if rest[:size] in self._ids)
            ids.append(self._ids[rest[:size]])
            rest = rest[size:]
        return ids


@functools.lru_cache(8)
def _tokenizer(tokens: TokenBytes) -> Any:
    library = _library()
    vocabulary = _Vocabulary(tokens)
    return library.LLTokenizer(library.TokenizerWrapper(vocabulary), n_vocab=len(vocabulary.tokens))


class LLGuidanceConstraint(CompiledConstraint):
    """A constraint as llguidance has read it.

    Args:
        constraint: The constraint.
        tokens: Bytes of the model's tokens.

    Raises:
        ConstraintError: for a constraint that llguidance refuses, with its reason, and without the extra
            `structured`.
    """

    def __init__(self, constraint: Constraint, tokens: TokenBytes) -> None:
        grammars = [{"lark_grammar": _OUTER}, {"name": "value", **_GRAMMARS[constraint.kind](constraint)}]
        tokenizer = _tokenizer(tokens)
        self._rows = len(tokens.texts), tokenizer.vocab_size
        self._first = _library().LLMatcher(tokenizer, json.dumps({"grammars": grammars}), log_level=0)
        if self._first.is_error():
            raise ConstraintError(f"{constraint.kind}: {_reason(self._first.get_error())}")

    def new_matcher(self, most_tokens: int) -> "LLGuidanceMatcher":  # noqa: D102
        return LLGuidanceMatcher(self._first.deep_copy(), self._rows)


class LLGuidanceMatcher(Matcher):
    """A text that llguidance follows.

    Args:
        inner: Matcher of llguidance.
        rows: Numbers of the model's rows, and of those that llguidance knows.
    """

    def __init__(self, inner: Any, rows: tuple[int, int]) -> None:
        self.inner, self.rows = inner, rows

    @property
    def complete(self) -> bool:  # noqa: D102
        return bool(self.inner.is_accepting())

    def write_mask(self, words: npt.NDArray[np.int32]) -> None:  # noqa: D102
        fill_in_parallel([(self, 0)], words[np.newaxis])

    def accept(self, token: int) -> None:  # noqa: D102
        if not self.inner.consume_token(token):
            raise ConstraintError(f"the token {token} may not come here: {_reason(self.inner.get_error())}")

    def take_back(self, count: int) -> None:  # noqa: D102
        if count and not self.inner.rollback(count):
            raise ConstraintError(f"{count} tokens cannot be taken back: {_reason(self.inner.get_error())}")

    def copy(self) -> "LLGuidanceMatcher":  # noqa: D102
        return LLGuidanceMatcher(self.inner.deep_copy(), self.rows)


def fill_in_parallel(matchers: Sequence[tuple[LLGuidanceMatcher, int]], words: npt.NDArray[np.int32]) -> None:
    """Writes the masks of several texts at once.

    Args:
        matchers: Matchers, each with the number of its row.
        words: Words of the masks, int32 [texts, words], contiguous.

    Raises:
        ConstraintError: if a text cannot be followed within llguidance's limits.
    """
    if not matchers:
        return
    rows, known = matchers[0][0].rows
    whole = words if rows == known else np.zeros([len(words), -(-known // 32)], np.int32)
    _executor().unsafe_compute_mask_ptr(
        [(each.inner, row) for each, row in matchers],
        whole.ctypes.data,
        whole.shape[1] * whole.itemsize,
        len(whole),
    )
    for each, row in matchers:
        if each.inner.is_error():
            if each.inner.stop_reason() != _STUCK:
                raise ConstraintError(f"the text cannot be followed: {_reason(each.inner.get_error())}")
            words[row] = 0
        # llguidance lets the end come where it is stuck.
        elif each.inner.is_stopped() and not each.complete:
            words[row] = 0
        elif whole is not words:
            words[row] = whole[row, : words.shape[1]]
            if rows % 32:
                words[row, -1] &= (1 << rows % 32) - 1


def _json_grammar(constraint: JsonSchema) -> Mapping[str, Any]:
    schema = checked_schema(constraint.json_schema, _problem_of_pattern)
    # The key `x-guidance` is read at the root alone.
    root = {"allOf": [schema]} if isinstance(schema, bool) else schema
    return {"json_schema": {**root, "x-guidance": _white_space_options(constraint.white_space)}}


def _white_space_options(white_space: str | int) -> Mapping[str, Any]:
    if white_space == "compact":
        return {"whitespace_flexible": False}
    if white_space == "single":
        return {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
    return {"whitespace_flexible": True, "whitespace_pattern": rf"[\x20\x0A\x0D\x09]{{1,{white_space}}}"}


def _regex_grammar(constraint: Regex) -> Mapping[str, Any]:
    grammar = json.loads(_library().LLMatcher.grammar_from_regex(constraint.pattern))
    return {"lark_grammar": grammar["grammars"][0]["lark_grammar"]}


def _choices_grammar(constraint: Choices) -> Mapping[str, Any]:
    return {"lark_grammar": f"start: {' | '.join(map(_quoted, constraint.choices))}"}


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _lark_grammar(constraint: Grammar) -> Mapping[str, Any]:
    return {"lark_grammar": constraint.grammar}


_GRAMMARS: Mapping[str, Callable[[Any], Mapping[str, Any]]] = {
    "json_schema": _json_grammar,
    "regex": _regex_grammar,
    "choices": _choices_grammar,
    "grammar": _lark_grammar,
}
"""By the kind of a constraint, its part of llguidance's grammar."""


def _problem_of_pattern(pattern: str) -> str:
    matcher = _library().LLMatcher
    schema = json.dumps({"type": "string", "pattern": pattern})
    is_error, messages = matcher.validate_grammar_with_warnings(matcher.grammar_from_json_schema(schema))
    return _reason(messages[0]) if is_error else ""


def _reason(error: str) -> str:
    """Returns the line of llguidance's error that says why."""
    lines = error.strip().splitlines() or [""]
    # A regular expression is drawn with the place below it, and the reason comes last.
    return next((each.strip() for each in reversed(lines) if each.strip().startswith("error:")), lines[0])
