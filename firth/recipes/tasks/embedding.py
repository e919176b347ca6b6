"""The task whose answer is a vector of a text: near to those of texts that belong to it."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, Literal

import pydantic

from firth.features import RECORD_LABELS, TEXT_KEYS, Spec
from firth.recipes.goals.goal import Loss
from firth.recipes.tasks.forms import AnyEncoderForm, BERTForm
from firth.recipes.tasks.task import Task
from firth.recipes.tokenizers.tokenizer import Sequences

Temperature = Annotated[float, pydantic.Field(gt=0.0, le=10.0)]
VectorScore = Literal["cosine_spearman", "retrieval_accuracy"]


class SentenceEmbedding(Task):
    """Vectors of sentences, learned from pairs of texts that belong together (Gao et al. 2021, equation 5).

    Of each pair, the second text has to differ by its cosine from the second texts of all other records of
    the batch, and from the `negative` texts of all, where there are some. Each text is a sequence of its own.
    A text that is the same as the right one, or that belongs to the same first text, is not a wrong answer.
    With several devices, or `training.gradient_accumulation_steps`, a text is compared with those of its own
    part of the batch, so that more parts leave fewer wrong answers. In evaluation a text is compared with
    those of its row alone, so that the loss does not depend on the batch; the scores are of all records of
    the split.
    """

    other_names: ClassVar[tuple[str, ...]] = (
        "contrastive",
        "feature-extraction",
        "embeddings",
        "retrieval",
        "semantic-search",
        "semantic-similarity",
        "semantic-textual-similarity",
        "sentence-embedding",
        "sentence-embeddings",
        "sentence-similarity",
        "sentence-transformers",
        "similarity",
        "sts",
        "text-embedding",
    )
    heads: ClassVar[str] = "contrastive"
    label_type: ClassVar[str] = "number"
    scored_as: ClassVar[tuple[str, ...]] = ("vectors",)
    takes_published_scores: ClassVar[bool] = False
    compares_examples: ClassVar[bool] = True
    served_poolings: ClassVar[Mapping[str, str]] = {"mean": "mean_with_special", "first": "first"}
    signature: ClassVar[str] = "embed"
    texts: ClassVar[int] = 1

    kind: Literal["embedding"] = "embedding"
    negatives: bool = False
    """True if a record has a third text, `negative`, that is like the first but does not belong to it."""
    temperature: Temperature = 0.05
    """Number that cosines are divided by."""
    form: AnyEncoderForm = BERTForm(pooling="mean")
    """Layout of a text, and pooling of its vector: the mean over its tokens, or the state of `[CLS]`
    itself."""
    positive_from: float | None = None
    """Least number of a label with which the texts of a record belong together; null for data without labels,
    all of whose records do."""
    scores: tuple[VectorScore, ...] = pydantic.Field(
        default_factory=lambda values: (
            "retrieval_accuracy" if values.get("positive_from") is None else "cosine_spearman",
        )
    )
    """Scores of the held-out records, the headline first. If not given, `cosine_spearman` where data have
    numbers, that of the cosine with the number, and `retrieval_accuracy` otherwise, the share of first texts
    whose second text is the nearest of the split."""

    @pydantic.model_validator(mode="after")
    def _vectors_are_served(self) -> "SentenceEmbedding":
        if self.form.pooling not in self.served_poolings:
            raise ValueError(f"form.pooling: `embed` does not give the vector {self.form.pooling}; take mean")
        return self

    @classmethod
    def pooling_for(cls, pooling: str) -> str:
        """Returns how it pools the texts of a model: as a sentence encoder that reads `[CLS]`, else the mean.

        Example:

        >>> SentenceEmbedding.pooling_for("first"), SentenceEmbedding.pooling_for("cls")
        ('first', 'mean')
        """
        return pooling if pooling == "first" else "mean"

    @classmethod
    def values_for_roles(cls, roles: frozenset[str]) -> dict[str, Any]:
        """Returns the values of a recipe that follow from the roles of its texts."""
        return {"negatives": True} if "negative" in roles else {}

    @property
    def unlabelled(self) -> float:  # type: ignore[override]
        """The label of the records of data without labels, whose texts belong together."""
        return 1.0 if self.positive_from is None else self.positive_from

    def label_problem(self, train: Collection[Any], evaluated: Collection[Any]) -> str:
        """Returns the problem with the labels of data as a whole; empty for none."""
        least, numbers = self.positive_from, {*train, *evaluated} - {None}
        if least is None:
            said = "say from which number on two texts belong together, or leave them out: data.label: null"
            return f"task.positive_from: the data have numbers; {said}" if numbers else ""
        if not numbers:
            return "task.positive_from: the data have no labels; name their column in data.label"
        if all(label is not None and label < least for label in train):
            return f"task.positive_from: no number to train on is {least} or above"
        return ""

    def score_options(self, name: str) -> dict[str, Any]:
        """Returns the options of a score: of `retrieval_accuracy`, which records it asks about."""
        asks = name == "retrieval_accuracy" and self.positive_from is not None
        return {"positive_from": self.positive_from} if asks else {}

    @property
    def roles(self) -> tuple[str, ...]:  # type: ignore[override]
        """The roles of the texts of a record."""
        return ("text", "pair", "negative") if self.negatives else ("text", "pair")

    @property
    def reads_windows(self) -> bool:  # type: ignore[override]
        """True if `export.long_texts` may be `windows`, which is so of the means of `embed`."""
        return self.form.pooling == "mean"

    @property
    def asked_roles(self) -> tuple[tuple[str, ...], ...]:
        """Each text of a record by itself."""
        return tuple((role,) for role in self.roles)

    @property
    def loss_terms(self) -> tuple[Loss, ...]:  # type: ignore[override]
        """The cross entropy of the right text among those of the batch."""
        return (Loss("contrastive", "contrastive", classes=2, varies=True),)

    @property
    def documents_of_record(self) -> int:  # type: ignore[override]
        """The number of documents of a record: one for each of its texts."""
        return len(self.roles)

    def label_specs(self, sequences: Sequences) -> dict[str, Spec]:
        """Returns the names, dtypes and shapes of a row's labels.

        record_labels: float32 [max_documents], the number of each record.
        text_keys: int32 [documents], a hash of each text's tokens.
        """
        return {
            RECORD_LABELS: Spec("float32", (sequences.max_documents,)),
            TEXT_KEYS: Spec("int32", (self.documents(sequences),)),
        }
