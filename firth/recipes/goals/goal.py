"""The base of all that a model can be trained for, objectives and tasks, and its losses."""

import dataclasses
import math
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from firth.features import Spec, row_specs
from firth.recipes.base.recipe_type import Config
from firth.recipes.tokenizers.tokenizer import Sequences

# The segment of XLNet's `[CLS]`, next to 0 and 1 of the two parts of a document.
CLS_SEGMENT = 2


class TextFrame(NamedTuple):
    """The special tokens around a text, each by its role: `cls` is the tokenizer's `cls_id`.

    Attributes:
        before: The tokens in front of the text.
        after: The tokens after the text.
        last_segment: The segment of the last token; None if it is the text's own.
    """

    before: tuple[str, ...] = ("cls",)
    after: tuple[str, ...] = ("sep",)
    last_segment: int | None = None


# Numbers of epochs: one, or int64 [n].
Epochs = TypeVar("Epochs", int, npt.NDArray[np.int64])
# What the names of the ends of a score's interval end with.
LOW, HIGH = "_low", "_high"
# The metric that is 1 where a score is better than the best constant answer, and 0 where it is not.
BEATS_CONSTANT = "_beats_constant"
# Metrics of a main loss over the vocabulary, on tokens that are text.
TEXT_METRICS = ("text_perplexity", "unigram_perplexity", "perplexity_over_unigram", "bits_per_byte")


