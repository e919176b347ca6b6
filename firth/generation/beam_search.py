"""Beam search in the graph, over caches of a static shape."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth.generation.controls import Controls
from firth.generation.penalties import Seen, adjusted
from firth.generation.token_reader import Prompts, ReadRows, TokenReader, last_states
from firth.generation.writer import (
    AT_END,
    AT_LENGTH,
    RUNNING,
    DecodedTexts,
    Decoder,
    LatestTokens,
    UnfinishedTexts,
)
from firth.recipes.generation.samplers import BeamSearch


class Hypotheses(NamedTuple):
    """Several texts for each row, the best first; a place without a text has the score minus infinity.

    Attributes:
        scores: float32 [batch, texts].
        ids: Tokens so far, the end among them, int32 [batch, texts, most]; 0 after them.
        log_probabilities: Natural logarithms of their probabilities, float32 [batch, texts, most], among all
            tokens that may be written, before biases and penalties.
        count: Number of tokens so far, int32 [batch, texts].
        ended: Why a text has ended, int32 [batch, texts], as in `Writing.ended`.
    """

    scores: tf.Tensor
    ids: tf.Tensor
    log_probabilities: tf.Tensor
    count: tf.Tensor
    ended: tf.Tensor

    @classmethod
    def empty(cls, batch: Any, texts: int, most: Any, score: float) -> "Hypotheses":
        """Returns texts without a token.

        Args:
            batch: Number of rows, an int or int32 [].
            texts: Number of texts for each row.
            most: Most tokens of a text, an int or int32 [].
            score: Score of each.
        """
        nothing = tf.zeros([batch, texts], tf.int32)
        return cls(
            tf.fill([batch, texts], tf.constant(score, tf.float32)),
            tf.zeros([batch, texts, most], tf.int32),
            tf.zeros([batch, texts, most]),
            nothing,
            nothing,
        )

    def taken(self, places: tf.Tensor) -> "Hypotheses":
        """Returns the texts of these numbers of each row; a text may be taken several times.

        Args:
            places: Numbers of texts, int32 [batch, n].
        """
        return tf.nest.map_structure(lambda each: tf.gather(each, places, batch_dims=1), self)

    def best(self, count: int) -> tuple["Hypotheses", tf.Tensor]:
        """Returns the texts of the highest scores, the highest first, and their places, int32 [batch, count].

        Args:
            count: Number of texts to return, at most as many as there are.

        Example:

        >>> found = Hypotheses.empty(1, 3, 2, 0.0)._replace(scores=tf.constant([[-2.0, -1.0, -3.0]]))
        >>> found.best(2)[0].scores.numpy().tolist()
        [[-1.0, -2.0]]
        """
        places = tf.math.top_k(self.scores, count).indices
        return self.taken(places), places

    def joined(self, others: "Hypotheses") -> "Hypotheses":
        """Returns these texts of each row, and others after them.

        Args:
            others: Texts of the same rows, with room for as many tokens.
        """
        return Hypotheses(*(tf.concat(pair, axis=1) for pair in zip(self, others, strict=True)))

    def only(self, which: tf.Tensor) -> "Hypotheses":
        """Returns these texts; those that do not stay get the score minus infinity.

        Args:
            which: True for texts that stay, bool [batch, texts].
        """
        return self._replace(scores=tf.where(which, self.scores, -float("inf")))

    def with_tokens(self, tokens: tf.Tensor, gained: tf.Tensor) -> "Hypotheses":
        """Returns these texts, each with one more token.

        Args:
            tokens: Token of each, int32 [batch, texts].
            gained: Natural logarithm of its probability, float32 [batch, texts].
        """
        here = tf.range(tf.shape(self.ids)[2]) == self.count[:, :, tf.newaxis]
        return self._replace(
            ids=tf.where(here, tokens[:, :, tf.newaxis], self.ids),
            log_probabilities=tf.where(here, gained[:, :, tf.newaxis], self.log_probabilities),
            count=self.count + 1,
        )

    def where(self, rows: tf.Tensor, others: "Hypotheses") -> "Hypotheses":
        """Returns these texts in some rows, and others in the rest.

        Args:
            rows: Rows that have these, bool [batch].
            others: Texts, as many.
        """
        return tf.nest.map_structure(
            lambda own, other: tf.where(tf.reshape(rows, [-1] + [1] * (own.shape.rank - 1)), own, other),
            self,
            others,
        )


class Searching(NamedTuple):
    """State of a search.

    Attributes:
        rows: Rows that the model has read for each beam, [batch * beams]: all but the token written last.
        running: Texts that have not ended, [batch, beams]; their score is the sum of the logarithms of their
            tokens' probabilities.
        found: Texts that have ended, [batch, beams]; their score is that sum, divided by their number of
            tokens to the power of the length penalty.
        ended: Why each row's search has ended, int32 [batch], as in `Writing.ended`.
        seen: Text of each beam so far as penalties read it, [batch * beams] rows.
        parents: Beam of the step before that each beam continues, int32 [batch, beams].
    """

    rows: ReadRows
    running: Hypotheses
    found: Hypotheses
    ended: tf.Tensor
    seen: Seen
    parents: tf.Tensor


class BeamSearcher(Decoder[Searching]):
    """Writes the likeliest texts that it finds after each prompt: `start`, then `go_on` until all have ended.

    A step extends each beam of a row by every token, and considers twice as many texts as the row has beams.
    Texts of the better half that end are kept; the best texts that continue are the next beams. The result is
    that of `generate` of Hugging Face's transformers 5 with the same values; penalties, too, are subtracted
    from the logarithms of probabilities. A row's texts do not depend on the other rows of the batch.

    Args:
        reader: Model that reads.
        end_id: Id of the token that ends a text.
        may_write: True for tokens that may be written, bool [vocabulary], the end among them.
        sampler: Settings of the search.
    """

    def __init__(
        self, reader: TokenReader, end_id: int, may_write: npt.NDArray[np.bool_], sampler: BeamSearch
    ) -> None:
        self._reader, self._end_id, self._sampler = reader, end_id, sampler
        self.texts_of_row = sampler.beams
        self._ruled_out = np.where(may_write, 0.0, -np.inf).astype("float32")

    def start(self, prompts: Prompts, controls: Controls, room: Any) -> tuple[Searching, tf.Tensor]:
        """Reads the prompts and writes the first token of each beam.

        Args:
            prompts: Prompts of the batch.
            controls: Values that each row requests.
            room: Most tokens of any row, an int or int32 []; at least `controls.most`.

        Returns:
            The search so far, and the states of all that was read, float [batch, places, width].
        """
        states, rows = self._reader.begin(prompts, room)
        logits = self._reader.logits(last_states(states, rows))
        batch, beams = tf.shape(prompts.lengths)[0], self._sampler.beams
        each = tf.repeat(tf.range(batch), beams)
        running = Hypotheses.empty(batch, beams, room, 0.0)
        seen = Seen.of_prompts(prompts, self._reader, len(self._ruled_out), room)
        searching = Searching(
            rows.taken(each),
            # All beams are the same at the start, so one has a score.
            running.only(tf.broadcast_to(tf.range(beams) == 0, [batch, beams])),
            Hypotheses.empty(batch, beams, room, -float("inf")),
            tf.zeros([batch], tf.int32),
            seen.taken(each),
            tf.zeros([batch, beams], tf.int32),
        )
        return self._chosen(tf.gather(logits, each), searching, controls), states

    def texts(self, searching: Searching) -> DecodedTexts:
        """Returns the best text of each row whose search has ended, and no token of the other rows.

        Args:
            searching: Search as `start` or `go_on` returned it.
        """
        best, ended = searching.found, searching.ended
        count = tf.where(ended != RUNNING, best.count[:, 0], 0)
        return DecodedTexts(best.ids[:, 0], best.log_probabilities[:, 0], count, ended, self.best(searching))

    def unfinished(self, searching: Searching) -> UnfinishedTexts:
        """Returns the tokens of each beam; its earlier tokens show which beam it came from.

        Args:
            searching: Search as `start` or `go_on` returned it.
        """
        running = searching.running
        return UnfinishedTexts(running.ids, running.count, running.scores > -float("inf"))

    def latest(self, searching: Searching) -> LatestTokens:
        """Returns the last token of each beam, and the beam that it came from.

        Args:
            searching: Search so far.
        """
        running = searching.running
        return LatestTokens(_last_tokens(running), running.count, searching.parents)

    def best(self, searching: Searching) -> Hypotheses:
        """Returns the best texts of each row that have ended, the best first, [batch, n_best].

        Args:
            searching: Search as `start` or `go_on` returned it.
        """
        return searching.found.best(self._sampler.n_best)[0]

    def step(self, searching: Searching, controls: Controls) -> Searching:
        """Writes one more token of each beam of the rows that have not ended.

        Args:
            searching: Search so far.
            controls: Values that each row requests.
        """
        running = searching.running
        rows = searching.rows.standing(tf.repeat(searching.ended != RUNNING, self._sampler.beams))
        states, rows = self._reader.read(tf.reshape(_last_tokens(running), [-1, 1]), rows)
        return self._chosen(self._reader.logits(states[:, 0]), searching._replace(rows=rows), controls)

    def _chosen(self, logits: tf.Tensor, searching: Searching, controls: Controls) -> Searching:
        """Returns the search with one more token of each beam of the rows that have not ended."""
        candidates, places, tokens = self._candidates(logits, searching, controls)
        at_length = candidates.count >= controls.most[:, tf.newaxis]
        ended = tf.where(tokens == self._end_id, AT_END, tf.where(at_length, AT_LENGTH, RUNNING))
        candidates = candidates._replace(ended=ended)
        running, chosen = candidates.only(ended == RUNNING).best(self._sampler.beams)
        found = self._found(candidates.only(ended != RUNNING), searching.found)
        parents = tf.gather(places, chosen, batch_dims=1)
        rows = self._flat(parents)
        tokens = tf.reshape(tf.gather(tokens, chosen, batch_dims=1), [-1])
        running_rows = searching.ended == RUNNING
        return Searching(
            searching.rows.taken(rows),
            running.where(running_rows, searching.running),
            found.where(running_rows, searching.found),
            tf.where(running_rows, self._ended(running, found, controls), searching.ended),
            searching.seen.taken(rows).with_token(tokens, tf.ones_like(tokens, tf.bool)),
            parents,
        )

    def _candidates(
        self, logits: tf.Tensor, searching: Searching, controls: Controls
    ) -> tuple[Hypotheses, tf.Tensor, tf.Tensor]:
        """Returns the best texts with one more token, two for each beam, their beams and their tokens."""
        beams, size = self._sampler.beams, len(self._ruled_out)
        logits = tf.cast(logits, tf.float32) + self._ruled_out
        of_beams = controls.taken(tf.repeat(tf.range(tf.shape(searching.ended)[0]), beams))
        if controls.mask.shape[2] != 0:
            # Each beam is a text of its own.
            of_beams = of_beams._replace(mask=tf.reshape(controls.mask, [-1, 1, controls.mask.shape[2]]))
        if beams == 1:
            # With one beam, transformers subtracts penalties from logits.
            proposed = tf.nn.log_softmax(adjusted(logits, of_beams, searching.seen, self._end_id))
        else:
            proposed = adjusted(tf.nn.log_softmax(logits), of_beams, searching.seen, self._end_id)
        sums = tf.reshape(searching.running.scores, [-1, 1]) + proposed
        scores, chosen = tf.math.top_k(tf.reshape(sums, [-1, beams * size]), 2 * beams)
        places, tokens = chosen // size, chosen % size
        rows = self._flat(places)
        gained = tf.gather_nd(logits, tf.stack([rows, tf.reshape(tokens, [-1])], axis=1))
        gained -= tf.gather(tf.reduce_logsumexp(logits, axis=1), rows)
        texts = searching.running.taken(places).with_tokens(tokens, tf.reshape(gained, [-1, 2 * beams]))
        return texts._replace(scores=scores), places, tokens

    def _found(self, ended: Hypotheses, found: Hypotheses) -> Hypotheses:
        """Returns the best ended texts among those found before and the better half of the candidates."""
        beams = self._sampler.beams
        lengths = tf.cast(ended.count, tf.float32) ** self._sampler.length_penalty
        better = tf.broadcast_to(tf.range(2 * beams) < beams, tf.shape(ended.scores))
        return found.joined(ended._replace(scores=ended.scores / lengths).only(better)).best(beams)[0]

    def _ended(self, running: Hypotheses, found: Hypotheses, controls: Controls) -> tf.Tensor:
        """Returns why each row's search has ended, int32 [batch], by its best text, or `RUNNING`."""
        stops, penalty = self._sampler.early_stopping, self._sampler.length_penalty
        length = controls.most if stops == "never" and penalty > 0 else running.count[:, 0]
        reachable = running.scores[:, 0] / tf.cast(length, tf.float32) ** penalty
        worst = tf.reduce_min(found.scores, axis=1)
        # A place without a text is worse than every text.
        may_gain = (worst == -float("inf")) if stops is True else (reachable > worst)
        may_gain &= running.scores[:, 0] > -float("inf")
        return tf.where(may_gain, RUNNING, found.ended[:, 0])

    def _flat(self, places: tf.Tensor) -> tf.Tensor:
        """Returns the numbers of the model's rows for beams of each row, int32 [batch * n]."""
        first = tf.range(tf.shape(places)[0]) * self._sampler.beams
        return tf.reshape(first[:, tf.newaxis] + places, [-1])


def _last_tokens(running: Hypotheses) -> tf.Tensor:
    """Returns the last token of each text, int32 [batch, texts]."""
    return tf.gather(running.ids, tf.maximum(running.count - 1, 0), batch_dims=2)
