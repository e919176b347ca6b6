"""Slots for texts that are written at the same time; each slot may begin and end while others continue."""

from typing import Any, NamedTuple

import tensorflow as tf

from firth.generation.controls import Controls, mask_bits
from firth.generation.framing import PromptFraming
from firth.generation.penalties import masked
from firth.generation.sampling import sampled
from firth.generation.token_reader import Prompts, TokenReader, last_states
from firth.generation.writer import RUNNING, Writer, Writing

# The shortest padded length of prompts, and the factor from each length to the next; each has a graph.
_SHORTEST, _STEP = 32, 4


class Slots(NamedTuple):
    """Texts of some slots. Every tensor in it has the slots as its first axis, and a size that is known.

    Attributes:
        writing: Texts so far, of which only the last token of each is kept.
        states: State before each slot's next token, float [slots, width].
        room: Most tokens that can be written after the slot's prompt, int32 [slots]; 0 before there is one.
    """

    writing: Writing
    states: tf.Tensor
    room: tf.Tensor


class SlotWriter:
    """Writes texts in slots with one model, as `Writer` does in a batch. It keeps no state.

    All slots read a token in a step. An inactive slot reads it at its next place, which is not seen and is
    overwritten by the next token; if its row is full, at the first place, which is not needed.
    """

    def __init__(self, reader: TokenReader, framing: PromptFraming) -> None:
        if not reader.goes_back:
            raise ValueError("a model that keeps one state of all it has read does not write in slots")
        self._reader, self._framing = reader, framing
        self._writer = Writer(reader, framing.end_id, framing.may_write, sampled)

    def lengths(self) -> list[int]:
        """Returns the lengths to which prompts are padded; the last is that of the longest prompt.

        Each has a graph of its own.
        """
        found, length, longest = [], _SHORTEST, self._framing.most_read
        while length < longest:
            found.append(length)
            length *= _STEP
        return [*found, longest]

    def begun(self, ids: tf.Tensor, length: tf.Tensor) -> Slots:
        """Reads a prompt and returns a slot that continues it.

        Args:
            ids: Its tokens with special ones, padded to one of `lengths`, int32 [1, padded].
            length: Number of its tokens, int32 [1].
        """
        room = self._places - (len(self._framing.start) or int(ids.shape[1]))
        prompts = Prompts(ids, length, {})
        states, rows = self._reader.begin(prompts, room)
        most = tf.zeros_like(length) + self._framing.goal.written_places(self._framing.sequences, length)
        # A text's last token alone is kept, but penalties read all of it, in a tensor of one size for every
        # length of a prompt, which may be a part of it.
        seen = (room if self._reader.predicts_prompt else self._places) + 1
        writing = self._writer.empty(prompts, rows, 1, seen)
        return Slots(writing, last_states(states, rows), most)

    @property
    def _places(self) -> int:
        """Number of places of a slot's row; the last token of a text is not read."""
        framing, longest = self._framing, self._framing.most_read
        # A prompt that is shorter by n tokens leaves room for at most n more.
        written: int = framing.goal.written_places(framing.sequences, longest)
        return (len(framing.start) or longest) + written - 1

    def stepped(
        self, slots: Slots, active: tf.Tensor, controls: Controls, mask: tf.Tensor
    ) -> tuple[Slots, tf.Tensor]:
        """Writes a token in each active slot that has not ended.

        Args:
            active: True for slots that take part, bool [slots].
            mask: Tokens that may come next in each slot, int32 [slots, words]; see `mask_bits`.

        Returns:
            The slots, and the natural logarithms of the probabilities of all tokens that could be written,
            before biases, penalties, the mask and the sampler, float32 [slots, vocabulary].
        """
        before = slots.writing
        logits = self._writer.allowed(self._reader.logits(slots.states))
        proposed = self._writer.proposed(logits, controls, before.seen)
        # Free texts do not wait for the bits.
        proposed = tf.cond(
            tf.reduce_all(mask == -1),
            lambda: tf.identity(proposed),
            lambda: masked(proposed, logits, mask_bits(mask, logits.shape[1])),
        )
        tokens = sampled(proposed, controls, before.count)
        controls = controls._replace(most=tf.minimum(controls.most, slots.room))
        writing = self._writer.extended(before, tokens, logits, controls, active)
        reads = active & (writing.ended == RUNNING)
        lengths = before.rows.lengths
        stands = writing.rows.standing(~reads & (lengths >= self._places))
        states, rows = self._reader.read(writing.token[:, tf.newaxis], stands)
        rows = rows._replace(lengths=tf.where(reads, rows.lengths, lengths))
        states = tf.where(reads[:, tf.newaxis], states[:, 0], slots.states)
        return Slots(writing._replace(rows=rows), states, slots.room), tf.nn.log_softmax(logits)


def joined(slots: Slots, slot: tf.Tensor, begun: Slots) -> Slots:
    """Returns the slots with a new text in one of them.

    Args:
        slot: Number of the slot, int32 []; -1 changes no slot.
    """

    def one(known: tf.Tensor, new: tf.Tensor) -> tf.Tensor:
        is_slot = tf.range(known.shape[0]) == slot
        return tf.where(tf.reshape(is_slot, [-1] + [1] * (known.shape.rank - 1)), new, known)

    return tf.nest.map_structure(one, slots, begun)


def padded(begun: Slots, slots: Any) -> Slots:
    """Returns a slot whose rows are padded to the length of the others'. The padding is not read."""

    def one(tensor: tf.Tensor, like: Any) -> tf.Tensor:
        missing = [(0, most - size) for size, most in zip(tensor.shape[1:], like.shape[1:])]
        return tf.pad(tensor, [(0, 0), *missing]) if any(size for _, size in missing) else tensor

    return tf.nest.map_structure(one, begun, slots)
