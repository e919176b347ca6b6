"""Parameters, work and logits of the heads on top of a backbone, without Keras."""

from typing import Any

from firth.recipes.models.block_counts import MAX_LOGITS, further_blocks, projection, stack
from firth.recipes.models.facts import Activations, Lengths, Work, dense
from firth.recipes.models.transformers import MaskedTransformerConfig
from firth.recipes.objectives.generator import generator_of
from firth.recipes.run.run_recipe import RunRecipe


class HeadCounts:
    """Base of the counts of one kind of heads."""

    def __init__(self, model: Any, goal: Any, vocabulary: int, lengths: Lengths) -> None:
        self.model, self.goal, self.vocabulary, self.lengths = model, goal, vocabulary, lengths

    def parameters(self) -> dict[str, int]:
        """Returns the numbers of parameters, by part."""
        raise NotImplementedError

    def work(self) -> Work:
        """Returns the multiply-adds of the forward pass of a row."""
        raise NotImplementedError

    def logits(self, rows: int) -> int:
        """Returns the numbers as large as logits that are held at once, in float32: of the selected.

        They are the logits, their probabilities, and the slopes without and with the labels'.
        """
        return 4 * rows * self.lengths.selected * self.vocabulary

    def logits_made(self, rows: int) -> int:
        """Returns the numbers as large as logits that are made, if not at once; those held, here."""
        return self.logits(rows)

    def activations(self, number: int) -> Activations:
        """Returns the bytes that blocks of the heads keep of a row: none.

        A block of theirs is not larger than one of the backbone, and is not held at the same time.
        """
        return Activations()


class MaskedLMHeadCounts(HeadCounts):
    """A head on tokens, the positions and further blocks of a mask decoder, and a head on pairs."""

    def parameters(self) -> dict[str, int]:  # noqa: D102
        model, goal = self.model, self.goal
        counts = {"masked_lm_head": _tokens_head(model, self.vocabulary)}
        if goal.mask_positions:
            counts["mask_positions"] = goal.mask_positions * model.width
        if goal.trains_pooler:
            pairs = "next_sentence_head" if "nsp" in goal.losses else "sentence_order_head"
            counts[pairs] = dense(model.width, 2)
        return counts

    def work(self) -> Work:  # noqa: D102
        model, lengths = self.model, self.lengths
        pairs = lengths.documents * model.width * (model.width + 2) if self.goal.trains_pooler else 0
        decoder = further_blocks(model, self.goal.further_passes, lengths)
        predictions = lengths.selected * _prediction(model, self.vocabulary)
        return Work(predictions + pairs + decoder.row, decoder.step)

    def activations(self, number: int) -> Activations:
        """Returns the bytes kept by the further blocks of a mask decoder."""
        passes, model = self.goal.further_passes, self.model
        block = model.activations(self.lengths, number).block
        return Activations(passes * block, passes * number * self.lengths.input * model.width)


class SpanMaskingHeadCounts(HeadCounts):
    """A head on tokens, and the span boundary objective's."""

    def parameters(self) -> dict[str, int]:  # noqa: D102
        width = self.model.width
        counts = {"masked_lm_head": _tokens_head(self.model, self.vocabulary)}
        if self.goal.boundary:
            layers = dense(3 * width, width) + dense(width, width) + 2 * 2 * width
            counts["span_boundary_head"] = self.goal.boundary_places * width + layers + self.vocabulary
        return counts

    def work(self) -> Work:  # noqa: D102
        model = self.model
        boundary = (3 * model.width + model.width) * model.width + model.embedding_width * self.vocabulary
        each = _prediction(model, self.vocabulary) + (boundary if self.goal.boundary else 0)
        return Work(self.lengths.selected * each)

    def logits(self, rows: int) -> int:
        """Returns those of the selected predictions, twice with the span boundary objective."""
        return (2 if self.goal.boundary else 1) * super().logits(rows)


class ReplacedTokenDetectionHeadCounts(HeadCounts):
    """A generator after the shared embeddings, its head on tokens, and the discriminator's head."""

    @property
    def _generator(self) -> MaskedTransformerConfig:
        return generator_of(self.model, self.goal)

    def parameters(self) -> dict[str, int]:  # noqa: D102
        generator, width = self._generator, self.model.width
        after = projection(generator, generator.embedding_width, generator.width)
        after += self.goal.mask_positions * generator.width
        tokens = _tokens_head(generator, self.vocabulary)
        return {
            "generator": after + stack(generator, generator.layers) + tokens,
            "replaced_token_head": dense(width, width) + dense(width, 1),
        }

    def work(self) -> Work:
        """Returns the work of the generator over the whole row, its predictions, and a decision a token."""
        generator, lengths, width = self._generator, self.lengths, self.model.width
        work = generator.work(lengths)
        decoder = further_blocks(generator, self.goal.further_passes, lengths)
        predictions = lengths.selected * _prediction(generator, self.vocabulary)
        decisions = lengths.input * width * (width + 1)
        return Work(work.row + decoder.row + predictions + decisions, work.step + decoder.step)

    def activations(self, number: int) -> Activations:
        """Returns the bytes kept by the blocks of the generator, and of its mask decoder."""
        generator = self._generator
        layers = generator.layers + self.goal.further_passes
        return generator.model_copy(update={"layers": layers}).activations(self.lengths, number)


