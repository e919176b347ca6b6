"""A signature of an exported model, with all that is said about it elsewhere."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from firth.serving.descriptions.output import Output, input_of_strings
from firth.serving.writing.parameter import Parameter

TEXT = {"text": "text to ask about"}


@dataclasses.dataclass(frozen=True)
class Answer:
    """How an answer to one text is printed; see `firth.serving.answers`.

    Attributes:
        outputs: Names under which outputs are told, by the outputs' own names; empty to tell all outputs.
        count: Name of the output that counts the entries of the others, where padding follows; empty if
            there is no padding.
        records: Name of a list that holds the values of each place together; empty to tell each list alone.
        lines: Jinja template of the lines for people, which reads what is told by name; empty for a line a
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
        function: (served, one string [batch] tensor for each input, one [batch] tensor for each parameter) ->
            tensors by name.
        outputs: Outputs by name, in the order in which they are told.
        meaning: What it answers, a sentence.
        inputs: What each input is, by its name; each is a string.
        example: A text for each input to ask a model with, for people; empty to propose none.
        choices: Names that an input takes in the place of texts, by the input; where it says nothing, it is
            empty.
        of_lines: Inputs that hold several texts, a line each.
        needs: A piece that each text must hold to be asked about; empty for none.
        answer: Description of how an answer is printed, for programs and for people.
        reads_heads: True if answers come from the heads, which a model that was imported may lack.
        parameters: Numbers that it is asked with, by name.
    """

    function: Callable[..., dict[str, tf.Tensor]]
    outputs: Mapping[str, Output]
    meaning: str = ""
    inputs: Mapping[str, str] = dataclasses.field(default_factory=lambda: TEXT)
    example: Mapping[str, str] = dataclasses.field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    of_lines: tuple[str, ...] = ()
    needs: str = ""
    answer: Answer = Answer()
    reads_heads: bool = False
    parameters: Mapping[str, Parameter] = dataclasses.field(default_factory=dict)

    @property
    def invariant(self) -> tuple[str, ...]:
        """The outputs that must not depend on the batch."""
        return tuple(name for name, each in self.outputs.items() if each.is_invariant)

    def asking_with(self, piece: str | None) -> "Signature":
        """Returns the signature of a model whose piece for what it is asked about has another name.

        Args:
            piece: Piece that each text must hold; None if the model has no such piece.

        Raises:
            ValueError: if texts need such a piece, and the tokenizer lacks it.
        """
        if not self.needs or piece == self.needs:
            return self
        if piece is None:
            raise ValueError(f"each text needs a piece such as {self.needs}, and the tokenizer has none")
        example = {name: text.replace(self.needs, piece) for name, text in self.example.items()}
        answer = dataclasses.replace(self.answer, lines=self.answer.lines.replace(self.needs, piece))
        return dataclasses.replace(self, needs=piece, example=example, answer=answer)

    def describe(self) -> dict[str, Any]:
        """Returns what an exported model says about this signature, fit for JSON.

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
            "inputs": {name: input_of_strings(each) for name, each in self.inputs.items()},
            "outputs": {name: each.describe() for name, each in self.outputs.items()},
            "invariant": list(self.invariant),
            "example": dict(self.example),
            "choices": {name: list(each) for name, each in self.choices.items()},
            "of_lines": list(self.of_lines),
            "needs": self.needs,
            "answer": dataclasses.asdict(self.answer),
            "reads_heads": self.reads_heads,
            "parameters": {name: dataclasses.asdict(each) for name, each in self.parameters.items()},
        }


def inputs_with(described: Mapping[str, Any], texts: Sequence[bytes]) -> dict[str, list[bytes]]:
    """Returns values for each input of a signature: texts, or the names that it takes in turn.

    Args:
        described: What `Signature.describe` returned.
        texts: Texts, one for each record.

    Example:

    >>> inputs_with({"inputs": ["text", "task"], "choices": {"task": ["cola"]}}, [b"a", b"b"])
    {'text': [b'a', b'b'], 'task': [b'', b'cola']}
    """
    found = {name: list(texts) for name in described["inputs"]}
    for name, known in described.get("choices", {}).items():
        names = ["", *known]
        found[name] = [names[row % len(names)].encode() for row in range(len(texts))]
    return found
