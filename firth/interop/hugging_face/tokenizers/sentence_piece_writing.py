"""A SentencePiece tokenizer as the parts of `tokenizer.json`."""

import dataclasses
from collections.abc import Collection
from typing import Any

import numpy as np

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers.sentence_piece_models import BPE, splits, unknown_of
from firth.interop.hugging_face.tokenizers.sentence_piece_text import write_preparation
from firth.interop.hugging_face.tokenizers.specials import AddedToken
from firth.tokenizers import SentencePieceTokenizer
from firth.tokenizers.graph.preparation import SINGLE_SPACES, Preparation, unknown_step
from firth.tokenizers.graph.sentencepiece_model import PieceType, parse_model
from firth.tokenizers.graph.vocabulary import Vocabulary
from firth.tokenizers.piece_marks import META_SPACE

# The least score that the sentencepiece package takes for the highest one, and how far below as many of it
# as a piece has bytes a piece is that somebody has defined.
_LEAST_FLOAT, _BELOW_HIGHEST = float(np.finfo("float32").tiny), 0.1


def write_parts(tokenizer: SentencePieceTokenizer) -> dict[str, Any]:
    """Returns the parts of `tokenizer.json` of a tokenizer, added tokens as such.

    Its ids are those of the tokenizer, with two exceptions. A special piece that only the normalization of
    text brings about, such as one in full-width letters, may be found by one and not by the other. And
    Hugging Face applies a model's map of characters to letters with their marks as wholes, of which it drops
    some marks, where SentencePiece applies it to the longest match.
    """
    model = parse_model(tokenizer.model)
    vocabulary = Vocabulary.of(tokenizer.get_vocabulary(), tokenizer.specials)
    if tokenizer.normalization_steps:
        raise InteropError(
            "normalization: SentencePiece's own steps come after special pieces are found there, so steps "
            "before that cannot be expressed"
        )
    merges = model.trainer_spec.model_type == BPE
    special = set(vocabulary.special_pieces)
    text = {piece.piece for piece in model.pieces if _is_of_text(piece, special)}
    # Of a model that splits text, no piece that is used holds a space after its begin.
    is_split = not any(META_SPACE in piece[1:] for piece in text)
    _check_types(model, vocabulary, is_split)
    added_here = unknown_step(unknown_of(model))
    steps = tuple(step for step in tokenizer.preparation.steps if step != added_here)
    normalizer, pre_tokenizer = write_preparation(
        dataclasses.replace(tokenizer.preparation, steps=steps),
        model.normalizer_spec.precompiled_charsmap,
        is_split,
    )
    if model.trainer_spec.byte_fallback and not merges:
        raise InteropError(
            "byte_fallback: a unigram model reads text such as <0x41> as a byte there, and as text here"
        )
    return {
        "added_tokens": _added(tokenizer, vocabulary),
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "decoder": _decoder(model.trainer_spec.byte_fallback),
        "model": _merging(model, text, vocabulary) if merges else _unigram(model, vocabulary),
    }


def write_model(tokenizer: SentencePieceTokenizer, name: str) -> dict[str, bytes]:
    """Returns the model as a file, if the sentencepiece package tokenizes with it as we do."""
    own, here = Preparation.of_model(tokenizer.model), tokenizer.preparation
    if here.steps != own.steps or here.late:
        return {}
    model = parse_model(tokenizer.model)
    kept = len(_inner(model, Vocabulary.of(tokenizer.get_vocabulary(), tokenizer.specials)))
    if kept == len(model.pieces):
        return {name: tokenizer.model}
    del model.pieces[kept:]
    return {name: model.SerializeToString()}


def _check_types(model: Any, vocabulary: Vocabulary, is_split: bool) -> None:
    special = set(vocabulary.special_pieces)
    for piece in model.pieces:
        unused = piece.type == PieceType.UNUSED and not (is_split and META_SPACE in piece.piece[1:])
        is_own = piece.type == PieceType.USER_DEFINED and piece.piece not in special
        if unused or (is_own and model.trainer_spec.model_type == BPE):
            name = PieceType(piece.type).name
            raise InteropError(f"the piece {piece.piece!r} of the type {name} cannot be expressed there")


