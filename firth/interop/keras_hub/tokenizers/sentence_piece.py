"""SentencePiece in presets: `vocabulary.spm`."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from firth import storage
from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers.files import Folder
from firth.interop.keras_hub.tokenizers.format import PresetTokenizer
from firth.interop.keras_hub.tokenizers.roles import specials_of
from firth.tokenizers import SentencePieceTokenizer
from firth.tokenizers.graph.preparation import Preparation
from firth.tokenizers.graph.sentencepiece_model import PieceType, with_sentinels
from firth.tokenizers.graph.sentencepiece_proto import parse_model
from firth.tokenizers.graph.vocabulary import is_sentinel, sentinel_pieces

_MODEL_FILE = "vocabulary.spm"
_T5_SENTINELS = 100


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
    with storage.open_file(folder.place(_MODEL_FILE)) as file:
        model = bytes(file.read())
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
    if tokenizer.preparation != Preparation.of_model(tokenizer.model):
        raise InteropError(
            "tokenizer: its steps before the model of SentencePiece cannot be expressed by KerasHub"
        )
    if list(pieces) == tokenizer.get_vocabulary():
        return {"proto": tokenizer.model}
    model = parse_model(tokenizer.model)
    for piece, name in zip(model.pieces, pieces, strict=True):
        piece.piece = name
    return {"proto": model.SerializeToString()}


SENTENCE_PIECE = PresetTokenizer(
    ours=SentencePieceTokenizer,
    always={"sequence_length": None, "add_bos": False, "add_eos": False},
    read=_read,
    arguments=_arguments,
)
SENTENCE_PIECE_OF_T5 = dataclasses.replace(SENTENCE_PIECE, read=_read_t5)
