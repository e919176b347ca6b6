"""Dialogues whose replies a model learns to write, and instructions with what is to be answered."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from firth.features import REPLY_TOKENS, Spec
from firth.recipes.tasks.forms import Form
from firth.recipes.tasks.schema_scores import SchemaScored
from firth.recipes.tasks.text_to_text import Count
from firth.recipes.tokenizers.chat_template import TEMPLATES, ChatTemplate, TemplateName
from firth.recipes.tokenizers.tokenizer import Sequences


class TurnsForm(Form):
    """One stack reads all turns one after another, as the task's template writes them.

    The turns before the first reply are a prefix, whose tokens see one another if the base's model was made
    for it.
    """

    before: ClassVar[tuple[str, ...]] = ()
    between: ClassVar[tuple[str, ...]] = ()
    after: ClassVar[tuple[str, ...]] = ()
    architectures: ClassVar[tuple[str, ...]] = ("decoder",)

    kind: Literal["turns"] = "turns"


class Dialogue(SchemaScored):
    """Answer the turns of a dialogue: instruction tuning, and dialogues of several turns.

    Only what a model writes itself is learned, each reply with its end (Touvron et al. 2023, "Llama 2",
    section 3.1). It is scored by the probability of the pieces of held-out replies, by the loss on them, as a
    perplexity, and by the share of their tokens that are the likeliest ones. A dialogue that is longer than a
    row loses its oldest turns, each reply with what it answers, and keeps its system message.
    """

    other_names: ClassVar[tuple[str, ...]] = (
        "chat",
        "conversational",
        "dialog",
        "instruction-tuning",
        "sft",
        "supervised-fine-tuning",
    )
    heads: ClassVar[str] = "language_model"
    label_type: ClassVar[str] = "turns"
    label_recurs: ClassVar[bool] = False
    answered_by: ClassVar[str] = "replies"
    text_end: ClassVar[str] = "sep"
    prompted_with: ClassVar[str] = "turns"
    decoder_start: ClassVar[tuple[str, ...]] = ()
    row_length: ClassVar[int] = 512
    record_length: ClassVar[int] = 16
    scored_as: ClassVar[tuple[str, ...]] = ("reply pieces", "written texts", "constrained texts")
    takes_published_scores: ClassVar[bool] = False
    roles: ClassVar[tuple[str, ...]] = ("messages",)
    signature: ClassVar[str] = "reply"
    unlabelled: ClassVar[float] = 0.0
    """No record needs a label: those without a column of replies have them among their messages."""
    texts: ClassVar[int] = 1
    scored_by: ClassVar[str] = "score_replies"
    written_by: ClassVar[str] = "reply_turns"

    kind: Literal["dialogue"] = "dialogue"
    template: TemplateName | ChatTemplate | None = None
    """Frame of each turn: the name of a template, or one of your own. Null takes that of the base's
    tokenizer, or `plain` where it has none. It is kept with the tokenizer of the bundle."""
    replies: Literal["all", "last"] = "all"
    """Which replies are learned: those of `all` turns, or the `last` one."""
    reply_tokens: Count = 64
    """Most tokens of a reply that is written when the model is asked, with its end. So much of a row is free
    after what is asked."""
    scores: tuple[str, ...] = ("reply_probability",)
    """Scores of held-out replies. `reply_probability` is the geometric mean of the probabilities of their
    pieces, each after all before it, without special ones such as the end. It needs no reply to be written.
    Empty for the loss alone. Scores by a `schema` are of the last reply of each dialogue."""
    form: TurnsForm = TurnsForm()
    """Layout of turns."""

    def template_with(self, own: Any) -> ChatTemplate:
        """Returns the template that its tokenizer is kept with."""
        if isinstance(self.template, ChatTemplate):
            return self.template
        return TEMPLATES[self.template] if self.template is not None else own or TEMPLATES["plain"]

    def targets_of(self, texts: Mapping[str, Any], label: Any) -> Sequence[str]:
        """Returns the replies that are learned of a dialogue."""
        said = zip(label, texts[self.roles[0]], strict=True)
        replies = tuple(text for speaker, text in said if speaker == "assistant")
        return replies if self.replies == "all" else replies[-1:]

    def most_written(self, sequences: Sequences) -> tuple[int, str]:
        """Returns the most tokens of a reply that is learned, and the key that says it."""
        return sequences.length, "sequences.length"

    def answer_places(self, sequences: Sequences) -> tuple[int, str]:
        """Returns the most tokens of a reply that is written, its end included, and the key that says it."""
        return self.reply_tokens, "task.reply_tokens"

    def constant_answers(self, references: Sequence[Any]) -> dict[str, list[Any]]:
        """Returns the log probabilities of replies by the frequencies of pieces in the training split."""
        return {"pieces by their frequency": [each.by_frequency for each in references]}

    @property
    def constant_bounds(self) -> dict[str, tuple[float | None, float | None]]:  # type: ignore[override]
        """The bound of a model that writes replies better than by the frequencies of pieces alone."""
        return super().constant_bounds if self.scores else {"perplexity_over_unigram": (None, 1.0)}

    @property
    def headline_metrics(self) -> tuple[str, ...]:
        """The names of its score, and of the metrics of its loss."""
        return (*self.score_names, *self.loss_terms[0].metric_names)

    def prompt_places(self, sequences: Sequences) -> int:
        """Returns the most tokens of a dialogue that is to be answered, with all that the template says."""
        return sequences.length - self.reply_tokens

    def sample_chunks(self, tokens: int, sequences: Sequences) -> tuple[int, ...]:
        """Returns the lengths of a text's chunks in a row, for a sample without a label."""
        return (min(tokens, sequences.length),)

    def label_specs(self, sequences: Sequences) -> dict[str, Spec]:
        """Returns the names, dtypes and shapes of a row's labels.

        reply_tokens: int32 [length], 1 on each token that is learned, 0 on what is given.
        """
        return {REPLY_TOKENS: Spec("int32", (sequences.length,))}

    def lengths_conflict(self, sequences: Sequences) -> str:
        """Returns the problem with the lengths of rows; empty for none."""
        if self.reply_tokens >= sequences.length:
            return (
                f"task.reply_tokens: {self.reply_tokens} with sequences.length: {sequences.length} leaves no "
                f"room for what is asked; give fewer, such as {max(sequences.length // 4, 1)}"
            )
        return ""
