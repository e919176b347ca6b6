"""Automata over tokens: an automaton over bytes times the bytes of a vocabulary."""

import time
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from firth.constraints.automaton import MOST_BYTES, MOST_SECONDS, Automaton
from firth.constraints.matcher import CompiledConstraint, ConstraintError, LimitError, Matcher
from firth.constraints.token_bytes import UNSPELLED, TokenBytes
from firth.constraints.token_trie import token_trie

NEVER = int(np.iinfo(np.int32).max) // 2
"""Tokens that are needed where no text can be ended."""
# Most bytes of the sets of tokens, and most tokens of all states together from which they are made.
_MOST_BYTES, _MOST_ALLOWED = MOST_BYTES, 2**27
# Ids of the tokens that may come in each state, and the states after them.
_Allowed = list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]]


class TokenAutomaton(NamedTuple):
    """Which tokens may come in each state.

    A state has levels: sets of tokens, each within the next, of which a larger one needs more tokens to be
    left. The last level is the set without a bound. If the sets take too many bytes, none is made, and a
    trie of the tokens is followed at each step.

    Attributes:
        automaton: The automaton over bytes.
        tokens: Bytes of the tokens.
        masks: Masks of the distinct sets, int32 [sets, words]: bit `id % 32` of word `id // 32`.
        levels: Number of each level's set, int32 [states, levels]; the last one is repeated.
        needed: Tokens that must be left for it, the end among them, int32 [states, levels]; without sets the
            fewest tokens from each state to the end, int32 [states, 1].
    """

    automaton: Automaton
    tokens: TokenBytes
    masks: npt.NDArray[np.int32]
    levels: npt.NDArray[np.int32]
    needed: npt.NDArray[np.int32]

    @property
    def least_tokens(self) -> int:
        """Fewest tokens of a text, the end among them."""
        return int(self.needed[0, 0])

    @property
    def has_sets(self) -> bool:
        """True if it has the sets of tokens, and False if tokens are followed by a trie."""
        return len(self.masks) > 0

    def followed(self, state: int, left: int) -> npt.NDArray[np.int32]:
        """Returns the mask of the tokens that may come in a state, by the trie, int32 [words].

        Args:
            state: The state.
            left: Tokens that are left, the end among them.
        """
        trie, (_, table, is_final) = token_trie(self.tokens), self.automaton
        # A place more, to which what may not come leads.
        distances = np.append(self.needed[:, 0], NEVER)
        states = [np.array([state], np.int32)]
        for parents, last_bytes in trie.depths:
            before = states[-1][parents]
            after = table[np.minimum(before, len(table) - 1), self.automaton.classes[last_bytes]]
            states.append(np.where((before < len(table)) & (after >= 0), after, len(table)))
        after = np.concatenate([*states, [len(table)]])[trie.nodes]
        bits = np.zeros(32 * self.tokens.mask_words, bool)
        bits[: len(after)] = distances[after] + 1 <= min(left, NEVER - 1)
        bits[self.tokens.end_id] = is_final[state]
        return np.packbits(bits, bitorder="little").view("<i4")

    @property
    def size(self) -> int:
        """Size in bytes, without the bytes of the tokens."""
        return self.automaton.size + self.masks.nbytes + self.levels.nbytes + self.needed.nbytes

    def walk(self, state: int, token: int) -> int:
        """Returns the state after a token; -1 if it may not come."""
        text = self.tokens.texts[token]
        if text is None:
            return -1
        classes, transitions = self.automaton.classes, self.automaton.transitions
        for byte in text:
            state = transitions[state, classes[byte]]
            if state < 0:
                return -1
        return int(state)


def build_token_automaton(automaton: Automaton, tokens: TokenBytes) -> TokenAutomaton:
    """Returns the automaton over tokens.

    Args:
        automaton: Automaton over bytes.
        tokens: Bytes of the tokens.

    Raises:
        ConstraintError: if no tokens write a whole text, naming a byte that none of them writes, or if it is
            larger than the limits of `firth.constraints.automaton`.
    """
    began = time.monotonic()
    known = [(row, text) for row, text in enumerate(tokens.texts) if text is not None]
    ids = np.array([row for row, _ in known], np.int64)
    lengths = np.array([len(text) for _, text in known])
    spelled = np.zeros([len(known), int(lengths.max(initial=1))], np.uint8)
    for place, (_, text) in enumerate(known):
        spelled[place, : len(text)] = np.frombuffer(text, np.uint8)
    of_bytes = automaton.classes[spelled]
    allowed: _Allowed | None = []
    targets: list[npt.NDArray[np.int32]] = []
    count = 0
    for state in range(automaton.states):
        places, after = _after(automaton, state, of_bytes, lengths)
        targets.append(np.unique(after))
        count += len(places)
        if allowed is not None:
            allowed.append((ids[places], after))
            allowed = None if count > _MOST_ALLOWED else allowed
        if time.monotonic() - began > MOST_SECONDS:
            raise LimitError(f"it takes more than {MOST_SECONDS} seconds next to {len(known):,} tokens")
    distances = _distances(automaton, targets)
    if distances[0] >= NEVER:
        tokens.check([byte for byte in range(256) if not automaton.can_avoid([byte])])
        raise ConstraintError(UNSPELLED)
    made = None if allowed is None else _with_masks(automaton, tokens, allowed, distances)
    return made or _without_sets(automaton, tokens, distances)


