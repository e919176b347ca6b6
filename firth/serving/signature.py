"""A signature of an exported model, with its description."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from firth.serving.descriptions.output import Output, input_of_strings
from firth.serving.parameter import Parameter

TEXT = {"text": "text to ask about"}
_LONGEST_LIST = 3


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