class PermutationLMHeadCounts(HeadCounts):
    """The bias of the vocabulary."""

    def parameters(self) -> dict[str, int]:  # noqa: D102
        return {"permutation_lm_head": self.vocabulary}

    def work(self) -> Work:  # noqa: D102
        return Work(self.lengths.selected * self.model.width * self.vocabulary)


class LanguageModelHeadCounts(HeadCounts):
    """The output projection, if it is not the token table, and the projection to a table of another width."""

    def parameters(self) -> dict[str, int]:  # noqa: D102
        width = self.model.embedding_width
        to_table = dense(self.model.width, width, bias=False) if width != self.model.width else 0
        count = to_table + (0 if self.model.tied_output else self.vocabulary * width)
        return {"language_model_head": count} if count else {}

    def work(self) -> Work:  # noqa: D102
        width = self.model.embedding_width
        to_table = self.model.width if width != self.model.width else 0
        return Work(self._predictions * width * (to_table + self.vocabulary))

    @property
    def _predictions(self) -> int:
        return self.lengths.target or self.lengths.input

    def logits(self, rows: int) -> int:
        """Returns the logits and their probabilities of as many tokens as are taken at once.

        Where they are not all, the table's gradient is made along with them, and held twice.
        """
        made = self.logits_made(rows)
        table = 2 * self.vocabulary * self.model.embedding_width
        return made if made <= 2 * MAX_LOGITS else 2 * MAX_LOGITS + table

    def logits_made(self, rows: int) -> int:
        """Returns the logits and their probabilities of all tokens."""
        return 2 * rows * self._predictions * self.vocabulary


class BidirectionalLMHeadCounts(HeadCounts):
    """The softmax, which both directions share."""

    def parameters(self) -> dict[str, int]:  # noqa: D102
        return {"softmax": dense(self.model.projection_width, self.vocabulary)}

    def work(self) -> Work:
        """Returns the work of both directions, each against the drawn words and the true one, or all."""
        words = min((self.goal.negatives or self.vocabulary) + 1, self.vocabulary)
        return Work(2 * self.lengths.input * self.model.projection_width * words)

    def logits(self, rows: int) -> int:
        """Returns the shares of the drawn words in both directions, and the slopes of one, twice.

        Those of all words are made in chunks.
        """
        made = self.logits_made(rows)
        drawn = self.goal.negatives or self.vocabulary
        return made if drawn < self.vocabulary else min(made, 2 * MAX_LOGITS)

    def logits_made(self, rows: int) -> int:
        """Returns the same of all words."""
        return 4 * rows * self.lengths.input * min(self.goal.negatives or self.vocabulary, self.vocabulary)


def _tokens_head(model: MaskedTransformerConfig, vocabulary: int) -> int:
    """A dense layer to the width of the token table, a layer norm, and the bias of the vocabulary."""
    width, norms = model.embedding_width, 2 if model.biases else 1
    return dense(model.width, width, model.biases) + norms * width + vocabulary


def _prediction(model: MaskedTransformerConfig, vocabulary: int) -> int:
    """One token: to the width of the token table, then to the vocabulary."""
    return model.embedding_width * (model.width + vocabulary)


# By `Goal.heads`.
HEADS: dict[str, type[HeadCounts]] = {
    "masked_lm": MaskedLMHeadCounts,
    "span_masking": SpanMaskingHeadCounts,
    "replaced_token_detection": ReplacedTokenDetectionHeadCounts,
    "permutation_lm": PermutationLMHeadCounts,
    "language_model": LanguageModelHeadCounts,
    "bidirectional_lm": BidirectionalLMHeadCounts,
}


def heads_of(recipe: RunRecipe) -> HeadCounts:
    """Returns the counts of a recipe's heads."""
    goal, vocabulary = recipe.goal, recipe.tokenizer.vocabulary_size
    return HEADS[goal.heads](recipe.model, goal, vocabulary, lengths_of(recipe))


def lengths_of(recipe: RunRecipe) -> Lengths:
    """Returns the lengths of a recipe's rows.

    Example:

    >>> from firth.recipes.reading.loading import load_recipe
    >>> lengths_of(load_recipe("bert_base"))
    Lengths(input=512, target=0, selected=76, documents=8)
    """
    objective, sequences = recipe.goal, recipe.sequences
    return Lengths(
        objective.input_length(sequences),
        objective.target_length(sequences),
        objective.predictions,
        sequences.max_documents,
    )
