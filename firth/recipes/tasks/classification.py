"""Tasks whose answer is one of several classes, or a number, for a text or for two."""

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import pydantic

from firth.features import RECORD_LABELS, Spec
from firth.recipes.goals.goal import LM, Loss
from firth.recipes.tasks.forms import AnyForm, BERTForm
from firth.recipes.tasks.task import Task, most_frequent, title_of
from firth.recipes.tokenizers.tokenizer import Sequences

# The sum of shares that were rounded may differ from 1 by this.
_TOLERANCE = 0.01

ClassShares = tuple[Annotated[float, pydantic.Field(gt=0.0, le=1.0)], ...] | None


def checked_shares(shares: Sequence[float] | None, labels: Sequence[str]) -> None:
    """Checks the shares of classes."""
    if not shares:
        return
    if len(shares) != len(labels):
        raise ValueError(f"class_shares: there are {len(shares)}, and {len(labels)} labels")
    if abs(sum(shares) - 1.0) > _TOLERANCE:
        raise ValueError(f"class_shares: their sum is {sum(shares):.4g}, not 1")


def bias_of_shares(shares: Sequence[float] | None) -> tuple[float, ...] | float:
    """Returns the logits that give the classes their shares.

    Example:

    >>> [round(each, 2) for each in bias_of_shares((0.9, 0.1))], bias_of_shares(None)
    ([-0.11, -2.3], 0.0)
    """
    return tuple(map(math.log, shares)) if shares else 0.0


# Labels of so few values are taken for classes, whatever they are.
_MOST_OF_FEW = 20

Rate = Annotated[float, pydantic.Field(ge=0.0, lt=1.0)]


class _OfTexts(Task):
    """A task on a text, or on two."""

    pair: bool = False
    """True if a record has two texts."""
    form: AnyForm = BERTForm()
    """Layout of texts."""
    dropout: Rate = 0.1
    """Rate of dropout on what the head reads."""
    lm_weight: Annotated[float, pydantic.Field(ge=0.0)] = 0.0
    """Weight of the auxiliary loss of predicting each next token of the texts (Radford et al. 2018, section
    3.2, where it is 0.5); 0 for none. For decoders alone."""

    @pydantic.model_validator(mode="after")
    def _language_models_are_decoders(self) -> "_OfTexts":
        if self.lm_weight and "decoder" not in self.form.architectures:
            raise ValueError(f"lm_weight: form.kind: {self.form.kind} is not of decoders, so it must be 0")
        return self

    @property
    def heads(self) -> str:  # type: ignore[override]
        """The key of its heads: with those of a language model, where it has the auxiliary loss."""
        return "pooled_language_model" if self.lm_weight else "pooled"

    @property
    def auxiliary_losses(self) -> tuple[Loss, ...]:
        """The loss of predicting the texts, if it has a weight."""
        return (LM.weighing(self.lm_weight),) if self.lm_weight else ()

    @classmethod
    def values_for_roles(cls, roles: frozenset[str]) -> dict[str, Any]:
        """Returns the values of a recipe that follow from the roles of its texts."""
        return {"pair": True} if "pair" in roles else {}

    @property
    def roles(self) -> tuple[str, ...]:  # type: ignore[override]
        """The roles of the texts of a record."""
        return ("text", "pair") if self.pair else ("text",)

    @property
    def reads_windows(self) -> bool:  # type: ignore[override]
        """True if its signature can read a longer text in windows: one text of pieces."""
        return not self.pair and not self.form.of_words

    @property
    def documents_of_record(self) -> int:  # type: ignore[override]
        """The number of documents of a record: one for each order of two texts."""
        return self.form.orders if self.pair else 1


class ClassAnswers(Task):
    """Base of the tasks whose answer is one of several classes."""

    if TYPE_CHECKING:
        labels: tuple[str, ...]
        positive: str
        pair: bool

    @pydantic.model_validator(mode="after")
    def _labels_are_classes(self) -> "ClassAnswers":
        if len(self.labels) == 1:
            raise ValueError(f"labels: there is only one class, {self.labels[0]!r}; two or more are needed")
        if len(set(self.labels)) < len(self.labels):
            raise ValueError("labels: a class occurs twice")
        if self.positive and self.labels and self.positive not in self.labels:
            raise ValueError(f"positive: {self.positive!r} is not one of {', '.join(self.labels)}")
        return self

    @property
    def signature(self) -> str:  # type: ignore[override]
        """The served signature that asks the model for its answer."""
        return "classify_pair" if self.pair else "classify"

    def names_problem(self, counts: Mapping[str, int]) -> str:
        """Returns why labels cannot be classes, as most occur once or they are fractions; empty if they can.

        Example:

        >>> task = Classification()
        >>> task.names_problem({"good": 1, "bad": 1}), task.names_problem({str(n): 2 for n in range(99)})
        ('', '')
        >>> task.names_problem({f"{n / 8}": 9 for n in range(30)})
        "270 records have 30 labels, such as '0.0', '0.125', '0.25': no classes; regression learns numbers"
        """
        records = sum(counts.values())
        if len(counts) <= _MOST_OF_FEW or (2 * len(counts) <= records and not _are_fractions(counts)):
            return ""
        shown = ", ".join(map(repr, itertools.islice(counts, 3)))
        advice = "; regression learns numbers" if all(map(_is_number, counts)) else ""
        return f"{records} records have {len(counts)} labels, such as {shown}: no classes{advice}"

    def score_options(self, name: str) -> dict[str, Any]:
        """Returns the options of a score: of F1, the class that it is of."""
        return {"positive": self._positive} if name == "f1" else {}

    def constant_answers(self, references: Sequence[Any]) -> dict[str, list[Any]]:
        """Returns the most frequent class, and the one that F1 is of, for all records.

        Example:

        >>> Classification(labels=("no", "yes")).constant_answers(["no", "no", "yes"])
        {'"no"': ['no', 'no', 'no'], '"yes"': ['yes', 'yes', 'yes']}
        """
        named = dict.fromkeys([*most_frequent(references), self._positive])
        return {title_of(name): [name] * len(references) for name in named}

    @property
    def _positive(self) -> str:
        return self.positive or self.labels[-1]


