"""SentencePiece in Hugging Face's files: `tokenizer.json`, or a model with settings."""

import dataclasses
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers import sentence_piece_models as models
from firth.interop.hugging_face.tokenizers.files import SETTINGS_FILE, Folder, in_order, require
from firth.interop.hugging_face.tokenizers.sentence_piece_models import BPE, splits, unknown_of
from firth.interop.hugging_face.tokenizers.sentence_piece_text import (
    PYTHON_SPACES,
    read_preparation,
    write_preparation,
)
from firth.interop.hugging_face.tokenizers.specials import (
    AddedToken,
    added_of_settings,
    check_added,
    read_spaces_before,
    read_specials,
)
from firth.interop.hugging_face.tokenizers.tokenizer_json import TokenizerFormat, TokenizerJson, with_added
from firth.interop.untrusted_files import read_bytes
from firth.tokenizers import SentencePieceTokenizer
from firth.tokenizers.graph.sentencepiece_model import PieceType, parse_model
from firth.tokenizers.graph.text_steps import (
    PREPENDED,
    SINGLE_SPACES,
    Preparation,
    Step,
    TextSteps,
    unknown_step,
)
from firth.tokenizers.graph.vocabulary import META_SPACE, Vocabulary, sentinel_pieces

_MARKS = {"single_word": False, "rstrip": False}
# What the tokens are called where nothing says it; the first that the vocabulary has.
_USUAL = {
    "cls_token": ("[CLS]", "<cls>"),
    "sep_token": ("[SEP]", "<sep>"),
    "bos_token": ("<s>",),
    "eos_token": ("</s>",),
    "pad_token": ("[PAD]", "<pad>"),
    "mask_token": ("[MASK]", "<mask>"),
}
# Classes of transformers that change text before the model reads it; whether they make letters small.
_CHANGING = {"Albert": True, "XLNet": False}
_QUOTES: tuple[Step, ...] = (("``", '"'), ("''", '"'))
_EXTRA_IDS = 100
# DeBERTa's model has no such piece: its class adds it after all others.
_APPENDED_MASK = "[MASK]"
# The file that transformers expects of a family.
_USUAL_FILE, _FILES = "spiece.model", {"deberta-v2": "spm.model", "llama": "tokenizer.model"}
# The least score that the sentencepiece package takes for the highest one, and how far below as many of it
# as a piece has bytes a piece is that somebody has defined.
_LEAST_FLOAT, _BELOW_HIGHEST = float(np.finfo("float32").tiny), 0.1


def _of_json(source: TokenizerJson) -> SentencePieceTokenizer:
    file = source.file
    preparation, charsmap, is_split = read_preparation(
        file, source.part("normalizer"), source.part("pre_tokenizer")
    )
    check_added(file, source.added, _MARKS)
    vocabulary = models.vocabulary_of(file, source.model)
    pieces = in_order(file, "model.vocab", with_added(file, vocabulary, source.added))
    model = models.model_of_json(file, source.model, pieces, source.added, is_split)
    model.normalizer_spec.precompiled_charsmap = charsmap
    encoded = model.SerializeToString()
    models.check_map(f"{file}: normalizer.precompiled_charsmap", encoded)
    late = tuple(each.content for each in source.added if each.normalized)
    _check_late(file, late, preparation, encoded)
    steps, unknown = preparation.steps, models.unknown_of(model)
    # Merges begin with single characters, so that they make no unknown piece.
    if source.model["type"] == "Unigram" and unknown not in late:
        steps = (*steps, unknown_step(unknown))
    preparation = dataclasses.replace(preparation, steps=steps, late=late)
    return _made(source.folder, encoded, source.added, preparation)


def _check_late(file: str, late: Sequence[str], preparation: Preparation, model: bytes) -> None:
    """Passes if the normalizer leaves the tokens as they are that are found after it."""
    changed = TextSteps(preparation.steps, model)(tf.constant(late, tf.string)).numpy() if late else ()
    for token, text in zip(late, changed):
        if text.decode() != token:
            raise InteropError(
                f"{file}: added_tokens: {token!r}: normalized: True cannot be expressed here: the normalizer "
                f"makes {text.decode()!r} of it"
            )


def _made(
    folder: Folder, model: bytes, added: Sequence[AddedToken], preparation: Preparation
) -> SentencePieceTokenizer:
    proto = parse_model(model)
    pieces = [piece.piece for piece in proto.pieces]
    known, unknown = set(pieces), models.unknown_of(proto)
    usual = {name: next(filter(known.__contains__, each), None) for name, each in _USUAL.items()}
    specials = read_specials(folder, pieces, added, {**usual, "unk_token": unknown})
    if specials.unk != unknown:
        raise InteropError(
            f"{folder.path}: unk_token: {specials.unk!r} is not the unknown piece of the model, {unknown!r}"
        )
    spaces = read_spaces_before(folder.place(SETTINGS_FILE), added, specials)
    # Words that somebody added to the vocabulary; special pieces are never read from text.
    words = [each.content for each in added if not each.special and each.content in specials.others]
    specials = dataclasses.replace(specials, spaces_before=spaces)
    return SentencePieceTokenizer(model, preparation=preparation, specials=specials, special_texts=words)


