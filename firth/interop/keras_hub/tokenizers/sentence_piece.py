"""SentencePiece in presets: `vocabulary.spm`."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers.files import Folder
from firth.interop.hugging_face.tokenizers.sentence_piece_models import unknown_of
from firth.interop.hugging_face.tokenizers.sentence_piece_text import WORDS
from firth.interop.keras_hub.tokenizers.preset_tokenizer import PresetTokenizer, specials_of
from firth.interop.untrusted_files import read_bytes
from firth.tokenizers import SentencePieceTokenizer
from firth.tokenizers.graph.sentencepiece_model import PieceType, parse_model, with_sentinels
from firth.tokenizers.graph.text_steps import OWN_MAP, PREPENDED, SINGLE_SPACES, Preparation, unknown_step
from firth.tokenizers.graph.vocabulary import META_SPACE, is_sentinel, sentinel_pieces

_MODEL_FILE = "vocabulary.spm"
_T5_SENTINELS = 100
# Steps that leave single spaces, by their patterns, and the one that writes them as the model does itself.
_SINGLE = {SINGLE_SPACES[0][0], *(step[0] for step in WORDS)}
_AS_SPACES = (re.escape(" "), META_SPACE)


def _read(folder: Folder, settings: Mapping[str, Any], rows: int, theirs: Any) -> SentencePieceTokenizer:
    model = _bytes_of(folder)
    mask = getattr(theirs, "mask_token", None)
    # DeBERTa's model may lack the mask, which has the next id then.
    if mask is not None and mask not in _pieces_of(model) and len(_pieces_of(model)) < rows:
        model = with_sentinels(model, [mask])
    return _made(model, theirs)


def _read_t5(folder: Folder, settings: Mapping[str, Any], rows: int, theirs: Any) -> SentencePieceTokenizer:
    """T5's rows after those of its model are sentinels, of which there are up to a hundred."""
    model = _bytes_of(folder)
    pieces = _pieces_of(model)
    if not any(map(is_sentinel, pieces)):
        model = with_sentinels(model, sentinel_pieces(max(min(rows - len(pieces), _T5_SENTINELS), 0)))
    return _made(model, theirs)


def _bytes_of(folder: Folder) -> bytes:
    if not folder.holds(_MODEL_FILE):
        raise InteropError(f"{folder.path} holds no {_MODEL_FILE}")
    model = read_bytes(folder.place(_MODEL_FILE))
    try:
        parse_model(model)
    except ValueError as error:
        raise InteropError(f"{folder.place(_MODEL_FILE)}: {error}") from error
    return model


def _pieces_of(model: bytes) -> list[str]:
    return [piece.piece for piece in parse_model(model).pieces]


def _made(model: bytes, theirs: Any) -> SentencePieceTokenizer:
    specials = specials_of(theirs, set(_pieces_of(model)))
    kinds = {piece.type: piece.piece for piece in parse_model(model).pieces}
    specials = dataclasses.replace(specials, unk=kinds.get(PieceType.UNKNOWN))
    return SentencePieceTokenizer(model, specials=specials)


def _arguments(tokenizer: SentencePieceTokenizer, pieces: Sequence[str]) -> dict[str, Any]:
    model, own = parse_model(tokenizer.model), tokenizer.preparation
    if tokenizer.preparation == Preparation.of_model(tokenizer.model):
        if list(pieces) == tokenizer.get_vocabulary():
            return {"proto": tokenizer.model}
    else:
        spec = model.normalizer_spec
        patterns = [step[0] for step in own.steps]
        spec.add_dummy_prefix = own.prefix != "never" or PREPENDED in own.steps
        spec.remove_extra_whitespaces = any(pattern in _SINGLE for pattern in patterns)
    for piece, name in zip(model.pieces, pieces, strict=True):
        piece.piece = name
    return {"proto": model.SerializeToString()}


def _read_otherwise(tokenizer: SentencePieceTokenizer) -> str:
    """Returns the texts that get other ids without the tokenizer's own steps, in words; empty if none do."""
    made = Preparation.of_model(_arguments(tokenizer, tokenizer.get_vocabulary())["proto"])
    model = parse_model(tokenizer.model)
    nothing = {unknown_step(unknown_of(model)), _AS_SPACES}
    nothing |= set() if model.normalizer_spec.precompiled_charsmap else {(OWN_MAP,)}
    own, theirs = (
        tuple(step for step in each.steps if step not in nothing) for each in (tokenizer.preparation, made)
    )
    # A space before texts that special pieces are in is all that differs there.
    alike = {"always": "first"}.get(tokenizer.preparation.prefix, tokenizer.preparation.prefix)
    if (own, alike) == (theirs, made.prefix):
        return ""
    return "some spaces, accents, quotes and letters that its steps before the model change"


SENTENCE_PIECE = PresetTokenizer(
    ours=SentencePieceTokenizer,
    always={"sequence_length": None, "add_bos": False, "add_eos": False},
    read=_read,
    arguments=_arguments,
    reads_otherwise_of=_read_otherwise,
)
SENTENCE_PIECE_OF_T5 = dataclasses.replace(SENTENCE_PIECE, read=_read_t5)
