"""Inputs and outputs of the signatures of slots, for their graphs and for the description."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from firth.serving.continuation import PARAMETERS
from firth.serving.descriptions.output import Output

_LENGTHS = Output("number of tokens", "int32")
_IDS = ("batch", "tokens")


class SlotDescription(NamedTuple):
    """A signature of slots.

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


def slot_descriptions(count: int | str, words: int | str) -> dict[str, SlotDescription]:
    """Returns the signatures of slots by name."""

    def of_slots(meaning: str, dtype: str = "int32", *more: int | str) -> Output:
        return Output(meaning, dtype, (count, *more))

    return {
        "prefill": SlotDescription(
            "Lets a slot read a prompt; what the slot held is forgotten.",
            {
                "slot": Output("number of the slot; -1 for none", "int32", (1,)),
                "ids": Output("tokens of the prompt with its special ones", "int32", (1, "tokens")),
            },
            {"room": Output("most tokens that can be written after it", "int32", (1,))},
        ),
        "step": SlotDescription(
            "Writes a token in each active slot whose text has not ended.",
            {
                "active": of_slots("whether the slot takes part", "bool"),
                "mask": of_slots("bits of the tokens that may come next, -1 for all", "int32", words),
                **{name: of_slots(each.meaning, each.dtype) for name, each in PARAMETERS.items()},
            },
            {
                "token": of_slots("token that was written; 0 in a slot that wrote no token"),
                "log_probability": of_slots(
                    "natural logarithm of its probability, among the tokens that may be written and before "
                    "mask, penalties and the sampler; 0 in a slot that wrote no token",
                    "float32",
                ),
                "ended": of_slots("0 while the text goes on, 1 if its end was written, 2 if it is full"),
            },
        ),
        "tokenize": SlotDescription(
            "Gives texts as `prefill` reads them.",
            {
                "text": Output("text that is gone on with", "string"),
                "max_new_tokens": Output("most tokens to write, for which a long text is cut", "int32"),
            },
            {
                "ids": Output("tokens with special ones, padded", "int32", _IDS),
                "length": _LENGTHS,
                "truncated": Output("whether the text was cut", "bool"),
            },
        ),
        "detokenize": SlotDescription(
            "Gives the texts of tokens that were written.",
            {
                "prompt_ids": Output("tokens that `prefill` read, padded", "int32", _IDS),
                "prompt_length": _LENGTHS,
                "ids": Output("tokens that `step` wrote, without the end, padded", "int32", _IDS),
                "length": _LENGTHS,
            },
            {"generated": Output("text, in UTF-8", "string")},
        ),
    }
