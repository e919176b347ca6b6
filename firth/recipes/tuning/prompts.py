"""Methods that put something that is trained before the tokens: keys and values, or vectors."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

import pydantic

from firth.recipes.base.recipe_type import MAX_SIZE
from firth.recipes.tuning.method import Method

Length = Annotated[int, pydantic.Field(ge=1, le=4096)]
Width = Annotated[int, pydantic.Field(ge=1, le=MAX_SIZE)]


class PromptMethod(Method):
    """A method that trains something before the tokens, and the task's head; the backbone stays as it is.

    It is saved alone, and stays next to the weights in the model that is saved and served.
    """

    adds: ClassVar[bool] = True
    starts_as_base: ClassVar[bool] = False

    length: Length
    """Number of virtual tokens."""

    def virtual_tokens(self, model: Any) -> int:
        """Returns the number of positions that it adds before each text of the encoder or decoder."""
        return self.length

    @classmethod
    def positions_of(cls, said: Any) -> int:
        """Returns the most positions that a method takes before a text, which may not be checked yet."""
        length = said.get("length") if isinstance(said, dict) else None
        return length if isinstance(length, int) else cls.model_fields["length"].default

    def conflicts(self, model: Any) -> Iterator[str]:
        """Yields a line if the model is not a transformer over one stream of tokens."""
        if not model.takes_virtual_tokens:
            yield (
                f"method.kind: {self.kind} puts virtual tokens before a text, which model.kind: {model.kind} "
                "does not take; lora, loha and ia3 adapt it"
            )


class PrefixMethod(PromptMethod):
    """A method that trains keys and values which every token of each layer may attend to."""

    hidden_width: ClassVar[int] = 0
    """Width between the layers of a network that makes the keys and values in training; 0 without one."""

    length: Length = 20
    """Number of keys and values of a layer."""
    encoder: bool = True
    """True if the encoder of a model with a decoder has prefixes too, next to the decoder's self-attention.
    Attention from decoder to encoder has no prefix."""

    def virtual_tokens(self, model: Any) -> int:
        """Returns `length`, or 0 for an encoder that has no prefix."""
        is_left = model.has_decoder and not (self.encoder or model.share_encoder_decoder)
        return 0 if is_left else self.length

    def decoder_virtual_tokens(self, model: Any) -> int:
        """Returns `length`, or 0 without a decoder next to an encoder."""
        return self.length if model.has_decoder else 0

    def conflicts(self, model: Any) -> Iterator[str]:
        """Yields a line if the model's attention takes no prefix."""
        yield from super().conflicts(model)
        if model.takes_virtual_tokens and not model.takes_prefixes:
            yield (
                f"method.kind: {self.kind} trains keys without positions, but with positions.kind: "
                "disentangled every key has one; prompt_tuning and p_tuning have virtual tokens instead"
            )


class PrefixTuning(PrefixMethod):
    """Keys and values before those of the tokens of each layer are made by a small network, which is trained.

    Li and Liang 2021, "Prefix-Tuning: Optimizing Continuous Prompts for Generation", section 4. After
    training the network is dropped, and its keys and values are kept. Layers that share their weights share
    their prefix. Even a prefix of zeros is attended to, so that the model does not start as its base.
    Defaults are the paper's of table-to-text (section 7.2 and appendix A).
    """

    # At the 1e-2 of peft's examples a small GPT stayed at chance in most seeds, see
    # benchmarks/figures/methods.json; the paper's 5e-5 is that of a GPT-2 of 345M parameters.
    learning_rate: ClassVar[float | None] = 1e-3

    kind: Literal["prefix_tuning"] = "prefix_tuning"
    length: Length = 10
    """Number of keys and values of a layer; the paper has 10 for table-to-text and 200 for summarisation."""
    reparameterised: bool = True
    """True if a network makes the keys and values from smaller vectors in training; otherwise they are
    trained themselves, which the paper finds unstable (section 4.3)."""
    hidden: Width = 512
    """Width of the hidden layer of the network."""

    @property
    def hidden_width(self) -> int:  # type: ignore[override]
        """Its `hidden`, or 0 where keys and values are trained themselves."""
        return self.hidden if self.reparameterised else 0

    @property
    def kept(self) -> "PrefixTuning":
        """The method without the network, which is dropped after training."""
        return self.model_copy(update={"reparameterised": False})