class NumberAnswers(Task):
    """Base of the tasks whose answer is a number."""

    label_type: ClassVar[str] = "number"
    scored_as: ClassVar[tuple[str, ...]] = ("number",)

    if TYPE_CHECKING:
        pair: bool

    @property
    def signature(self) -> str:  # type: ignore[override]
        """The served signature that asks the model for its answer."""
        return "regress_pair" if self.pair else "regress"

    def constant_answers(self, references: Sequence[Any]) -> dict[str, list[Any]]:
        """Returns the mean for all records.

        Example:

        >>> Regression().constant_answers([1.0, 2.0])
        {'the mean 1.5': [1.5, 1.5]}
        """
        if not references:
            return {}
        mean = sum(map(float, references)) / len(references)
        return {f"the mean {mean:.4g}": [mean] * len(references)}

    def label_specs(self, sequences: Sequences) -> dict[str, Spec]:
        """Returns the names, dtypes and shapes of a row's labels: the numbers."""
        return {RECORD_LABELS: Spec("float32", (sequences.max_documents,))}


class Classification(ClassAnswers, _OfTexts):
    """Which of several classes a text has, or two texts together (Devlin et al. 2018, section 4.1).

    Raises:
        ValueError: if there is one class only, a class occurs twice, `positive` is not a class, or there are
            not as many shares as classes.
    """

    other_names: ClassVar[tuple[str, ...]] = (
        "natural-language-inference",
        "nli",
        "paraphrase-identification",
        "sentiment",
        "sentiment-analysis",
        "seq-cls",
        "sequence-classification",
        "text-classification",
        "text-classifier",
    )
    kind: Literal["classification"] = "classification"
    labels: tuple[str, ...] = ()
    """Names of the classes, in the order of their numbers. An empty list takes those that the training data
    have, sorted."""
    class_shares: ClassShares = None
    """Shares of the classes, in the order of their numbers, which the head answers with before the first step
    (Lin et al. 2017, "Focal Loss for Dense Object Detection", section 3.3); an empty list for equal ones,
    null for those of the labels to train on. From equal shares, the first steps would teach the head little
    but which classes are frequent."""
    scores: tuple[str, ...] = ("accuracy",)
    """Scores of the held-out records, keys of `firth.scores.SCORES`, the headline first."""
    positive: str = ""
    """The class that F1 is of; empty for the last one."""

    @pydantic.model_validator(mode="after")
    def _shares_are_of_classes(self) -> "Classification":
        checked_shares(self.class_shares, self.labels)
        return self

    @property
    def head_bias(self) -> tuple[float, ...] | float:  # type: ignore[override]
        """Biases that its heads start from: the logarithms of the classes' shares."""
        return bias_of_shares(self.class_shares)

    @property
    def loss_terms(self) -> tuple[Loss, ...]:  # type: ignore[override]
        """The cross entropy of the classes, and the auxiliary loss, if there is one."""
        return (Loss("label", "label", classes=max(len(self.labels), 2)), *self.auxiliary_losses)


def _are_fractions(names: Collection[str]) -> bool:
    return all(map(_is_number, names)) and any(float(name) % 1 for name in names)


def _is_number(name: str) -> bool:
    try:
        return math.isfinite(float(name))
    except ValueError:
        return False


class Regression(NumberAnswers, _OfTexts):
    """A number for a text, or for two (Devlin et al. 2018, section 4.1, STS-B), by the squared error."""

    other_names: ClassVar[tuple[str, ...]] = ("sentence-regression", "text-regression")
    kind: Literal["regression"] = "regression"
    mean: Annotated[float, pydantic.Field(allow_inf_nan=False)] | None = None
    """Number that the bias of the head starts from, where the form has one; null for the mean of the labels
    to train on. From 0, the first steps would teach the head little but where the labels lie."""
    scores: tuple[str, ...] = ("pearson", "spearman")
    """Scores of the held-out records, keys of `firth.scores.SCORES`, the headline first."""

    @property
    def head_bias(self) -> float:  # type: ignore[override]
        """Biases that its heads start from: the mean of the labels."""
        return self.mean or 0.0

    @property
    def loss_terms(self) -> tuple[Loss, ...]:  # type: ignore[override]
        """The squared error, and the auxiliary loss, if there is one."""
        return (Loss("value", "squared error", classes=1), *self.auxiliary_losses)
