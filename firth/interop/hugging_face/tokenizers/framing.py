"""The special pieces around texts: Hugging Face has them with the tokenizer, a recipe with its objective."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from firth.interop.errors import InteropError
from firth.recipes.base.errors import suggest
from firth.tokenizers.piece_tokenizer import PieceTokenizer

_TEXTS = ("A", "B")
_BERT_NAMES = {"cls": ("cls_token",), "sep": ("sep_token",)}
_BOTH_NAMES = {"cls": ("cls_token", "bos_token"), "sep": ("sep_token", "eos_token")}
_DECODER_NAMES = {"cls": ("bos_token",), "sep": ("eos_token",)}


@dataclasses.dataclass(frozen=True)
class Framing:
    """Special pieces around one text and around two, by their roles.

    `A` and `B` stand for the texts. A type id follows a colon; it is 0 if it is left out.

    Attributes:
        single: Frame of one text, such as `cls A sep`.
        pair: Frame of two texts.
        names: Names of the tokens of `cls` and `sep` in the settings.
        has_types: Whether its models read type ids.
    """

    single: str = "A"
    pair: str = "A B:1"
    names: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=lambda: _BOTH_NAMES)
    has_types: bool = False

    def processor(self, tokenizer: PieceTokenizer) -> dict[str, Any] | None:
        """Returns the part `post_processor` of `tokenizer.json`; None where nothing is put around texts.

        Raises:
            firth.tokenizers.graph.special_pieces.MissingPieceError: if no piece plays a role that is needed.
        """
        parts = [*self.single.split(), *self.pair.split()]
        roles = dict.fromkeys(role for part in parts if (role := part.partition(":")[0]) not in _TEXTS)
        if not roles:
            return None
        ids = {role: getattr(tokenizer, f"{role}_id") for role in roles}
        pieces = {role: tokenizer.id_to_token(index) for role, index in ids.items()}
        return {
            "type": "TemplateProcessing",
            "single": [_part(each, pieces) for each in self.single.split()],
            "pair": [_part(each, pieces) for each in self.pair.split()],
            "special_tokens": {
                pieces[role]: {"id": pieces[role], "ids": [index], "tokens": [pieces[role]]}
                for role, index in ids.items()
            },
        }

    @property
    def inputs(self) -> list[str]:
        """The names of what its models read."""
        return ["input_ids", *["token_type_ids"] * self.has_types, "attention_mask"]


def _part(said: str, pieces: Mapping[str, str]) -> dict[str, Any]:
    name, _, type_id = said.partition(":")
    values = {"id": pieces.get(name, name), "type_id": int(type_id or 0)}
    return {"Sequence" if name in _TEXTS else "SpecialToken": values}


_BERT = Framing("cls A sep", "cls A sep B:1 sep:1", _BERT_NAMES, has_types=True)
_ROBERTA = Framing("cls A sep", "cls A sep sep B sep")
# By the `model_type` of `config.json`.
FRAMINGS: dict[str, Framing] = {
    "bert": _BERT,
    "distilbert": dataclasses.replace(_BERT, has_types=False),
    "electra": _BERT,
    "albert": _BERT,
    "deberta": _BERT,
    "deberta-v2": _BERT,
    "roberta": _ROBERTA,
    "bart": _ROBERTA,
    "xlnet": Framing("A sep cls:2", "A sep B:1 sep:1 cls:2", _BERT_NAMES, has_types=True),
    "t5": Framing("A sep", "A sep B sep", _DECODER_NAMES),
    "llama": Framing("cls A", "cls A cls:1 B:1", _DECODER_NAMES),
    "gpt2": Framing(names=_DECODER_NAMES),
    "qwen3": Framing(names=_DECODER_NAMES),
    "openai-gpt": Framing(names=_DECODER_NAMES),
}


def framing_of(model_type: str | None) -> Framing:
    """Returns what stands around the texts of a family; nothing without a family."""
    if model_type is not None and model_type not in FRAMINGS:
        raise InteropError(f"model_type: {model_type!r} has no known frame; {suggest(model_type, FRAMINGS)}")
    return Framing() if model_type is None else FRAMINGS[model_type]