class PTuningV2(PrefixMethod):
    """Keys and values before those of the tokens of each layer are trained themselves.

    Liu et al. 2022, "P-Tuning v2: Prompt Tuning Can Be Comparable to Fine-tuning Universally Across Scales
    and Tasks", section 3.2. Even a prefix of zeros is attended to, so that the model does not start as its
    base. Layers that share their weights share their prefix.
    """

    # A middle one of those that the authors' scripts choose from.
    learning_rate: ClassVar[float | None] = 5e-3

    kind: Literal["p_tuning_v2"] = "p_tuning_v2"
    length: Length = 20
    """Number of keys and values of a layer. The paper finds up to 20 enough for simple classification, and
    about 100 for hard sequence labelling."""


class InputPromptMethod(PromptMethod):
    """A method that trains vectors before the embedded tokens of each text.

    A row holds one text then, for in an encoder a virtual token reads the text after it.
    """

    one_text_in_a_row: ClassVar[bool] = True
    encoded_by: ClassVar[str | None] = None
    """Kind of the network that makes the vectors in training; None without one."""

    length: Length = 20
    """Number of vectors."""

    def hidden_for(self, width: int) -> int:
        """Returns the width of the hidden layers of that network."""
        return width

    @staticmethod
    def _is_after_padding(model: Any) -> bool:
        return model.takes_virtual_tokens and not model.has_encoder and model.positions.counted_in_rows

    def conflicts(self, model: Any) -> Iterator[str]:
        """Yields a line if the model is not a transformer, or counts distances over padding."""
        yield from super().conflicts(model)
        if self._is_after_padding(model):
            yield (
                f"method.kind: {self.kind}: a decoder alone with positions.kind: {model.positions.kind} "
                "writes after padding, which would stand between the virtual tokens and the text; "
                "prefix_tuning adapts it"
            )


class PromptTuning(InputPromptMethod):
    """Vectors before the embedded tokens of each text are trained; of an encoder-decoder, the encoder's.

    Lester et al. 2021, "The Power of Scale for Parameter-Efficient Prompt Tuning", section 2. The paper's
    prompts have 100 vectors, of which more than 20 bring little (section 3.2), and take positions from texts:
    20 are the default here, as in peft's examples.
    """

    # AdamW's, as in peft's examples: the paper's 0.3 is of an Adafactor without scaling by the weights.
    learning_rate: ClassVar[float | None] = 3e-2

    kind: Literal["prompt_tuning"] = "prompt_tuning"
    start: Literal["vocabulary", "text", "random"] = "vocabulary"
    """Start of the vectors (section 3.2): `vocabulary`, embeddings of pieces that are drawn from the first
    5,000 of the vocabulary; `text`, those of the tokens of `text`; `random`, uniform numbers from -0.5 to
    0.5."""
    text: str = ""
    """Text to start from, such as the task in words or the words of its labels; repeated or cut to the
    length."""

    @pydantic.model_validator(mode="after")
    def _text_is_said_where_it_is_read(self) -> "PromptTuning":
        if (self.start == "text") != bool(self.text.strip()):
            raise ValueError("text is said with start: text, and with no other start")
        return self


class PTuning(InputPromptMethod):
    """Vectors before the embedded tokens of each text are made by a small network, which is trained.

    Liu et al. 2021, "GPT Understands, Too", section 2.2. After training the network is dropped, and its
    vectors are kept.
    """

    # As in peft's examples.
    learning_rate: ClassVar[float | None] = 1e-3
    start: ClassVar[str] = "random"
    """Start of vectors without a network."""

    kind: Literal["p_tuning"] = "p_tuning"
    encoder: Literal["lstm", "mlp", "none"] = "lstm"
    """The network: `lstm`, two bidirectional LSTMs and two dense layers, as in the paper; `mlp`, three dense
    layers, as peft recommends; `none`, the vectors themselves."""
    hidden: Width | None = None
    """Width of its hidden layers; null for that of the token embeddings."""

    @property
    def encoded_by(self) -> str | None:  # type: ignore[override]
        """Its `encoder`, or None."""
        return None if self.encoder == "none" else self.encoder

    def hidden_for(self, width: int) -> int:
        """Returns `hidden`, or the width."""
        return self.hidden or width

    @property
    def kept(self) -> "PTuning":
        """The method without the network, which is dropped after training."""
        return self.model_copy(update={"encoder": "none"})


