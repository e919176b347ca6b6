"""The special pieces around texts: Hugging Face has them with the tokenizer, a recipe with its objective."""

import dataclasses
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers.files import SETTINGS_FILE, TOKENIZER_FILE, Folder
from firth.interop.hugging_face.tokenizers.tokenizer_json import TokenizerJson
from firth.recipes.base.errors import suggest
from firth.recipes.goals.goal import Goal
from firth.recipes.objectives.objective import AnyObjective
from firth.tokenizers.graph.special_pieces import MissingPieceError
from firth.tokenizers.piece_tokenizer import PieceTokenizer

_TEXTS = ("A", "B")
_BERT_NAMES = {"cls": ("cls_token",), "sep": ("sep_token",)}
_BOTH_NAMES = {"cls": ("cls_token", "bos_token"), "sep": ("sep_token", "eos_token")}
_DECODER_NAMES = {"cls": ("bos_token",), "sep": ("eos_token",)}
# A piece, or `A` or `B` for a text, with its type id.
Part = tuple[str, int]
_A, _B = ("A", 0), ("B", 1)
_TYPES = ("TemplateProcessing", "BertProcessing", "RobertaProcessing", "ByteLevel", "Sequence")
# This post-processor changes the offsets of pieces, and no piece.
_OF_PLACES = "ByteLevel"


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
    """Returns the pieces around the texts of a family; none without a family."""
    if model_type is not None and model_type not in FRAMINGS:
        raise InteropError(f"model_type: {model_type!r} has no known frame; {suggest(model_type, FRAMINGS)}")
    return Framing() if model_type is None else FRAMINGS[model_type]


class Frames(NamedTuple):
    """Pieces and texts of an input of one text, and of one of two texts."""

    single: tuple[Part, ...] = (_A,)
    pair: tuple[Part, ...] = (_A, _B)


def read_as_published(
    objective: AnyObjective, path: str | os.PathLike[str], model_type: str, tokenizer: PieceTokenizer
) -> AnyObjective:
    """Returns an objective whose texts have the published pieces in front of them, if it can.

    Args:
        objective: Objective of the family.
        path: Path of the folder.
        model_type: Family, as `config.json` names it.
        tokenizer: Tokenizer that was read of the folder.

    Raises:
        InteropError: if what the folder says of frames cannot be read.
    """
    framing = framing_of(model_type)
    frames = _published(Folder(path), framing, _family_frames(framing, tokenizer) or Frames(), tokenizer)
    before = [piece for piece, _ in frames.single[: frames.single.index(_A)]]
    roles = ["cls" if piece == tokenizer.specials.cls else piece for piece in before]
    return objective.with_start_tokens(roles)


def published_end(
    path: str | os.PathLike[str], model_type: str, tokenizer: PieceTokenizer
) -> tuple[str, ...]:
    """Returns the special pieces after a text of the published model: `cls` and `sep`, or the piece.

    Args:
        path: Path of the folder.
        model_type: Family, as `config.json` names it.
        tokenizer: Tokenizer that was read of the folder.

    Raises:
        InteropError: if what the folder says of frames cannot be read.
    """
    framing, specials = framing_of(model_type), tokenizer.specials
    frames = _published(Folder(path), framing, _family_frames(framing, tokenizer) or Frames(), tokenizer)
    roles = {specials.cls: "cls", specials.sep: "sep"}
    return tuple(roles.get(piece, piece) for piece, _ in frames.single[frames.single.index(_A) + 1 :])


def frame_notes(
    path: str | os.PathLike[str], model_type: str, tokenizer: PieceTokenizer, goal: Goal | None = None
) -> Iterator[str]:
    """Yields where a folder's tokenizer frames texts otherwise than its family does here.

    Args:
        path: Path of the folder.
        model_type: Family, as `config.json` names it.
        tokenizer: Tokenizer that was read of the folder.
        goal: What the model is for here, which frames one text; None for the frame of the family.

    Raises:
        InteropError: if what the folder says of frames cannot be read.
    """
    folder, framing = Folder(path), framing_of(model_type)
    of_family = _family_frames(framing, tokenizer)
    theirs = _published(folder, framing, of_family or Frames(), tokenizer)
    ours = of_family
    if goal is not None and (single := _of_goal(goal, tokenizer)):
        # Two texts are framed by tasks, as the family has them.
        ours = Frames(single, of_family.pair if of_family else theirs.pair)
    if ours is None:
        # No text can be framed without the piece, which is named when it is asked for.
        return
    for texts, published, here in zip(("a text A", "two texts A and B"), theirs, ours):
        said, expected = _shown(published, framing.has_types), _shown(here, framing.has_types)
        if said != expected:
            yield (
                f"the published tokenizer makes {said!r} of {texts}, here {expected!r}, since a model's "
                "objective decides the frame here"
            )


