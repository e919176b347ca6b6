"""The task whose answer is a tag of each word: entities, chunks, parts of speech."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, ClassVar, Literal

import pydantic

from firth.features import RECORD_WORDS, TOKEN_LABELS, WORD_LABELS, Spec
from firth.recipes.base.tag_schemes import OUTSIDE, is_scheme_of_labels, tag_scheme
from firth.recipes.goals.goal import Loss
from firth.recipes.tasks.classification import ClassShares, Rate, bias_of_shares, checked_shares
from firth.recipes.tasks.forms import AnyForm, BERTForm
from firth.recipes.tasks.task import Task, most_frequent, title_of
from firth.recipes.tokenizers.tokenizer import Sequences

# Most words of a record, for each of the tokens that it takes in a row. Words that were cut off count too.
WORDS_A_TOKEN = 4


class Tagging(Task):
    """Which tag each word of a sentence has (Devlin et al. 2018, section 5.3).

    The first piece of a word carries its tag. A sentence that is longer than a row is read in windows that
    share a quarter, and each word has the tag of the window that holds most of what is around it. A word that
    the model does not see, since it has no pieces, counts as tagged `O`.
    """

    other_names: ClassVar[tuple[str, ...]] = (
        "chunking",
        "named-entity-recognition",
        "ner",
        "part-of-speech",
        "pos",
        "pos-tagging",
        "sequence-labeling",
        "sequence-labelling",
        "sequence-tagging",
        "token-classification",
        "token-cls",
    )
    heads: ClassVar[str] = "tokens"
    label_type: ClassVar[str] = "tags"
    scored_as: ClassVar[tuple[str, ...]] = ("tags",)
    label_column: ClassVar[str] = "tags"
    roles: ClassVar[tuple[str, ...]] = ("words",)
    """The role of the one text of a record, a list of words."""
    signature: ClassVar[str] = "tag_words"
    """The served signature that asks the model for its answer to words."""

    kind: Literal["tagging"] = "tagging"
    labels: tuple[str, ...] = ()
    """The tags, in the order of their numbers. An empty list takes those that the training data have: `O`
    first, then the others, sorted."""
    scores: tuple[str, ...] = pydantic.Field(
        default_factory=lambda values: _scores_of(values.get("labels", ()))
    )
    """Scores of the held-out sentences, keys of `firth.scores.SCORES`, the headline first. If not given,
    `entity_f1` for tags of a scheme, such as `B-PER`, `PER-B` or `B` alone in IOB1, IOB2, BIOES or BILOU, and
    `tag_accuracy` for others."""
    form: AnyForm = BERTForm()
    """Layout of a sentence; its pooling is not read. A decoder tags a word by its first piece and the text
    before it."""
    dropout: Rate = 0.1
    """Rate of dropout on what the head reads."""
    class_shares: ClassShares = None
    """Shares of the tags, in the order of their numbers, which the head answers with before the first step
    (Lin et al. 2017, "Focal Loss for Dense Object Detection", section 3.3); an empty list for equal ones,
    null for those of the labels to train on. From equal shares, the first steps would teach the head little
    but which tags are frequent."""

    @pydantic.model_validator(mode="after")
    def _labels_are_tags(self) -> "Tagging":
        if len(self.labels) == 1:
            raise ValueError(f"labels: there is only one tag, {self.labels[0]!r}; two or more are needed")
        if len(set(self.labels)) < len(self.labels):
            raise ValueError("labels: a tag occurs twice")
        of_entities = [name for name in self.scores if name.startswith("entity_f1")]
        if of_entities and not is_scheme_of_labels(self.labels):
            raise ValueError(f"scores: {of_entities[0]} is of tags such as B-PER; take tag_accuracy")
        checked_shares(self.class_shares, self.labels)
        return self

    @property
    def head_bias(self) -> tuple[float, ...] | float:  # type: ignore[override]
        """Biases that its heads start from: the logarithms of the tags' shares."""
        return bias_of_shares(self.class_shares)

    @property
    def loss_terms(self) -> tuple[Loss, ...]:  # type: ignore[override]
        """The cross entropy of the tags of first pieces."""
        return (Loss("tag", "tag", classes=max(len(self.labels), 2)),)

    def constant_answers(self, references: Sequence[Any]) -> dict[str, list[Any]]:
        """Returns `O`, where it is one of the tags, and the most frequent tag, each for all words."""
        outside = [OUTSIDE] if OUTSIDE in self.labels else []
        tags = dict.fromkeys([*outside, *most_frequent([tag for each in references for tag in each])])
        return {title_of(tag): [(tag,) * len(each) for each in references] for tag in tags}

    def describe_labels(self, labels: Iterable[Any]) -> str:
        """Returns the scheme of the tags of data, in words, with the score that follows from it.

        Example:

        >>> Tagging().describe_labels([("I-PER", "I-PER", "O")])
        'tags: IOB1, as B-PER; types PER'
        >>> Tagging().describe_labels([("NOUN", "VERB")])
        'tags: 2 of no scheme of entities, each word by itself'
        """
        sentences = [tuple(map(str, tags)) for tags in labels]
        known = {tag for tags in sentences for tag in tags}
        scheme = tag_scheme(known, sentences) if is_scheme_of_labels(known) else None
        said = (
            f"{len(known)} of no scheme of entities, each word by itself" if scheme is None else scheme.text
        )
        return f"tags: {said}"

    def label_problem(self, train: Collection[Any], evaluated: Collection[Any]) -> str:
        """Returns the problem with the tags of data as a whole; empty for none."""
        strict = [name for name in self.scores if name.endswith("_strict")]
        sentences = [tuple(map(str, tags)) for tags in train if tags is not None]
        scheme = tag_scheme({tag for tags in sentences for tag in tags}, sentences)
        if strict and scheme is not None and scheme.name == "IOB1":
            return f"task.scores: {strict[0]} reads IOB2, and the tags are of IOB1; take entity_f1"
        return ""

    def in_order(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Returns the tags that data have in the order of their numbers: `O` first.

        Example:

        >>> Tagging().in_order({"I-PER", "O", "B-PER"})
        ('O', 'B-PER', 'I-PER')
        """
        return tuple(sorted(labels, key=lambda name: (name != OUTSIDE, name)))

    def label_specs(self, sequences: Sequences) -> dict[str, Spec]:
        """Returns the names, dtypes and shapes of a row's labels.

        token_labels: int32 [raw_length], of the first piece of each word its tag's number and 1, else 0;
            negative for a word that another window of the sentence answers for.
        word_labels: int32 [words], of each word of all records its tag's number and 1, negative if the row
            holds no piece of it; zeros after.
        record_words: int32 [max_documents], the number of words of each record.
        """
        return {
            TOKEN_LABELS: Spec("int32", (sequences.length - self.special_tokens,)),
            WORD_LABELS: Spec("int32", (WORDS_A_TOKEN * sequences.length,)),
            RECORD_WORDS: Spec("int32", (sequences.max_documents,)),
        }


def _scores_of(labels: Iterable[str]) -> tuple[str, ...]:
    return ("entity_f1",) if is_scheme_of_labels(labels) else ("tag_accuracy",)
