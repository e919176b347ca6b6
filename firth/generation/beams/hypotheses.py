"""Several texts for each row of a batch, with a score each."""

from typing import Any, NamedTuple

import tensorflow as tf


class Hypotheses(NamedTuple):
    """Several texts for each row, the best first; minus infinity scores a place that no text has taken.

    Attributes:
        scores: float32 [batch, texts].
        ids: Tokens so far, the end among them, int32 [batch, texts, most]; 0 after them.
        log_probabilities: Natural logarithms of their probabilities, float32 [batch, texts, most], among all
            tokens that may be written, before biases and penalties.
        count: Number of tokens so far, int32 [batch, texts].
        ended: Why a text has ended, int32 [batch, texts], as `Writing` says it.
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
        """Returns some texts of each row, in any order and as often as is said.

        Args:
            places: Numbers of texts, int32 [batch, n].
        """
        taken: Hypotheses = tf.nest.map_structure(lambda each: tf.gather(each, places, batch_dims=1), self)
        return taken

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
        """Returns these texts, of which some are out of the question.

        Args:
            which: Which stay, bool [batch, texts]; the others are scored minus infinity.
        """
        return self._replace(scores=tf.where(which, self.scores, -float("inf")))

    def with_tokens(self, tokens: tf.Tensor, gained: tf.Tensor) -> "Hypotheses":
        """Returns these texts with a token more each.

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
        chosen: Hypotheses = tf.nest.map_structure(
            lambda own, other: tf.where(tf.reshape(rows, [-1] + [1] * (own.shape.rank - 1)), own, other),
            self,
            others,
        )
        return chosen