def _family_frames(framing: Framing, tokenizer: PieceTokenizer) -> Frames | None:
    """Returns the frames of a family; None if the tokenizer lacks a piece of them."""
    try:
        return _read("", framing.processor(tokenizer))
    except MissingPieceError:
        return None


def _of_goal(goal: Goal, tokenizer: PieceTokenizer) -> tuple[Part, ...]:
    """Returns the frame of one text here; nothing if the tokenizer lacks a piece of it."""
    frame, pieces = goal.text_frame, tokenizer.specials.by_role
    if not {*frame.before, *frame.after} <= pieces.keys():
        return ()
    before, after = ([(pieces[role], 0) for role in roles] for roles in frame[:2])
    if after and frame.last_segment is not None:
        after[-1] = (after[-1][0], frame.last_segment)
    return (*before, _A, *after)


def _shown(parts: tuple[Part, ...], has_types: bool) -> str:
    return " ".join(f"{piece}:{type_id}" if has_types and type_id else piece for piece, type_id in parts)


def _published(folder: Folder, framing: Framing, ours: Frames, tokenizer: PieceTokenizer) -> Frames:
    frames = ours
    if folder.holds(TOKENIZER_FILE):
        source = TokenizerJson(folder)
        frames = _read(source.file, source.part("post_processor"))
    if framing.names["cls"] != ("bos_token",):
        # Classes of other families do not read the two keys.
        return frames
    settings = folder.optional(SETTINGS_FILE)
    begins, ends = settings.get("add_bos_token"), settings.get("add_eos_token")
    if begins is None and ends is None:
        return frames
    begins = frames.single[0] != _A if begins is None else begins
    ends = frames.single[-1] != _A if ends is None else ends
    pieces = tokenizer.specials.by_role
    # Where there is no first piece, none is put in front, whatever the key says.
    before = [pieces["cls"]] if begins and "cls" in pieces else []
    after = [pieces["sep"]] if ends else []
    one, other = (
        (*((piece, text[1]) for piece in before), text, *((piece, text[1]) for piece in after))
        for text in (_A, _B)
    )
    return Frames(one, (*one, *other))


def _read(file: str, said: Mapping[str, Any] | None) -> Frames:
    """Returns the frames of a `post_processor`."""
    kind = (said or {}).get("type", _OF_PLACES)
    if said is None or kind == _OF_PLACES:
        return Frames()
    if kind not in _TYPES:
        raise InteropError(
            f"{file}: post_processor.type: {kind!r} cannot be read; {suggest(str(kind), _TYPES)}"
        )
    try:
        if kind == "Sequence":
            framing = [each for each in said["processors"] if each["type"] != _OF_PLACES]
            if len(framing) > 1:
                raise InteropError(f"{file}: post_processor: more than one part frames texts")
            return _read(file, framing[0] if framing else None)
        if kind == "TemplateProcessing":
            return Frames(*(tuple(_of_template(said, name)) for name in Frames._fields))
        cls, sep = said["cls"][0], said["sep"][0]
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise InteropError(f"{file}: post_processor: {kind} without {error}") from None
    single = ((cls, 0), _A, (sep, 0))
    if kind == "BertProcessing":
        return Frames(single, (*single, _B, (sep, 1)))
    return Frames(single, (*single, (sep, 0), ("B", 0), (sep, 0)))


def _of_template(said: Mapping[str, Any], name: str) -> Iterator[Part]:
    for part in said[name]:
        ((kind, values),) = part.items()
        pieces = [values["id"]] if kind == "Sequence" else said["special_tokens"][values["id"]]["tokens"]
        yield from ((piece, values["type_id"]) for piece in pieces)
