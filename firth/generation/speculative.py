"""Speculative decoding: the model reads several guessed tokens at once and keeps the first ones that fit."""

from typing import Any, NamedTuple

import tensorflow as tf

from firth.generation.controls import Controls
from firth.generation.generator import Generator
from firth.generation.proposals import DraftProposer, LookupProposer, Proposer
from firth.generation.samplers import SAMPLERS
from firth.generation.sampling import drawn, filtered, uniforms
from firth.generation.token_reader import Prompts, TokenReader
from firth.generation.writer import RUNNING, Writer, Writing, WritingDecoder

# Purposes of draws; see `uniforms`. The first token has 0.
_ACCEPTING, _AFTER = 1, 2


class Speculating(NamedTuple):
    """Texts that are being written. Every tensor in it has the rows as its first axis.

    Attributes:
        writing: The texts.
        known: State of the proposer.
    """

    writing: Writing
    known: Any

    @property
    def ended(self) -> tf.Tensor:
        """Why a row has ended, as in `Writing`."""
        return self.writing.ended


class SpeculativeWriter(WritingDecoder[Speculating]):
    """Writes by guesses that the model keeps or refuses: `start`, then `go_on` until all rows have ended.

    Leviathan et al. 2023, "Fast Inference from Transformers via Speculative Decoding". In each step the model
    reads the token written last and all guesses at once. Each row keeps some of the first guesses, or none,
    and gets one token after them. At temperature 0 the text is the model's greedy one; otherwise its
    distribution is that of plain sampling, and the draw depends on the row's seed, not on the rest of the
    batch.

    Args:
        reader: Model that reads; it must be able to go back.
        writer: Writer of the same model, by which the first token is chosen.
        proposer: Object that guesses.
    """

    def __init__(self, reader: TokenReader, writer: Writer, proposer: Proposer) -> None:
        self._reader, self._writer, self._proposer = reader, writer, proposer
        self.guesses = proposer.count

    def start(self, prompts: Prompts, controls: Controls, room: Any) -> tuple[Speculating, tf.Tensor]:
        """Reads the prompts and writes the first token of each row.

        Args:
            prompts: Prompts of the batch.
            controls: Values that each row requests.
            room: Most tokens of any row, an int or int32 []; at least `controls.most`.

        Returns:
            The texts so far, and the states of all that was read, float [batch, places, width].
        """
        writing, states = self._writer.start(prompts, controls, room, self._proposer.count)
        return Speculating(writing, self._proposer.begin(prompts, room)), states

    def step(self, speculating: Speculating, controls: Controls) -> Speculating:
        """Writes one or more tokens of each row that has not ended.

        Args:
            speculating: Texts so far.
            controls: Values that each row requests.
        """
        tokens, offered, known = self._proposer.propose(speculating.known, speculating.writing, controls)
        return self._checked(speculating, controls, tokens, offered, known, self.guesses + 1)

    def guess(self, speculating: Speculating, controls: Controls) -> tuple[tf.Tensor, tf.Tensor]:
        """Guesses tokens of each row, and `check` keeps or refuses them; together they are a step.

        Args:
            speculating: Texts so far.
            controls: Values that each row requests. The mask is not read, since guesses may break it.

        Returns:
            Tokens, int32 [batch, guesses], and the distribution that each was drawn from, float32 [batch,
            guesses, vocabulary].
        """
        free = controls._replace(mask=controls.mask[:, :, :0])
        tokens, offered, _ = self._proposer.propose(speculating.known, speculating.writing, free)
        return tokens, offered

    def check(
        self,
        speculating: Speculating,
        controls: Controls,
        tokens: tf.Tensor,
        offered: tf.Tensor,
        most: tf.Tensor,
    ) -> Speculating:
        """Writes one or more tokens of each row that has not ended: guesses that it keeps, and a token more.

        Args:
            speculating: Texts so far.
            controls: Values that each row requests, with the masks of the places of all guesses and of the
                token after them, int32 [batch, guesses + 1, words].
            tokens: Guesses, of `guess` or others, int32 [batch, guesses].
            offered: Distributions that `guess` returned with its own.
            most: Most tokens that each row gets, int32 [batch].
        """
        known = self._proposer.read(speculating.known, speculating.writing, tokens)
        return self._checked(speculating, controls, tokens, offered, known, most)

    def _checked(
        self,
        speculating: Speculating,
        controls: Controls,
        tokens: tf.Tensor,
        offered: tf.Tensor,
        known: Any,
        most: Any,
    ) -> Speculating:
        writing, count = speculating.writing, self.guesses
        before = writing.rows.standing(writing.ended != RUNNING)
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
            is_new = (place <= kept) & (place < most)
            made = self._writer.extended(made, own, logits[:, place], controls, is_new)
        gained = made.count - writing.count
        made = made._replace(rows=rows._replace(lengths=before.lengths + gained))
        return Speculating(made, self._proposer.keep(known, speculating.known, gained))

    def _shares(
        self, logits: tf.Tensor, tokens: tf.Tensor, writing: Writing, controls: Controls
    ) -> tf.Tensor:
        """Returns the distribution of each place, if all guesses before it are kept."""
        places, size = self.guesses + 1, logits.shape[2]
        # The text at each place includes the guesses before it.
        seen, everywhere = [writing.seen], tf.ones_like(writing.token, tf.bool)
        for place in range(places - 1):
            seen.append(seen[-1].with_token(tokens[:, place], everywhere))
        joined = tf.nest.map_structure(_in_rows, *seen)
        each = controls.taken(tf.repeat(tf.range(tf.shape(tokens)[0]), places))
        if (words := controls.mask.shape[2]) != 0:
            each = each._replace(mask=tf.reshape(controls.mask, [-1, 1, words]))
        proposed = self._writer.proposed(tf.reshape(logits, [-1, size]), each, joined)
        return tf.reshape(tf.nn.softmax(filtered(proposed, each)), [-1, places, size])