class MultitaskPromptTuning(InputPromptMethod):
    """A prompt that several tasks share is multiplied, number by number, by a small product for each task.

    Wang et al. 2023, "Multitask Prompt Tuning Enables Parameter-Efficient Transfer Learning", section 3.1. A
    run over a mixture of tasks (`task.kind: text_tasks`) trains one prompt and a pair of small matrices for
    each task; a run for one task starts from what it saved. The paper's teachers, one for each task, are left
    out, as in peft. Its prompts have 100 vectors; the default is that of `prompt_tuning`.
    """

    takes_source: ClassVar[bool] = True
    # That of `prompt_tuning`; the paper's 0.3 is of the same Adafactor.
    learning_rate: ClassVar[float | None] = 3e-2

    kind: Literal["multitask_prompt_tuning"] = "multitask_prompt_tuning"
    rank: Width = 1
    """Rank of a task's product."""
    tasks: Annotated[int, pydantic.Field(ge=1, le=4096)] = 1
    """Number of tasks, those of `task.tasks` in their order; 1 for a run for one task. A recipe file that
    does not say it has as many as its task."""
    start: Literal["vocabulary", "text", "random"] = "random"
    """Start of the shared prompt, as of `prompt_tuning`; with a `source`, from that."""
    text: str = ""
    """Text to start from."""
    source: str = ""
    """Folder `adapter` that a run with this method and the same base has written; empty for none. A recipe
    file may say the run's name below the root of runs, or a path."""
    source_digest: Annotated[str, pydantic.Field(pattern=r"^([0-9a-f]{64})?$")] = ""
    """SHA-256 over that folder's files, in hex, which is written out when the recipe is read; empty without a
    source."""
    from_source: Literal["average", "exact", "shared"] = "average"
    """Parts of it that a run starts from: `average`, the prompt and the average of its tasks' matrices;
    `exact`, the prompt and the matrices of `source_task`; `shared`, the prompt alone."""
    source_task: Annotated[int, pydantic.Field(ge=0)] = 0
    """Number of one of its tasks, from 0."""

    @property
    def reads_task_numbers(self) -> bool:  # type: ignore[override]
        """True if it has matrices of more than one task."""
        return self.tasks > 1

    @pydantic.model_validator(mode="after")
    def _starts_fit(self) -> "MultitaskPromptTuning":
        if (self.start == "text") != bool(self.text.strip()):
            raise ValueError("text is said with start: text, and with no other start")
        if self.source and self.tasks > 1 and self.from_source != "shared":
            raise ValueError(f"from_source: {self.from_source} starts a run for one task, so tasks must be 1")
        return self

    @classmethod
    def with_task(cls, said: Any, task: Any) -> Any:
        """Returns a plain value of the method with the number of the task's tasks, if it says none."""
        tasks = task.get("tasks") if isinstance(task, dict) else None
        if not isinstance(said, dict) or "tasks" in said or not isinstance(tasks, dict):
            return said
        return {**said, "tasks": len(tasks)}

    def source_conflicts(self, other: Mapping[str, Any]) -> Iterator[str]:
        """Yields a line for each size that differs from the source's prompt, and for a task that it lacks."""
        for key in ("length",) if self.from_source == "shared" else ("length", "rank"):
            if (own := getattr(self, key)) != other.get(key):
                yield f"method.{key}: {own}, but method.source: {self.source} has {other.get(key)}"
        count = other.get("tasks", 1)
        if self.from_source == "exact" and self.source_task >= count:
            has = f"method.source: {self.source} has {count} tasks"
            yield f"method.source_task: {self.source_task}, but {has}"

    def task_conflicts(self, task: Any) -> Iterator[str]:
        """Yields a line if the recipe's task has another number of tasks."""
        count = len(task.tasks_by_source) or 1
        if self.tasks != count:
            yield f"method.tasks: {self.tasks}, but task.kind: {task.kind} has {count}"
