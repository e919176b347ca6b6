"""Tasks whose answer is a text that the model writes, or that it finds probable."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import pydantic

from firth.features import RECORD_LABELS, Spec
from firth.recipes.goals.goal import TextFrame
from firth.recipes.tasks.classification import ClassAnswers, NumberAnswers
from firth.recipes.tasks.forms import AnyTextForm, T5Form
from firth.recipes.tasks.schema_scores import SchemaScored
from firth.recipes.tasks.task import Task, most_frequent, title_of
from firth.recipes.tokenizers.tokenizer import Sequences

# The score that has a tokenizer, and its tokenizers.
BLEU = "bleu"
BleuTokenizer = Literal[
    "", "13a", "intl", "zh", "char", "none", "ja-mecab", "ko-mecab", "flores101", "flores200"
]
# Digits and spaces of ASCII alone, as the served model reads them.
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)", re.ASCII)
_SPACES = " \t\n\v\f\r"
Count = Annotated[int, pydantic.Field(ge=1)]


class WritingTask(Task):
    """The base of the tasks in which a model reads a text and writes another: string to string.

    A record is two chunks of a row: the input, with all prefixes of its texts, and the
    target.
    """

    heads: ClassVar[str] = "language_model"
    text_end: ClassVar[str] = "sep"
    answers_in_texts: ClassVar[bool] = False
    """True if a copy of what is read is an answer of the kind that is asked for."""
    # What its answers come from, a key of `firth.serving.task_signatures.row_answers.ROW_ANSWERS`.
    answered_by: ClassVar[str] = "writing"
    # The input and the target.
    texts: ClassVar[int] = 2

    pair: bool = False
    """True if a record has two texts."""
    prefix: str = ""
    """Text in front of the first text, which says what to do, such as `summarize: ` or `sst2 sentence: `."""
    pair_prefix: str = ""
    """Text in front of the second text, after a space, such as `sentence2: `."""
    target_tokens: Count = 64
    """Most tokens of a target, with its special ones. One stack keeps so much of its row free for it, since a
    served text must be cut as one in training is."""
    decoder_length: Count | None = None
    """Tokens of the row of a decoder next to an encoder; null for as many as of the encoder's. Where targets
    are shorter than inputs, a shorter one saves time."""
    form: AnyTextForm = T5Form()
    """Layout of texts."""

    @property
    def roles(self) -> tuple[str, ...]:  # type: ignore[override]
        """The roles of the texts of a record."""
        return ("text", "pair") if self.pair else ("text",)

    def text_of(self, label: Any) -> str:
        """Returns the text to write for a label."""
        raise NotImplementedError

    def texts_of(self, label: Any) -> str | tuple[str, ...]:
        """Returns the text to write for a label, or the several right ones."""
        return self.text_of(label)

    def answer_of_text(self, text: Any) -> Any:
        """Returns the answer in a text, as scores take it: here the text itself."""
        return text

    @property
    def decoder_start(self) -> tuple[str, ...]:  # type: ignore[override]
        """As its form says."""
        return self.form.target_start

    @property
    def text_frame(self) -> TextFrame:
        """The special tokens around an input."""
        return TextFrame(self.form.before, self.form.after)

    @property
    def input_specials(self) -> int:
        """Special tokens of an input."""
        return len(self.form.before) + len(self.form.after)

    @property
    def target_specials(self) -> int:
        """Special tokens of a target."""
        return len(self.form.target_before) + len(self.form.target_after)

    @property
    def special_tokens(self) -> int:
        """Special tokens that are added to each record of a row."""
        return self.input_specials + self.target_specials

    def target_length(self, sequences: Sequences) -> int:
        """Returns the tokens of a row of a decoder next to an encoder; 0 for one stack."""
        return (self.decoder_length or sequences.length) if self.form.has_own_decoder else 0

    def raw_length(self, sequences: Sequences) -> int:
        """Returns the most raw tokens of a row, of inputs and targets together."""
        return sequences.length + self.target_length(sequences) - self.special_tokens

    def input_room(self, sequences: Sequences) -> int:
        """Returns the most raw tokens of an input."""
        taken = 0 if self.form.has_own_decoder else self.target_tokens
        return sequences.length - self.input_specials - taken

    def target_room(self, sequences: Sequences) -> int:
        """Returns the most raw tokens of a target."""
        most = self.target_length(sequences) or sequences.length
        return min(self.target_tokens, most) - self.target_specials

    def targets_of(self, texts: Mapping[str, Any], label: Any) -> Sequence[str]:
        """Returns the text to write for a label."""
        return (self.text_of(label),)

    def most_written(self, sequences: Sequences) -> tuple[int, str]:
        """Returns the most raw tokens of a target, and the key that says it."""
        return self.target_room(sequences), "task.target_tokens"

    def sample_chunks(self, tokens: int, sequences: Sequences) -> tuple[int, ...]:
        """Returns the lengths of an input and a target that the first and the second half of a text make."""
        half = max(tokens // 2, 1)
        return min(half, self.input_room(sequences)), min(half, self.target_room(sequences))

    def place_in_row(self, chunks: tuple[int, ...], sequences: Sequences) -> int:
        """Returns the tokens of a row of `sequences.length` that a record takes.

        Next to an encoder a record takes the greater of its shares of the two rows, so that both hold all.
        """
        inputs, targets = chunks[0] + self.input_specials, chunks[1] + self.target_specials
        length = self.target_length(sequences)
        if not length:
            return inputs + targets
        return max(inputs, -(-targets * sequences.length // length))

    @property
    def prompt_prefix(self) -> str:  # type: ignore[override]
        """The text in front of each text, as the recipe says it."""
        return self.prefix

    def prompt_places(self, sequences: Sequences) -> int:
        """Returns the most tokens of an input, special ones included."""
        return self.input_room(sequences) + self.input_specials

    def written_places(self, sequences: Sequences, prompt: int) -> int:
        """Returns the most tokens of a target, the end included."""
        return self.target_room(sequences) + len(self.form.target_after)

    def answer_places(self, sequences: Sequences) -> tuple[int, str]:
        """Returns the most tokens of a target, the end included, and the key that says it."""
        return self.written_places(sequences, 0), "task.target_tokens"

    def lengths_conflict(self, sequences: Sequences) -> str:
        """Returns the problem with the lengths of rows; empty for none."""
        if self.input_room(sequences) < 1 or self.target_room(sequences) < 1:
            return (
                f"task.target_tokens: {self.target_tokens} with sequences.length: {sequences.length} leaves "
                "no room for text"
            )
        return ""

    def label_specs(self, sequences: Sequences) -> dict[str, Spec]:
        """Returns nothing: the targets are chunks of the row."""
        return {}


class TextToText(SchemaScored, WritingTask):
    """Write a text from another: summarise, translate, answer (Raffel et al. 2019, section 2.4)."""

    label_type: ClassVar[str] = "text"
    label_recurs: ClassVar[bool] = False
    answers_in_texts: ClassVar[bool] = True
    scored_as: ClassVar[tuple[str, ...]] = ("texts", "written texts", "constrained texts")
    signature: ClassVar[str] = "generate"

    other_names: ClassVar[tuple[str, ...]] = (
        "seq-2-seq-lm",
        "seq2seq",
        "seq2seq-lm",
        "sequence-to-sequence",
        "summarisation",
        "summarization",
        "text2text",
        "text2text-generation",
        "translation",
    )
    kind: Literal["text_to_text"] = "text_to_text"
    scores: tuple[str, ...] = ("rouge_l", "exact_match")
    """Scores of the held-out records, keys of `firth.scores.SCORES`, the headline first."""
    bleu_tokenizer: BleuTokenizer = ""
    """Tokenizer of sacrebleu for the score `bleu`. Empty for the one that fits the script of the targets:
    `13a`, `zh` for Chinese, and `char` for other scripts without spaces between words. `ja-mecab` and
    `ko-mecab` need packages, `flores101` and `flores200` a model that sacrebleu has downloaded."""

    def score_options(self, name: str) -> dict[str, Any]:
        """Returns the options of a score: of BLEU its tokenizer, if it is known, of validity the schema."""
        options = {BLEU: {"tokenize": self.bleu_tokenizer} if self.bleu_tokenizer else {}}
        return options.get(name, super().score_options(name))

    def text_of(self, label: Any) -> str:
        """Returns the first right text."""
        return label if isinstance(label, str) else str(label[0])

    def texts_of(self, label: Any) -> str | tuple[str, ...]:
        """Returns the right text, or the several right ones."""
        return label if isinstance(label, str) else tuple(map(str, label))

    def constant_answers(self, references: Sequence[Any]) -> dict[str, list[Any]]:
        """Returns the text that is right most often, for all records, if it is right more than once."""
        texts = [self.text_of(each) for each in references]
        recurring = [text for text in most_frequent(texts) if texts.count(text) > 1]
        return {title_of(text): [text] * len(references) for text in recurring}


class LabelWords(ClassAnswers, WritingTask):
    """Which of several classes a text has, by the words of its label, for any model that writes text.

    It is trained to write the words. Its answer is the class whose words are the most probable after the
    text, so that it is always one of the classes (Brown et al. 2020, section 2.4); probabilities are those of
    the words, each with its end, divided by their sum.
    """

    label_type: ClassVar[str] = "class"
    answered_by: ClassVar[str] = "label_words"

    kind: Literal["label_words"] = "label_words"
    labels: tuple[str, ...] = ()
    """Names of the classes, in the order of their numbers. An empty list takes those that the training data
    have, sorted."""
    words: tuple[str, ...] = ()
    """Text to write for each class, in the order of `labels`; empty for their names."""
    scores: tuple[str, ...] = ("accuracy",)
    """Scores of the held-out records, keys of `firth.scores.SCORES`, the headline first."""
    positive: str = ""
    """The class that F1 is of; empty for the last one."""
    target_tokens: Count = 16
    """Most tokens of a label's words, with special ones."""

    @pydantic.model_validator(mode="after")
    def _words_are_of_classes(self) -> "LabelWords":
        if self.words and self.labels and len(self.words) != len(self.labels):
            raise ValueError(f"words: {len(self.words)} texts for {len(self.labels)} labels")
        if len(set(self.words)) < len(self.words):
            raise ValueError("words: two classes have the same text")
        return self

    def text_of(self, label: Any) -> str:
        """Returns the words of a class."""
        return self.label_texts[self.labels.index(str(label))]

    def answer_of_text(self, text: str) -> str:
        """Returns the class whose words a text is; empty if the text is not the words of a class.

        Example:

        >>> task = LabelWords(labels=("0", "1"), words=("no", "yes"))
        >>> task.answer_of_text(" yes"), task.answer_of_text("yes no")
        ('1', '')
        """
        classes = dict(zip(self.label_texts, self.labels, strict=True))
        return classes.get(text.strip(), "")

    @property
    def label_texts(self) -> tuple[str, ...]:
        """The text to write for each class."""
        return self.words or self.labels

    def label_specs(self, sequences: Sequences) -> dict[str, Spec]:
        """Returns the names, dtypes and shapes of a row's labels: the numbers of the classes."""
        return {RECORD_LABELS: Spec("int32", (sequences.max_documents,))}