def _without_sets(
    automaton: Automaton, tokens: TokenBytes, distances: npt.NDArray[np.int32]
) -> TokenAutomaton:
    """Returns the automaton whose tokens are followed at each step."""
    masks, levels = np.zeros([0, tokens.mask_words], np.int32), np.zeros([automaton.states, 0], np.int32)
    return TokenAutomaton(automaton, tokens, masks, levels, distances[:, np.newaxis])


def _after(
    automaton: Automaton, first: int, of_bytes: npt.NDArray[np.uint8], lengths: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Returns the places of tokens that may come in a state, and the states after them."""
    places = np.arange(len(lengths))
    states = np.full(len(lengths), first, np.int32)
    found_places, found_states = [], []
    for place in range(of_bytes.shape[1]):
        states = automaton.transitions[states, of_bytes[places, place]]
        places, states = places[states >= 0], states[states >= 0]
        is_whole = lengths[places] == place + 1
        found_places.append(places[is_whole])
        found_states.append(states[is_whole])
        places, states = places[~is_whole], states[~is_whole]
        if not len(places):
            break
    return np.concatenate(found_places), np.concatenate(found_states)


def _distances(automaton: Automaton, targets: list[npt.NDArray[np.int32]]) -> npt.NDArray[np.int32]:
    """Returns the fewest tokens from each state to the end of a text, the end among them, int32 [states].

    Args:
        targets: The distinct states after the tokens that may come in each state.
    """
    distances = np.where(automaton.is_final, 1, NEVER).astype(np.int32)
    while True:
        nearest = np.array([distances[each].min(initial=NEVER) for each in targets], np.int32)
        shorter = np.minimum(distances, np.minimum(nearest + 1, NEVER))
        if (shorter == distances).all():
            return distances
        distances = shorter


def _with_masks(
    automaton: Automaton,
    tokens: TokenBytes,
    allowed: _Allowed,
    distances: npt.NDArray[np.int32],
) -> TokenAutomaton | None:
    """Returns the automaton with its sets of tokens; None if they are too many."""
    masks: dict[bytes, int] = {}
    levels: list[list[int]] = []
    needed: list[list[int]] = []
    bits = np.zeros(32 * tokens.mask_words, bool)
    for state, (ids, after) in enumerate(allowed):
        own = distances[after] + 1
        bounds = np.unique(own[own < NEVER]).tolist()
        if automaton.is_final[state]:
            bounds = [1, *bounds]
        of_levels = []
        for bound in bounds:
            bits[:] = False
            bits[ids[own <= bound]] = True
            bits[tokens.end_id] = automaton.is_final[state]
            packed = np.packbits(bits, bitorder="little").tobytes()
            of_levels.append(masks.setdefault(packed, len(masks)))
        levels.append(of_levels)
        needed.append(bounds)
        if len(masks) * 4 * tokens.mask_words > _MOST_BYTES:
            return None
    most = max(map(len, levels))
    # A state without a way to the end is never entered.
    levels = [each + [(each or [0])[-1]] * (most - len(each)) for each in levels]
    needed = [each + [(each or [NEVER])[-1]] * (most - len(each)) for each in needed]
    words = np.frombuffer(b"".join(masks), "<i4").reshape(len(masks), -1)
    return TokenAutomaton(
        automaton, tokens, words.astype(np.int32), np.array(levels, np.int32), np.array(needed, np.int32)
    )


class AutomatonConstraint(CompiledConstraint):
    """A constraint as an automaton over tokens.

    Args:
        automaton: The automaton.
        finish: True for only tokens after which a valid end can still be reached.
    """

    def __init__(self, automaton: TokenAutomaton, finish: bool = False) -> None:
        self.automaton, self._finish = automaton, finish
        self.size = automaton.size

    def new_matcher(self, most_tokens: int) -> "AutomatonMatcher":
        """Returns the matcher of a text without a token.

        Args:
            most_tokens: Most tokens of the text, the end among them.

        Raises:
            ConstraintError: if the text is to be finished, and no valid text is so short.
        """
        least = self.automaton.least_tokens
        if self._finish and most_tokens < least:
            raise ConstraintError(
                f"finish: a valid text has at least {least} tokens, more than {most_tokens}"
            )
        return AutomatonMatcher(self.automaton, most_tokens if self._finish else NEVER)


class AutomatonMatcher(Matcher):
    """A text that an automaton over tokens follows.

    Args:
        automaton: The automaton.
        left: Tokens that are left, the end among them.
    """

    def __init__(self, automaton: TokenAutomaton, left: int) -> None:
        self._automaton, self._left = automaton, left
        self._state, self._is_ended = 0, False

    @property
    def complete(self) -> bool:  # noqa: D102
        return bool(self._automaton.automaton.is_final[self._state])

    def write_mask(self, words: npt.NDArray[np.int32]) -> None:  # noqa: D102
        state = self._state
        fitting = int((self._automaton.needed[state] <= self._left).sum())
        if self._is_ended or not fitting:
            words[:] = 0
        elif not self._automaton.has_sets:
            words[:] = self._automaton.followed(state, self._left)
        else:
            words[:] = self._automaton.masks[self._automaton.levels[state, fitting - 1]]

    def accept(self, token: int) -> None:  # noqa: D102
        is_end = token == self._automaton.tokens.end_id
        state = self._state if is_end and self.complete else self._automaton.walk(self._state, token)
        if self._is_ended or state < 0:
            raise ConstraintError(f"the token {token} may not come here")
        self._state, self._is_ended, self._left = state, is_end, self._left - 1

    def copy(self) -> "AutomatonMatcher":  # noqa: D102
        made = AutomatonMatcher(self._automaton, self._left)
        made._state, made._is_ended = self._state, self._is_ended
        return made
