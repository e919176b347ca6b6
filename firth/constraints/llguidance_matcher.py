"""Constraints that llguidance holds a text to while it is written."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from firth.constraints.automaton import build_automaton, constraint_regex
from firth.constraints.llguidance_grammar import (
    constraint_key,
    llguidance,
    llguidance_tokenizer,
    read_grammar,
    reason,
)
from firth.constraints.matcher import CompiledConstraint, ConstraintError, Matcher
from firth.constraints.schemas import resolve
from firth.constraints.token_bytes import UNSPELLED, TokenBytes
from firth.recipes.generation.constraints import Constraint

# Texts that are tried before one is written, and tokens of a place after which no more are: some of many lead
# on.
_MOST_TRIED, _MANY = 64, 64
# llguidance's reason where no token can continue a text that is not complete.
_STUCK = "NoExtensionBias"
# Larger automata are not looked at: the text may end as stuck then.
_MOST_SECONDS = 5

_OF_TYPES = {"object": b"{}", "array": b"[]", "string": b'"', "null": b"nul", "boolean": b"e"}


@functools.lru_cache(1)
def _executor() -> Any:
    return llguidance().LLExecutor()


class LLGuidanceConstraint(CompiledConstraint):
    """A constraint as llguidance has read it.

    Args:
        constraint: The constraint.
        tokens: Bytes of the model's tokens.

    Raises:
        ConstraintError: for a constraint that llguidance or the gate refuses, with the reason, for one that
            the vocabulary cannot meet, and without the extra `structured`.
    """

    def __init__(self, constraint: Constraint, tokens: TokenBytes) -> None:
        grammar = read_grammar(constraint_key(constraint))
        # llguidance does not say how much it holds for a grammar.
        self.size = len(grammar)
        if constraint.of_json is not None:
            tokens.check(needed_bytes(constraint.of_json.json_schema))
        tokenizer, missing = llguidance_tokenizer(tokens)
        self._rows, self._end_id = (len(tokens.texts), tokenizer.vocab_size), tokens.end_id
        self._may_come = _words_of(tokens)
        self._first = llguidance().LLMatcher(tokenizer, grammar, log_level=0)
        if self._first.is_error():
            raise ConstraintError(f"{constraint.kind}: {reason(self._first.get_error())}")
        if not self._finds_end(constraint.kind, tokens, missing):
            check_expression(constraint, tokens)

    def _finds_end(self, kind: str, tokens: TokenBytes, missing: Sequence[bytes]) -> bool:
        """Returns true if some tokens lead to an end, and refuses a constraint if none do.

        False is for one that has too many texts to try.
        """
        waiting, lacking = [self._first.deep_copy()], set[int]()
        for _ in range(_MOST_TRIED):
            if not waiting:
                tokens.check(sorted(lacking - set(b" ")))
                raise ConstraintError(UNSPELLED)
            matcher = waiting.pop()
            if matcher.is_accepting():
                return True
            words = np.frombuffer(matcher.compute_bitmask(), np.uint8)
            (ids,) = np.unpackbits(words, bitorder="little")[: self._rows[1]].nonzero()
            own = ids[(ids < self._rows[0]) & (ids != tokens.end_id)].tolist()
            if len(own) > _MANY:
                return False
            lacking.update(missing[row - self._rows[0]][0] for row in ids[ids >= self._rows[0]])
            for token in own:
                waiting.append(matcher.deep_copy())
                waiting[-1].consume_token(token)
                if waiting[-1].is_error() and waiting[-1].stop_reason() != _STUCK:
                    raise ConstraintError(f"{kind}: {reason(waiting[-1].get_error())}")
        return False

    def new_matcher(self, most_tokens: int) -> "LLGuidanceMatcher":  # noqa: D102
        return LLGuidanceMatcher(self._first.deep_copy(), self._rows, self._end_id, self._may_come)


class LLGuidanceMatcher(Matcher):
    """A text that llguidance follows.

    Args:
        inner: Matcher of llguidance.
        rows: Numbers of the model's rows, and of those that llguidance knows.
        end_id: Id of the token that ends a text.
        may_come: Tokens that are ever let through, as a mask, int32 [words].
    """

    def __init__(
        self, inner: Any, rows: tuple[int, int], end_id: int, may_come: npt.NDArray[np.int32]
    ) -> None:
        self.inner, self.rows, self._end_id, self.may_come = inner, rows, end_id, may_come
        # llguidance counts the end among its tokens or not, depending on what else might have come.
        self.is_ended = False

    @property
    def complete(self) -> bool:  # noqa: D102
        return bool(self.inner.is_accepting())

    def write_mask(self, words: npt.NDArray[np.int32]) -> None:  # noqa: D102
        fill_in_parallel([(self, 0)], words[np.newaxis])

    def accept(self, token: int) -> None:  # noqa: D102
        if self.is_ended:
            raise ConstraintError(f"the token {token} may not come after the end")
        if token == self._end_id and self.complete:
            self.is_ended = True
        elif not self.inner.consume_token(token):
            raise ConstraintError(f"the token {token} may not come here: {reason(self.inner.get_error())}")

    def copy(self) -> "LLGuidanceMatcher":  # noqa: D102
        made = LLGuidanceMatcher(self.inner.deep_copy(), self.rows, self._end_id, self.may_come)
        made.is_ended = self.is_ended
        return made


def _words_of(tokens: TokenBytes) -> npt.NDArray[np.int32]:
    """Returns the mask of the tokens with bytes, and of the end."""
    bits = np.zeros(32 * tokens.mask_words, bool)
    bits[: len(tokens.texts)] = [text is not None for text in tokens.texts]
    bits[tokens.end_id] = True
    return np.packbits(bits, bitorder="little").view("<i4")


def fill_in_parallel(matchers: Sequence[tuple[LLGuidanceMatcher, int]], words: npt.NDArray[np.int32]) -> None:
    """Writes the masks of several texts at once.

    Args:
        matchers: Matchers, each with the number of its row.
        words: Words of the masks, int32 [texts, words], contiguous; 0 for a text that is stuck.
    """
    for each, row in matchers:
        if each.is_ended:
            words[row] = 0
    matchers = [each for each in matchers if not each[0].is_ended]
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
        # A text that cannot be followed within llguidance's limits ends alone.
        if each.inner.is_error() or (each.inner.is_stopped() and not each.complete):
            words[row] = 0
        else:
            # A grammar may name special tokens.
            words[row] = whole[row, : words.shape[1]] & each.may_come


def needed_bytes(schema: Any) -> list[int]:
    """Returns bytes that every text has which is valid by a schema; not all of them.

    Args:
        schema: The schema, which the gate has let through.

    Example:

    >>> bytes(needed_bytes({"anyOf": [{"type": "object"}, {"const": {"a": [1]}}]}))
    b'{}'
    """
    return sorted(_of_schema(schema, schema, {}))


def check_expression(constraint: Constraint, tokens: TokenBytes) -> None:
    """Refuses a regular expression, or choices, if the vocabulary lacks bytes that every valid text needs.

    Nothing is refused where no automaton of it is made in a few seconds, and of schemas and grammars.

    Args:
        constraint: The constraint.
        tokens: Bytes of the model's tokens.

    Raises:
        ConstraintError: for bytes that no token writes, naming them.
    """
    lacking = tokens.lacking
    if not lacking or not (constraint.texts or constraint.expression):
        return
    try:
        automaton = build_automaton(constraint_regex(constraint), _MOST_SECONDS)
    except ConstraintError:
        return
    if automaton.can_avoid(lacking):
        return
    needed = {byte for byte in lacking if (automaton.transitions[:, automaton.classes[byte]] >= 0).any()}
    for byte in sorted(needed):
        if not automaton.can_avoid(needed - {byte}):
            needed.remove(byte)
    if len(needed) == 1:
        tokens.check(needed)
    named = " or ".join(repr(bytes([byte])) for byte in sorted(needed))
    raise ConstraintError(f"the vocabulary has no piece with {named}, of which every valid text needs one")


def _of_schema(schema: Any, root: Any, references: dict[str, set[int]]) -> set[int]:
    if not isinstance(schema, Mapping):
        return set()
    parts = [_of_schema(each, root, references) for each in schema.get("allOf", ())]
    for key in ("anyOf", "oneOf"):
        parts.append(_in_all(_of_schema(each, root, references) for each in schema.get(key, ())))
    if "$ref" in schema:
        target = schema["$ref"]
        if target not in references:
            # Inside itself it adds nothing.
            references[target] = set()
            references[target] = _of_schema(resolve(root, target, "#"), root, references)
        parts.append(references[target])
    if "enum" in schema:
        parts.append(_in_all(map(_of_value, schema["enum"])))
    if "const" in schema:
        parts.append(_of_value(schema["const"]))
    types = schema.get("type", ())
    parts.append(
        _in_all(set(_OF_TYPES.get(each, b"")) for each in ([types] if isinstance(types, str) else types))
    )
    if types == "object" and schema.get("required"):
        parts.append(set(b'":'))
        own = schema.get("properties", {})
        parts += [_of_schema(own.get(each), root, references) for each in schema["required"]]
    return set().union(*parts)


def _of_value(value: Any) -> set[int]:
    match value:
        case bool():
            return set(b"true" if value else b"false")
        case None:
            return set(b"null")
        case str():
            return set(b'"')
        case Mapping():
            return set(b'{}":' if value else b"{}").union(*map(_of_value, value.values()))
        case list() | tuple():
            return set(b"[]").union(*map(_of_value, value))
    return set()


def _in_all(sets: Iterable[set[int]]) -> set[int]:
    found = list(sets)
    return set.intersection(*found) if found else set()