def _added(tokenizer: SentencePieceTokenizer, vocabulary: Vocabulary) -> list[AddedToken]:
    spaces, steps = vocabulary.specials.spaces_before, tokenizer.preparation.steps
    if spaces == "one" and vocabulary.after_space and SINGLE_SPACES[-1] not in steps:
        raise InteropError(
            "spaces_before: one space before a special piece cannot be expressed, all or none can"
        )
    strips = vocabulary.after_space if spaces == "all" else ()
    late = tokenizer.preparation.late
    words = set(tokenizer.special_texts).intersection(vocabulary.specials.others)
    return [
        AddedToken(
            piece,
            vocabulary.ids[piece],
            lstrip=piece in strips,
            normalized=piece in late,
            special=piece not in words,
        )
        for piece in vocabulary.special_pieces
    ]


def _decoder(byte_fallback: bool) -> dict[str, Any]:
    if not byte_fallback:
        return {"type": "Metaspace", "replacement": META_SPACE, "prepend_scheme": "always", "split": True}
    return {
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"String": META_SPACE}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ],
    }


def _inner(model: Any, vocabulary: Vocabulary) -> list[Any]:
    """Returns the pieces without those at the end that text cannot become: these are added tokens alone."""
    pieces, special = list(model.pieces), set(vocabulary.special_pieces)
    while pieces and pieces[-1].type == PieceType.CONTROL and pieces[-1].piece in special:
        pieces.pop()
    return pieces


def _unigram(model: Any, vocabulary: Vocabulary) -> dict[str, Any]:
    scores = [piece.score for piece in model.pieces if piece.type == PieceType.NORMAL]
    highest, special = max([*scores, _LEAST_FLOAT]), set(vocabulary.special_pieces)
    return {
        "type": "Unigram",
        "unk_id": vocabulary.ids[unknown_of(model)],
        "vocab": [[piece.piece, _score(piece, special, highest)] for piece in _inner(model, vocabulary)],
        "byte_fallback": False,
    }


def _is_of_text(piece: Any, special: Collection[str]) -> bool:
    """Whether text may become a piece that is not special."""
    is_defined = piece.type == PieceType.USER_DEFINED and piece.piece not in special
    return piece.type == PieceType.NORMAL or is_defined


def _score(piece: Any, special: Collection[str], highest: float) -> float:
    """Returns the score of a piece; one that somebody has defined has what the package gives it to win."""
    if piece.type == PieceType.NORMAL or not _is_of_text(piece, special):
        return float(piece.score)
    return len(piece.piece.encode()) * highest - _BELOW_HIGHEST


def _merging(model: Any, text: set[str], vocabulary: Vocabulary) -> dict[str, Any]:
    byte_fallback = bool(model.trainer_spec.byte_fallback)
    if missing := sorted({character for piece in text for character in piece} - text):
        raise InteropError(f"the character {missing[0]!r} is a part of pieces, and not a piece itself")
    ranked = sorted(
        (piece for piece in model.pieces if piece.piece in text and len(piece.piece) > 1),
        key=lambda piece: -piece.score,
    )
    merges: list[list[str]] = []
    for index, piece in enumerate(ranked):
        if index and piece.score == ranked[index - 1].score:
            raise InteropError(
                f"the pieces {ranked[index - 1].piece!r} and {piece.piece!r} have the same score"
            )
        merges += [[left, piece.piece[len(left) :]] for left in splits(piece.piece, text)]
    return {
        "type": "BPE",
        **dict.fromkeys(("dropout", "continuing_subword_prefix", "end_of_word_suffix")),
        "unk_token": unknown_of(model),
        "fuse_unk": True,
        "byte_fallback": byte_fallback,
        "ignore_merges": False,
        "vocab": {piece.piece: vocabulary.ids[piece.piece] for piece in _inner(model, vocabulary)},
        "merges": merges,
    }