class WrittenNumber(NumberAnswers, WritingTask):
    """A number for a text, or for two, that is written as text (Raffel et al. 2019, section 2.4, STS-B)."""

    kind: Literal["written_number"] = "written_number"
    step: float = pydantic.Field(default=0.2, gt=0.0)
    """Number whose multiples are written: 2.57 as `2.6`."""
    unreadable: float = -1.0
    """Number that a text counts as which is not a number, as in the released code."""
    scores: tuple[str, ...] = ("pearson", "spearman")
    """Scores of the held-out records, keys of `firth.scores.SCORES`, the headline first."""
    target_tokens: Count = 16
    """Most tokens of a number, with special ones."""

    def text_of(self, label: Any) -> str:
        """Returns a number as it is written, rounded to `step`.

        Example:

        >>> [WrittenNumber().text_of(number) for number in (2.57, 3.0, 0.1)]
        ['2.6', '3.0', '0.0']
        """
        decimals = len(f"{self.step:g}".partition(".")[2])
        return f"{round(float(label) / self.step) * self.step:.{decimals}f}"

    def answer_of_text(self, text: str) -> float:
        """Returns the number that a text is; `unreadable` if the text is not a number.

        Example:

        >>> WrittenNumber().answer_of_text(" 2.6"), WrittenNumber().answer_of_text("2.6.")
        (2.6, -1.0)
        """
        stripped = text.strip(_SPACES)
        return float(stripped) if _NUMBER.fullmatch(stripped) else self.unreadable
