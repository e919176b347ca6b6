"""WordPiece in Hugging Face's files: `tokenizer.json`, or `vocab.txt` with settings."""

from collections.abc import Mapping
from typing import Any

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers.files import (
    SETTINGS_FILE,
    Folder,
    in_order,
    no_piece,
    one_of,
    require,
    require_settings,
)
from firth.interop.hugging_face.tokenizers.specials import (
    AddedToken,
    added_of_settings,
    check_added,
    read_specials,
)
from firth.interop.hugging_face.tokenizers.tokenizer_json import (
    TokenizerFormat,
    TokenizerJson,
    flat_normalizers,
    join_normalizers,
    read_normalizers,
    with_added,
    write_normalizers,
)
from firth.tokenizers import WordPieceTokenizer
from firth.tokenizers.graph.special_pieces import CLS, MASK, PAD, SEP, UNK
from firth.tokenizers.graph.vocabulary import SUFFIX_MARK

VOCABULARY_FILE = "vocab.txt"
_USUAL = {"pad_token": PAD, "unk_token": UNK, "cls_token": CLS, "sep_token": SEP, "mask_token": MASK}
_LONGEST_WORD = 100
_NORMALIZER_TYPE, _PRE_TOKENIZER_TYPE = "BertNormalizer", "BertPreTokenizer"
# The package's own normalization. By default, lowercasing strips accents too.
_NORMALIZER = {"clean_text": True, "handle_chinese_chars": True}
# How added tokens are found. Spaces around them make no difference, because no piece has a space.
_ADDED = {"single_word": False, "normalized": False, "special": True}


def _of_json(source: TokenizerJson) -> WordPieceTokenizer:
    file, model = source.file, source.model
    *before, normalizer = flat_normalizers(source.part("normalizer")) or [{}]
    require(file, "model", model, {"continuing_subword_prefix": SUFFIX_MARK})
    one_of(file, "normalizer.type", normalizer.get("type"), [_NORMALIZER_TYPE])
    one_of(file, "pre_tokenizer.type", source.part("pre_tokenizer").get("type"), [_PRE_TOKENIZER_TYPE])
    require(file, "normalizer", normalizer, _NORMALIZER)
    lowercase = _lowercase(file, "normalizer.", normalizer, "lowercase")
    # transformers obeys its own settings, the `tokenizers` package this file.
    require_settings(source.folder, {"do_lower_case": lowercase, "tokenize_chinese_chars": True})
    check_added(file, source.added, _ADDED)
    pieces = source.pieces()
    unknown = model.get("unk_token", UNK)
    specials = read_specials(source.folder, pieces, source.added, {**_USUAL, "unk_token": unknown})
    if specials.unk != unknown:
        raise InteropError(
            f"{file}: model.unk_token: {unknown!r} is not the unk_token of {SETTINGS_FILE}, {specials.unk!r}"
        )
    return WordPieceTokenizer(
        pieces,
        lowercase=lowercase,
        max_word_characters=model.get("max_input_chars_per_word", _LONGEST_WORD),
        normalization=read_normalizers(file, before),
        specials=specials,
    )


def _lowercase(file: str, part: str, found: Mapping[str, Any], key: str) -> bool:
    """Returns whether letters become small ones, which accents then go with."""
    lowercase, accents = bool(found.get(key, True)), found.get("strip_accents")
    if accents not in (None, lowercase):
        raise InteropError(f"{file}: {part}strip_accents: {accents} differs from {key}: {lowercase}")
    return lowercase


def _of_files(folder: Folder) -> WordPieceTokenizer:
    settings, file = folder.optional(SETTINGS_FILE), folder.place(SETTINGS_FILE)
    require_settings(folder, {"tokenize_chinese_chars": True, "do_basic_tokenize": True})
    if settings.get("never_split"):
        raise InteropError(f"{file}: never_split: {settings['never_split']} cannot be expressed here")
    added = added_of_settings(folder)
    check_added(file, added, _ADDED)
    lines = folder.lines(VOCABULARY_FILE)
    # The id of a repeated piece is its last line.
    ids = {piece: index for index, piece in enumerate(lines)}
    kept = (piece if piece and ids[piece] == index else no_piece(index) for index, piece in enumerate(lines))
    whole = {piece: index for index, piece in enumerate(kept)}
    pieces = in_order(file, "added_tokens", with_added(file, whole, added))
    return WordPieceTokenizer(
        pieces,
        lowercase=_lowercase(file, "", settings, "do_lower_case"),
        specials=read_specials(folder, pieces, added, _USUAL),
    )


def _write(tokenizer: WordPieceTokenizer) -> dict[str, Any]:
    ids = {piece: index for index, piece in enumerate(tokenizer.get_vocabulary())}
    special = map(tokenizer.id_to_token, tokenizer.special_ids)
    normalizer = {
        "type": _NORMALIZER_TYPE,
        **_NORMALIZER,
        "strip_accents": None,
        "lowercase": tokenizer.lowercase,
    }
    return {
        "added_tokens": [AddedToken(piece, ids[piece]) for piece in special],
        "normalizer": join_normalizers([*write_normalizers(tokenizer.normalization_steps), normalizer]),
        "pre_tokenizer": {"type": _PRE_TOKENIZER_TYPE},
        "decoder": {"type": "WordPiece", "prefix": SUFFIX_MARK, "cleanup": False},
        "model": {
            "type": "WordPiece",
            "unk_token": tokenizer.specials.unk,
            "continuing_subword_prefix": SUFFIX_MARK,
            "max_input_chars_per_word": tokenizer.max_word_characters,
            "vocab": ids,
        },
    }


def _settings(tokenizer: WordPieceTokenizer) -> dict[str, Any]:
    return {"do_lower_case": tokenizer.lowercase, "strip_accents": None, "tokenize_chinese_chars": True}


FORMAT = TokenizerFormat(
    title="WordPiece",
    kind=WordPieceTokenizer.kind,
    model_type="WordPiece",
    fits=lambda source: True,
    of_json=_of_json,
    files=(VOCABULARY_FILE,),
    of_files=_of_files,
    write=_write,
    settings=_settings,
)
