"""The loop that writes by guesses, in the graph: rows keep different numbers of them."""

from typing import Any, NamedTuple

import tensorflow as tf

from firth.generation.controls import Controls
from firth.generation.filters import drawn, filtered
from firth.generation.randomness import uniforms
from firth.generation.reading import Prompts, TokenReader
from firth.generation.speculative.acceptance import accept
from firth.generation.speculative.proposals import Proposer
from firth.generation.writing import GOES_ON, OverWriting, Writer, Writing

# Numbers of the draws among those of a token; see `uniforms`. The first token's is 0.
_ACCEPTING, _AFTER = 1, 2


class Speculating(NamedTuple):
    """Texts that are being written. Every tensor in it has the rows as its first axis.

    Attributes:
        writing: The texts.
        known: What the proposer knows of them.
    """

    writing: Writing
    known: Any


class SpeculativeWriter(OverWriting[Speculating]):
    """Writes by guesses that the model keeps or refuses: `start`, then `go_on` until all rows have ended.

    Leviathan et al. 2023, "Fast Inference from Transformers via Speculative Decoding". In each step the model
    reads the token written last and all guesses at once, and each row keeps its first ones, maybe none, and
    gets one token after them. At temperature 0 the text is what the model writes greedily; otherwise its
    distribution is that of plain sampling, and what is drawn follows from the row's seed, whatever shares the
    batch.

    Args:
        reader: Model that reads, which must be able to go back.
        writer: Writer of the same model, by which the first token is chosen.
        proposer: What guesses.
    """

    def __init__(self, reader: TokenReader, writer: Writer, proposer: Proposer) -> None:
        self._reader, self._writer, self._proposer = reader, writer, proposer

    def start(self, prompts: Prompts, controls: Controls, room: Any) -> tuple[Speculating, tf.Tensor]:
        """Reads the prompts and writes the first token of each row.

        Args:
            prompts: Prompts of the batch.
            controls: What each row asks for.
            room: Most tokens of any row, an int or int32 []; at least `controls.most`.

        Returns:
            The texts so far, and the states of all that was read, float [batch, places, width].
        """
        writing, states = self._writer.start(prompts, controls, room, self._proposer.count)
        return Speculating(writing, self._proposer.begin(prompts, room)), states

    def step(self, speculating: Speculating, controls: Controls) -> Speculating:
        """Writes one or more tokens of each row that goes on; the others stay as they are.

        Args:
            speculating: Texts so far.
            controls: What each row asks for.
        """
        writing, count = speculating.writing, self._proposer.count
        tokens, offered, known = self._proposer.propose(speculating.known, writing, controls)
        before = writing.rows.standing(writing.ended != GOES_ON)
        read = tf.concat([writing.token[:, tf.newaxis], tokens], axis=1)
        states, rows = self._reader.read(read, before)
        logits = self._writer.allowed(self._reader.logits(states))
        shares = self._shares(logits, tokens, writing, controls)
        uniform = [uniforms(controls.seeds, writing.count + place, _ACCEPTING) for place in range(count)]
        kept, rest = accept(tokens, offered, shares, tf.stack(uniform, axis=1))
        after = drawn(tf.math.log(rest), uniforms(controls.seeds, writing.count + kept, _AFTER))
        made = writing
        for place in range(count + 1):
            own = tf.where(place < kept, tokens[:, place], after) if place < count else after
            made = self._writer.extended(made, own, logits[:, place], controls, place <= kept)
        gained = made.count - writing.count
        made = made._replace(rows=rows._replace(lengths=before.lengths + gained))
        return Speculating(made, self._proposer.keep(known, speculating.known, gained))

    def _shares(
        self, logits: tf.Tensor, tokens: tf.Tensor, writing: Writing, controls: Controls
    ) -> tf.Tensor:
        """Returns the distribution of each place, if all guesses before it are kept."""
        places, size = self._proposer.count + 1, logits.shape[2]
        # Each place has the guesses before it.
        seen, everywhere = [writing.seen], tf.ones_like(writing.token, tf.bool)
        for place in range(places - 1):
            seen.append(seen[-1].with_token(tokens[:, place], everywhere))
        joined = tf.nest.map_structure(_in_rows, *seen)
        each = controls.taken(tf.repeat(tf.range(tf.shape(tokens)[0]), places))
        proposed = self._writer.proposed(tf.reshape(logits, [-1, size]), each, joined)
        return tf.reshape(tf.nn.softmax(filtered(proposed, each)), [-1, places, size])


def _in_rows(*places: tf.Tensor) -> tf.Tensor:
    """Returns tensors [batch, ...] as one, the rows of each example one after another."""
    stacked = tf.stack(places, axis=1)
    return tf.reshape(stacked, tf.concat([[-1], tf.shape(stacked)[2:]], 0))
