"""A signature of an exported model, its outputs, and their description."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from firth.serving.parameter import Parameter

TEXT = {"text": "text to ask about"}
_LONGEST_LIST = 3
EVALUATE, PREDICT_EXAMPLES = "evaluate", "predict_examples"
# Signatures on serialized examples, with the meaning of each.
OTHER_SIGNATURES = {
    EVALUATE: "Gives what each row adds to the metrics, and what scores are computed from.",
    PREDICT_EXAMPLES: (
        "Answers as the task's signature does, to the texts in the features of its inputs' names. What is "
        "one value there has an axis of size 1 after the batch."
    ),
    "classify_examples": (
        "Gives all classes of each record and their probabilities, as TensorFlow Serving's Classify reads "
        "them, by the texts in the features of the names of the task's inputs."
    ),
    "regress_examples": (
        "Gives the number of each record, as TensorFlow Serving's Regress reads it, by the texts in the "
        "features of the names of the task's inputs."
    ),
}


@dataclasses.dataclass(frozen=True)
class Output:
    """The description of an output.

    Attributes:
        meaning: Its meaning, a noun.
        dtype: Name of its dtype.
        shape: Its axes, the batch first: the size of each, or its name where the size depends on the texts or
            on the model.
        is_invariant: True if it must not depend on what else is in the batch. What an argmax or a ranking
            decides is not: two of nearly the same score may change places.
    """

    meaning: str
    dtype: str = "float32"
    shape: tuple[str | int, ...] = ("batch",)
    is_invariant: bool = True

    def describe(self) -> dict[str, Any]:
        """Returns the description, fit for JSON.

        Example:

        >>> Output("vector of the text", shape=("batch", "width")).describe()
        {'dtype': 'float32', 'shape': ['batch', 'width'], 'meaning': 'vector of the text'}
        """
        return {"dtype": self.dtype, "shape": list(self.shape), "meaning": self.meaning}


def input_of_strings(meaning: str, *axes: str) -> dict[str, Any]:
    """Describes an input: a string for each text of the batch, or several with further axes."""
    return Output(meaning, "string", ("batch", *axes)).describe()


def reading(what: str = "the text was longer than the row and was cut") -> dict[str, Output]:
    """Returns the outputs of every signature that say how much of the texts of each record was read."""
    return {
        "truncated": Output(f"whether {what}", "bool"),
        "tokens_read": Output("number of tokens that were read, without special ones", "int32"),
        "tokens_given": Output("number of tokens that the texts have", "int32"),
    }


class Reading(NamedTuple):
    """Numbers of tokens of texts that are read, without special ones.

    Attributes:
        read: Tokens of each record that are read, int [batch].
        given: Tokens that its texts have, int [batch].
    """

    read: tf.Tensor
    given: tf.Tensor

    @classmethod
    def of(cls, kept: tf.RaggedTensor, whole: tf.RaggedTensor) -> "Reading":
        """Returns how much is read of tokens.

        Args:
            kept: Tokens that are read, ragged [batch, (tokens)].
        """
        return cls(kept.row_lengths(), whole.row_lengths())

    def __add__(self, other: "Reading") -> "Reading":  # type: ignore[override]
        """Returns how much is read of two texts of each record."""
        return Reading(*(tf.cast(one, tf.int32) + tf.cast(two, tf.int32) for one, two in zip(self, other)))

    @property
    def outputs(self) -> dict[str, tf.Tensor]:
        """The outputs that `descriptions.output.reading` describes."""
        read, given = (tf.cast(each, tf.int32) for each in self)
        return {"truncated": read < given, "tokens_read": read, "tokens_given": given}


@dataclasses.dataclass(frozen=True)
class Answer:
    """The printed form of an answer to one text; see `firth.serving.answers`.

    Attributes:
        outputs: Printed names by the outputs' own names; empty to print all outputs.
        count: Name of the output that counts the entries of the others, where padding follows; empty if
            there is no padding.
        records: Name of a list that holds the values of each place together; empty to print each list alone.
        lines: Jinja template of the lines for people, which reads printed values by name; empty for a line a
            value.
    """

    outputs: Mapping[str, str] = dataclasses.field(default_factory=dict)
    count: str = ""
    records: str = ""
    lines: str = ""


@dataclasses.dataclass(frozen=True)
class Signature:
    """A signature that reads strings, and maybe numbers next to them.

    Attributes:
        function: (served, a string [batch] tensor for each input, [batch, texts] for one of lists, a [batch]
            tensor for each parameter) -> tensors by name.
        outputs: Outputs by name, in the order in which they are printed.
        meaning: Its purpose, a sentence.
        inputs: What each input is, by its name; each is a string.
        example: A text for each input, or a list of texts, to ask a model with, for people; empty to propose
            none.
        choices: Allowed values of an input that takes names, by the input; the input may be empty.
        lists: Inputs that hold a list of texts for each record, string [batch, texts], with empty strings
            after the last one; and what is between the texts where a command is given them in one.
        optional: Inputs that may be empty, and left out.
        words_by: Name of the signature that is asked about lists in place of texts, of words or of turns;
            empty for none.
        texts_by: Name of the signature that splits texts into the lists that this one reads; empty for none.
        from_text: (served, string [batch]) -> ragged string [batch, (texts)]: the list that a text becomes
            where an example has no list; None if it becomes none.
        needs: A piece that each text must hold to be asked about; empty for none.
        answer: Description of how an answer is printed, for programs and for people.
        reads_heads: True if answers come from the heads, which a model that was imported may lack.
        reads_replies: True if it reads the replies of dialogues, which others leave out at the end.
        parameters: Numbers next to the texts, by name.
    """

    function: Callable[..., dict[str, tf.Tensor]]
    outputs: Mapping[str, Output]
    meaning: str = ""
    inputs: Mapping[str, str] = dataclasses.field(default_factory=lambda: TEXT)
    example: Mapping[str, str | tuple[str, ...]] = dataclasses.field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    lists: Mapping[str, str] = dataclasses.field(default_factory=dict)
    optional: tuple[str, ...] = ()
    words_by: str = ""
    texts_by: str = ""
    from_text: Callable[..., tf.RaggedTensor] | None = None
    needs: str = ""
    answer: Answer = Answer()
    reads_heads: bool = False
    reads_replies: bool = False
    parameters: Mapping[str, Parameter] = dataclasses.field(default_factory=dict)

    @property
    def invariant(self) -> tuple[str, ...]:
        """The outputs that must not depend on the batch."""
        return tuple(name for name, each in self.outputs.items() if each.is_invariant)

    def asking_with(self, piece: str | None) -> "Signature":
        """Returns the signature of a model whose required piece has another name."""
        if not self.needs or piece == self.needs:
            return self
        if piece is None:
            raise ValueError(f"each text needs a piece such as {self.needs}, and the tokenizer has none")
        example = {name: str(text).replace(self.needs, piece) for name, text in self.example.items()}
        answer = dataclasses.replace(self.answer, lines=self.answer.lines.replace(self.needs, piece))
        return dataclasses.replace(self, needs=piece, example=example, answer=answer)

    def describe(self) -> dict[str, Any]:
        """Returns the description of this signature, fit for JSON.

        Example:

        >>> vector = Output("vector of the text", shape=("batch", "width"))
        >>> described = Signature(print, {"embedding": vector}, example={"text": "A sentence."}).describe()
        >>> described["inputs"]
        {'text': {'dtype': 'string', 'shape': ['batch'], 'meaning': 'text to ask about'}}
        >>> described["outputs"]["embedding"]["shape"], described["invariant"], described["example"]
        (['batch', 'width'], ['embedding'], {'text': 'A sentence.'})
        """
        return {
            "meaning": self.meaning,
            "inputs": {
                name: input_of_strings(each, *([name] if name in self.lists else []))
                for name, each in self.inputs.items()
            },
            "outputs": {name: each.describe() for name, each in self.outputs.items()},
            "invariant": list(self.invariant),
            "example": {
                name: text if isinstance(text, str) else list(text) for name, text in self.example.items()
            },
            "choices": {name: list(each) for name, each in self.choices.items()},
            "lists": dict(self.lists),
            "optional": list(self.optional),
            "words_by": self.words_by,
            "texts_by": self.texts_by,
            "needs": self.needs,
            "answer": dataclasses.asdict(self.answer),
            "reads_heads": self.reads_heads,
            "reads_replies": self.reads_replies,
            "parameters": {name: dataclasses.asdict(each) for name, each in self.parameters.items()},
        }


class TensorSignature(NamedTuple):
    """The description of a signature on tensors.

    Attributes:
        meaning: Its purpose, a sentence.
        inputs: Its inputs by name, in their order.
        outputs: Its outputs by name.
    """

    meaning: str
    inputs: Mapping[str, Output]
    outputs: Mapping[str, Output]

    def describe(self) -> dict[str, Any]:
        """Returns the description, fit for JSON."""
        return {
            "meaning": self.meaning,
            "inputs": {name: each.describe() for name, each in self.inputs.items()},
            "outputs": {name: each.describe() for name, each in self.outputs.items()},
        }

    @property
    def specs(self) -> list[tf.TensorSpec]:
        """Dtypes and shapes of the inputs, in their order; an axis with a name has any size."""
        return [
            tf.TensorSpec([each if isinstance(each, int) else None for each in one.shape], one.dtype, name)
            for name, one in self.inputs.items()
        ]


def check(is_valid: tf.Tensor, message: str) -> tf.Operation:
    """Returns an operation that fails with a message where a value is not valid."""
    return tf.debugging.Assert(tf.reduce_all(is_valid), [message])


def checked_parameter(name: str, parameter: Parameter, values: tf.Tensor) -> tf.Tensor:
    """Returns values of a parameter, each checked when the graph runs.

    Args:
        name: Name of the parameter.
        parameter: Its range.
        values: Its values, [batch].

    Raises (when run):
        tf.errors.InvalidArgumentError: for a value that is not valid, naming the parameter.
    """
    with tf.control_dependencies([check(parameter.fits(values), f"{name}: must be {parameter.bounds}")]):
        return tf.identity(values)


def written_outputs(name: str, meaning: str, cut: str, among: str = "") -> dict[str, Output]:
    """Returns the outputs of a signature that writes texts."""
    return {
        name: Output(f"{meaning}, in UTF-8", "string", is_invariant=False),
        "log_probability": Output(
            f"natural logarithm of the probability of its tokens and its end{among}", is_invariant=False
        ),
        "is_finished": Output("false if no end came within the most tokens", "bool", is_invariant=False),
        **reading(cut),
    }


def written_answer(name: str) -> Answer:
    """Returns the printed form of a text that was written."""
    fields = (name, "log_probability", "is_finished")
    return Answer(
        {each: each for each in fields}, lines=f"{{{{ {name} }}}}{{{{ '' if is_finished else ' ...' }}}}"
    )


def inputs_with(described: Mapping[str, Any], texts: Sequence[bytes]) -> dict[str, list[Any]]:
    """Returns values for each input of a signature: texts, lists of them, or the names that it takes in turn.

    Lists are of one text, of two and of three in turn, with empty texts after those that are shorter.

    Example:

    >>> inputs_with({"inputs": ["text", "task"], "choices": {"task": ["cola"]}}, [b"a", b"b"])
    {'text': [b'a', b'b'], 'task': [b'', b'cola']}
    >>> inputs_with({"inputs": ["choices"], "lists": {"choices": " | "}}, [b"a", b"b"])
    {'choices': [[b'a', b''], [b'b', b'b']]}
    """
    found: dict[str, list[Any]] = {name: list(texts) for name in described["inputs"]}
    for name in described.get("lists", ()):
        longest = min(len(texts), _LONGEST_LIST)
        counts = [row % _LONGEST_LIST + 1 for row in range(len(texts))]
        found[name] = [[text] * count + [b""] * (longest - count) for text, count in zip(texts, counts)]
    for name, known in described.get("choices", {}).items():
        names = ["", *known]
        found[name] = [names[row % len(names)].encode() for row in range(len(texts))]
    return found


def describe_signature(signature: Signature, function: Any) -> dict[str, Any]:
    """Returns the description of a signature on texts, fit for JSON.

    Raises:
        ValueError: if the graph has other outputs than the signature describes.
    """
    return {**signature.describe(), "outputs": _described_outputs(signature.outputs, function)}


def describe_on_examples(name: str, function: Any) -> dict[str, Any]:
    """Returns the description of a signature on serialized examples, fit for JSON."""
    specs = function.get_concrete_function().structured_outputs
    return {
        "meaning": OTHER_SIGNATURES[name],
        "inputs": {
            each.name: input_of_strings("serialized tf.Examples") for each in function.input_signature
        },
        "outputs": {key: _of_graph(each).describe() for key, each in specs.items()},
    }


def _described_outputs(outputs: Mapping[str, Output], function: Any) -> dict[str, Any]:
    """Returns the descriptions of outputs, with the sizes that the graph knows."""
    specs = function.get_concrete_function().structured_outputs
    if specs.keys() != outputs.keys():
        raise ValueError(f"the graph answers {', '.join(specs)}; described are {', '.join(outputs)}")
    return {name: _with_sizes(name, each, specs[name]) for name, each in outputs.items()}


def _with_sizes(name: str, output: Output, spec: Any) -> dict[str, Any]:
    sizes = spec.shape.as_list() if spec.shape.rank is not None else [None] * len(output.shape)
    if (output.dtype, len(output.shape)) != (spec.dtype.name, len(sizes)):
        raise ValueError(
            f"{name}: described as {output.dtype} {list(output.shape)}, but the graph answers "
            f"{spec.dtype.name} {sizes}"
        )
    known = [axis if size is None else size for axis, size in zip(output.shape, sizes)]
    return {**output.describe(), "shape": known}


def _of_graph(spec: Any) -> Output:
    """Returns an output as the graph knows it, without a meaning: its name has to do."""
    sizes = [f"axis {axis}" if size is None else size for axis, size in enumerate(spec.shape)]
    return Output("", spec.dtype.name, ("batch", *sizes[1:]))