def _of_file(name: str, folder: Folder) -> SentencePieceTokenizer:
    file, settings = folder.place(name), folder.optional(SETTINGS_FILE)
    content = read_bytes(file)
    try:
        model = parse_model(content)
    except ValueError as error:
        raise InteropError(f"{file}: {error}") from error
    models.check_model(file, model)
    models.check_map(f"{file}: normalizer_spec.precompiled_charsmap", content)
    added = _added(folder, settings, [piece.piece for piece in model.pieces])
    check_added(folder.place(SETTINGS_FILE), added, _MARKS)
    more = models.appended(file, model, added)
    return _made(folder, content + more, added, _preparation(folder, settings, content))


def _added(folder: Folder, settings: Mapping[str, Any], pieces: Sequence[str]) -> list[AddedToken]:
    """Returns the added tokens with their ids, and those that T5's class adds itself."""
    added = {each.content: each for each in added_of_settings(folder)}
    count = settings.get("extra_ids", _EXTRA_IDS if "T5" in _class_of(folder, settings) else 0)
    for index, piece in enumerate(sentinel_pieces(count)):
        token = added.setdefault(piece, AddedToken(piece))
        if piece not in pieces and token.id is None:
            added[piece] = dataclasses.replace(token, id=len(pieces) + index)
    changing = any(name in _class_of(folder, settings) for name in _CHANGING)
    for name, piece in ((name, piece) for name, usual in _USUAL.items() for piece in usual):
        # The mask of a class that changes text includes the spaces before it.
        added.setdefault(piece, AddedToken(piece, lstrip=changing and name == "mask_token"))
    said = settings.get("mask_token", _APPENDED_MASK)
    mask: Any = said.get("content") if isinstance(said, Mapping) else said
    if "Deberta" in _class_of(folder, settings) and mask not in {None, *pieces}:
        token = added.setdefault(mask, AddedToken(mask))
        if token.id is None:
            taken = [each.id + 1 for each in added.values() if each.id is not None]
            added[mask] = dataclasses.replace(token, id=max([len(pieces), *taken]), lstrip=False)
    return [each for each in added.values() if each.id is not None or each.content in pieces]


def _class_of(folder: Folder, settings: Mapping[str, Any]) -> str:
    named = str(settings.get("tokenizer_class") or "")
    kind = str(folder.optional("config.json").get("model_type") or "")
    classes = {"albert": "Albert", "xlnet": "XLNet", "t5": "T5", "llama": "Llama", "deberta-v2": "Deberta"}
    return named or classes.get(kind, "")


def _preparation(folder: Folder, settings: Mapping[str, Any], model: bytes) -> Preparation:
    """Returns the steps that text goes through in the class of transformers that reads such a model."""
    file, said = folder.place(SETTINGS_FILE), _class_of(folder, settings)
    require(file, "tokenizer_config", settings, {"split_by_punct": False, "add_prefix_space": True})
    own, before = Preparation.of_model(model), list[Step]()
    changing = next((name for name in _CHANGING if name in said), None)
    lowercase = settings.get("do_lower_case", _CHANGING.get(changing or "", False))
    if changing:
        require(file, "tokenizer_config", settings, {"remove_space": True})
        before += [PYTHON_SPACES, *_QUOTES]
        before += [] if settings.get("keep_accents") else [("NFKD",), ("strip_accents",)]
    before += [("lowercase",)] if lowercase else []
    steps = (*before, *own.steps)
    if settings.get("legacy") is not False:
        return Preparation(steps, "always" if own.prefix == "first" else own.prefix)
    # Only the text before all special pieces gets a space, if it has none.
    kept = tuple(step for step in steps if step != PREPENDED)
    return Preparation(kept, "first" if PREPENDED in steps else own.prefix)


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
    # If a model splits text, no used piece has a space after its first character.
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
        "added_tokens": _added_tokens(tokenizer, vocabulary),
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "decoder": _decoder(model.trainer_spec.byte_fallback),
        "model": _merging(model, text, vocabulary) if merges else _unigram(model, vocabulary),
    }


def write_model(tokenizer: SentencePieceTokenizer, name: str, checks: bool = True) -> dict[str, bytes]:
    """Returns the model as a file, if the sentencepiece package tokenizes with it as we do.

    Args:
        tokenizer: Tokenizer of the model.
        name: Name of the file.
        checks: False to return it also where code around the model changes texts first.
    """
    own, here = Preparation.of_model(tokenizer.model), tokenizer.preparation
    if checks and (here.steps != own.steps or here.late):
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


def _added_tokens(tokenizer: SentencePieceTokenizer, vocabulary: Vocabulary) -> list[AddedToken]:
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
    """Returns true for a piece that text may become and that is not special."""
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


def _is_spaced(source: TokenizerJson) -> bool:
    """Returns whether spaces are written as SentencePiece writes them."""
    return re.search(r"'(ByteLevel|Split)'", str(source.part("pre_tokenizer"))) is None


def _format(model_type: str, file: str, fits: Any) -> TokenizerFormat:
    return TokenizerFormat(
        title=f"SentencePiece ({model_type})",
        kind=SentencePieceTokenizer.kind,
        model_type=model_type,
        fits=fits,
        of_json=_of_json,
        files=(file,),
        of_files=lambda folder: _of_file(file, folder),
        write=write_parts,
        models=lambda tokenizer, family: write_model(tokenizer, _FILES.get(family or "", _USUAL_FILE)),
    )


# A folder holds one of these files, named after the class of transformers that reads it.
FORMATS = (
    _format("Unigram", _USUAL_FILE, lambda source: True),
    _format("Unigram", _FILES["deberta-v2"], lambda source: False),
    _format("BPE", _FILES["llama"], _is_spaced),
)