@dataclasses.dataclass(frozen=True)
class Loss:
    """One cross entropy, or squared error, that a model is trained by.

    Attributes:
        name: Its name in features, metrics and histories.
        title: Its name for people.
        classes: The number of answers to choose from; None for the whole vocabulary; 1 for a number, whose
            loss is the squared error.
        weight: Its weight in the sum that is minimised.
        varies: Whether examples differ in the number of their answers; `classes` is the least then.
    """

    name: str
    title: str
    classes: int | None = None
    weight: float = 1.0
    varies: bool = False

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The names of its metrics: a perplexity if it runs over the vocabulary, and an accuracy; of a number
        the squared error alone.

        Example:

        >>> NSP.metric_names, LM.metric_names, Loss(name="value", title="error", classes=1).metric_names
        (('nsp_accuracy',), ('lm_perplexity', 'lm_accuracy'), ('value_squared_error',))
        """
        if self.is_number:
            return (f"{self.name}_squared_error",)
        accuracy = f"{self.name}_accuracy"
        return (accuracy,) if self.classes else (f"{self.name}_perplexity", accuracy)

    @property
    def is_number(self) -> bool:
        """True if it is the squared error of a number."""
        return self.classes == 1

    @property
    def quantity(self) -> str:
        """The name of its values on an axis."""
        return "squared error" if self.is_number else "loss in nats"

    @property
    def guessing(self) -> float | None:
        """The loss of a guess among its answers, in nats; None over the vocabulary, of a number, and where
        their number differs.
        """
        return None if self.is_number or self.varies or not self.classes else math.log(self.classes)

    def weighing(self, weight: float) -> "Loss":
        """Returns the same loss with another weight."""
        return dataclasses.replace(self, weight=weight)


LM = Loss("lm", "LM")
MLM = Loss("mlm", "masked LM")
NSP = Loss("nsp", "next sentence prediction", classes=2)
SOP = Loss("sop", "sentence order prediction", classes=2)


class Goal(Config):
    """Goal that a model is trained for. Data, model, evaluation and serving ask it; none asks which it is."""

    if TYPE_CHECKING:
        kind: str

    other_names: ClassVar[tuple[str, ...]] = ()
    """Names that other libraries have for it, in small letters, with hyphens."""
    heads: ClassVar[str] = ""
    """The key of its heads in `firth.models.model_kinds.HEADS`."""
    counts_pooler: ClassVar[bool] = False
    """True if papers count a pooler among the parameters, trained or not."""
    fills_masks: ClassVar[bool] = False
    """True if its heads predict the token that a `[MASK]` hides."""
    score_inputs: ClassVar[tuple[str, ...]] = ()
    """The inputs of the signature `score`, empty if its model does not score texts: `text` alone, or `text`
    and the `target` after it."""
    decoder_start: ClassVar[tuple[str, ...]] = ("pad",)
    """The roles of the special tokens that a decoder starts from."""
    text_end: ClassVar[str] = ""
    """The role of the token that ends a text which its model writes; empty if it writes none."""
    writes_sentinels: ClassVar[bool] = False
    """True if its model may write sentinels, which divide what it writes into parts."""
    prompted_with: ClassVar[str] = "text"
    """Kind of text that its model continues, a key of `firth.generation.framing.FRAMINGS`."""
    uses_negative: ClassVar[bool] = False
    """True if it takes segments of another row."""
    mixes_masks: ClassVar[bool] = False
    """True if rows say by an order which of their tokens see each other, and differ in it."""
    score_names: ClassVar[tuple[str, ...]] = ()
    """The names of its scores, keys of `firth.scores.SCORES`, the headline first."""
    trains_pooler: ClassVar[bool] = False
    """True if it trains a pooler, a layer on the state of `[CLS]`."""
    prompt_prefix: ClassVar[str] = ""
    """The text in front of each text that a trained model writes after."""
    compares_examples: ClassVar[bool] = False
    """True if the loss of an example follows from the others that a device reads with it."""
    texts: ClassVar[int] = 1
    """The number of chunks that a document of a row is laid out from."""
    loss_terms: ClassVar[tuple[Loss, ...]] = (LM,)
    """The losses that are minimised, the main one first."""
    z_losses: ClassVar[dict[str, float]] = {}
    """The factors of the z-losses of the losses that have one, by name; here none."""
    comparison_metrics: ClassVar[tuple[str, ...]] = ()
    """The names of the metrics that compare its scores with the best constant answer; here none."""
    constant_bounds: ClassVar[dict[str, tuple[float | None, float | None]]] = {}
    """The lower and the upper bound, by metric, of a model that is better than the best constant answer; here
    none, since an objective has thresholds of its own."""
    predictions: ClassVar[int] = 0
    """The most predictions of a row at chosen positions; 0 where every position predicts."""

    def score_options(self, name: str) -> dict[str, Any]:
        """Returns the options of one of its scores, such as the class that F1 is of.

        Args:
            name: Key of `firth.scores.SCORES`.
        """
        return {}

    def divided_sizes(self, model: Any) -> dict[str, int]:
        """Returns sizes of its own, by name, along which several devices hold a part of its weights.

        Args:
            model: The recipe's model.
        """
        return {}

    @property
    def heads_key(self) -> str:
        """The key of the heads of its models, in `firth.models.model_kinds.HEADS`: `heads` by default."""
        return self.heads

    @property
    def losses(self) -> dict[str, float]:
        """The losses' weights in the sum, by name, the main one first."""
        return {loss.name: loss.weight for loss in self.loss_terms}

    @property
    def loss_classes(self) -> dict[str, int | None]:
        """The losses' numbers of answers, by name; None for the whole vocabulary."""
        return {loss.name: loss.classes for loss in self.loss_terms}

    @property
    def main_loss(self) -> str:
        """The name of the loss that a model is judged by."""
        return self.loss_terms[0].name

    def scheduled(self, progress: float) -> dict[str, float]:
        """Returns the values that change over a run at a place of it, by their keys; here none.

        Args:
            progress: Share of the run's steps that have been made.
        """
        return {}

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The names of its metrics: of losses, of predicted text, of scores, and of their comparisons."""
        of_losses = (name for loss in self.loss_terms for name in loss.metric_names)
        of_text = () if self.loss_terms[0].classes else TEXT_METRICS
        return (*of_losses, *of_text, *self.score_metrics, *self.comparison_metrics)

    @property
    def score_metrics(self) -> tuple[str, ...]:
        """The names of the metrics of its scores: each score, and the ends of its interval.

        Example:

        >>> Goal().score_metrics
        ()
        """
        return tuple(f"{score}{end}" for score in self.score_names for end in ("", LOW, HIGH))

    @property
    def text_frame(self) -> TextFrame:
        """The special tokens around a text that a trained model reads."""
        return TextFrame()

    @property
    def prompt_frame(self) -> TextFrame:
        """The special tokens around a text that a trained model writes after: here those of any text."""
        return self.text_frame

    @property
    def special_tokens(self) -> int:
        """Special tokens that are added to each document of a row."""
        raise NotImplementedError

    def epochs_drawn(self, epochs: Epochs) -> Epochs:
        """Returns the epochs whose random draws are used in the given ones: here the same.

        Args:
            epochs: Number of an epoch, or an array of them.
        """
        return epochs

    def raw_length(self, sequences: Sequences) -> int:
        """Returns the most raw tokens of a row: those of one document that just fills the row.

        A row of several documents holds `special_tokens` fewer for each one more.

        Args:
            sequences: Rows of the recipe.
        """
        return sequences.length - self.special_tokens

    def row_specs(self, sequences: Sequences, max_characters: int = 0) -> dict[str, Spec]:
        """Returns the names, dtypes and shapes of what a row holds on disk.

        Args:
            sequences: Rows of the recipe.
            max_characters: Characters of a word, for tokenizers of words; see `firth.features.row_specs`.
        """
        return row_specs(self.raw_length(sequences), sequences.max_documents, max_characters)

    def sample_chunks(self, tokens: int, sequences: Sequences) -> tuple[int, ...]:
        """Returns the lengths of a text's chunks in a row, for a sample without a label.

        Args:
            tokens: Tokens of the text; those after the chunks are left out.
            sequences: Rows of the recipe.
        """
        return (min(tokens, self.raw_length(sequences)),)

    def input_length(self, sequences: Sequences) -> int:
        """Returns the tokens of a row as the model (the encoder, where there are two) reads it.

        Args:
            sequences: Rows of the recipe.
        """
        return sequences.length

    def prompt_places(self, sequences: Sequences) -> int:
        """Returns the most tokens of a text that a trained model writes after, special ones included.

        Args:
            sequences: Rows of the recipe.
        """
        return self.input_length(sequences)

    def written_places(self, sequences: Sequences, prompt: int) -> int:
        """Returns the most tokens that a trained model writes after a text, the end included.

        Args:
            sequences: Rows of the recipe.
            prompt: Tokens of the text, special ones included.
        """
        if self.target_length(sequences):
            return max(self.target_length(sequences), sequences.length) + 1 - len(self.decoder_start)
        # The token that is written last is not read.
        return self.input_length(sequences) + 1 - prompt

    def target_length(self, sequences: Sequences) -> int:
        """Returns the tokens of a row as a decoder reads it; 0 for a model without a decoder of its own.

        Args:
            sequences: Rows of the recipe.
        """
        return 0