def _in_rows(*places: tf.Tensor) -> tf.Tensor:
    """Returns tensors [batch, ...] as one, the rows of each example one after another."""
    stacked = tf.stack(places, axis=1)
    return tf.reshape(stacked, tf.concat([[-1], tf.shape(stacked)[2:]], 0))


def accept(
    tokens: tf.Tensor, proposed: tf.Tensor, shares: tf.Tensor, uniform: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns how many proposed tokens each row keeps, and the distribution of the token after them.

    Leviathan et al. 2023, "Fast Inference from Transformers via Speculative Decoding", section 2.3.

    Args:
        tokens: Proposed tokens, int32 [batch, count].
        proposed: Distribution that each was drawn from, float32 [batch, count, vocabulary].
        shares: The model's own at the same places and the next one, float32 [batch, count + 1, vocabulary].
        uniform: A number in [0, 1) for each proposed token, float32 [batch, count].

    Returns:
        int32 [batch], and unnormalised shares, float32 [batch, vocabulary]: the surplus of the model's
        distribution over that of the proposal if a token was refused, and the model's own if all were kept.

    Example:

    >>> proposed, shares = tf.constant([[[1.0, 0.0]]]), tf.constant([[[0.25, 0.75]] * 2])
    >>> kept, after = accept(tf.constant([[0]]), proposed, shares, tf.constant([[0.5]]))
    >>> kept.numpy().tolist(), after.numpy().tolist()
    ([0], [[0.0, 0.75]])
    """
    count = tf.shape(tokens)[1]
    wanted = tf.gather(shares[:, :count], tokens, batch_dims=2)
    offered = tf.gather(proposed, tokens, batch_dims=2)
    kept = tf.reduce_sum(tf.math.cumprod(tf.cast(uniform * offered < wanted, tf.int32), axis=1), axis=1)
    own = tf.gather(shares, kept, batch_dims=1)
    refused = tf.gather(tf.pad(proposed, [[0, 0], [0, 1], [0, 0]]), kept, batch_dims=1)
    rest = tf.maximum(own - refused, 0.0)
    # Rounding may leave nothing if both are the same.
    return kept, tf.where(tf.reduce_sum(rest, axis=1, keepdims=True) > 0.0, rest, own)


class SpeculativeGenerator(Generator):
    """Writes the texts of a generator by guesses, in fewer readings of its model.

    Leviathan et al. 2023, "Fast Inference from Transformers via Speculative Decoding". Greedy texts are those
    of the generator. The last `tokens` places of a model's rows are for guesses, so a text that would have
    filled the row is shorter by as many tokens.

    Under a constraint, each guess has the mask after the guesses before it, and is refused where it may not
    come; where one token alone may come, it is the guess.

    Args:
        target: Generator whose texts are wanted.
        draft: Generator of a smaller model with the same tokenizer, which guesses; None to guess the tokens
            that followed the last tokens at an earlier place of the prompt or text.
        tokens: Number of tokens to guess at once.
        longest: Without a draft, most tokens that are looked up.

    Raises:
        ValueError: for a number below 1, for models that do not run on TensorFlow, for a draft of another
            tokenizer or with fewer positions, and for a model whose state cannot go back.

    Example:

        target, draft = load_generator("runs/large/bundle"), load_generator("runs/small/bundle")
        print(SpeculativeGenerator(target, draft).generate("The fox").text)
    """

    def __init__(
        self, target: Generator, draft: Generator | None = None, tokens: int = 4, longest: int = 3
    ) -> None:
        for name, value in (("tokens", tokens), ("longest", longest)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, is {value}")
        for whose, each in (("model", target), ("draft", draft)):
            if each is None:
                continue
            if not isinstance(each, Generator):
                raise ValueError(
                    f"the {whose} is a {type(each).__name__}; guesses need one that Keras runs on TensorFlow"
                )
            if not each.reader.goes_back:
                raise ValueError(
                    f"the {whose} cannot go back to an earlier token, as it must where a guess is refused"
                )
        if draft is not None:
            _check_draft(target, draft)
        super().__init__(target.model, target.tokenizer, target.recipe)
        self._draft, self._tokens, self._longest = draft, tokens, longest

    def _ahead(self, sampler: Any) -> int:
        return self._tokens

    def _decoding(self, sampler: Any) -> Any:
        if not sampler.speculates:
            raise ValueError(f"the sampler {sampler.kind} cannot use guesses; greedy and sample can")
        framing = self.framing
        writer = SAMPLERS[sampler.kind](self.reader, framing.end_id, framing.may_write, sampler)
        if self._draft is None:
            return SpeculativeWriter(
                self.reader, writer, LookupProposer(len(framing.may_write), self._tokens, self._longest)
            )
        return SpeculativeWriter(self.reader, writer, DraftProposer(self._draft.reader, writer, self._tokens))


def _check_draft(target: Generator, draft: Generator) -> None:
    if draft.tokenizer.digest_of_ids != target.tokenizer.digest_of_ids:
        raise ValueError(
            "the draft has another tokenizer than the model; both must be trained with the same one"
        )
    for what, own, others in (
        ("knows {} tokens", len(draft.framing.may_write), len(target.framing.may_write)),
        ("reads {} tokens", draft.framing.most_read, target.framing.most_read),
        ("writes {} tokens", draft.framing.most_written, target.framing.most_written),
    ):
        if own < others:
            raise ValueError(f"the draft {what.format(own)}, fewer than the model's {others}")
