"""Byte-level byte-pair encoding in Hugging Face's files: `tokenizer.json`, or vocabulary and merges."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers.files import (
    SETTINGS_FILE,
    Folder,
    in_order,
    one_of,
    require,
    require_settings,
)
from firth.interop.hugging_face.tokenizers.specials import (
    AddedToken,
    added_of_settings,
    check_added,
    read_spaces_before,
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
from firth.tokenizers import BytePairTokenizer
from firth.tokenizers.graph.byte_pieces import (
    MergeError,
    Pair,
    byte_pieces,
    merges_by_order,
    ranks_of,
    read_merges,
)
from firth.tokenizers.graph.vocabulary import Vocabulary

VOCABULARY_FILE, MERGES_FILE = "vocab.json", "merges.txt"
_END, _HEADER = "<|endoftext|>", "#version"
# What the tokens are called where nothing says it: in GPT-2's vocabulary, in Llama 3's, and in RoBERTa's.
_USUAL_GPT2 = dict.fromkeys(("bos_token", "eos_token", "unk_token"), _END)
_USUAL_LLAMA_3 = {"bos_token": "<|begin_of_text|>", "eos_token": "<|end_of_text|>"}
_USUAL_ROBERTA = {
    **dict.fromkeys(("bos_token", "cls_token"), "<s>"),
    **dict.fromkeys(("eos_token", "sep_token"), "</s>"),
    **{f"{role}_token": f"<{role}>" for role in ("pad", "unk", "mask")},
}
# The values of a model that can be expressed: those that change nothing.
_NOTHING: dict[str, tuple[Any, ...]] = {
    "dropout": (None, 0.0),
    "continuing_subword_prefix": (None, ""),
    "end_of_word_suffix": (None, ""),
    "byte_fallback": (None, False),
}
_PRE_TOKENIZER = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}
# Our names of patterns that come before ByteLevel, which splits nothing then.
_SPLITS = {
    "llama3": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
}
_SPLIT = {"type": "Split", "behavior": "Isolated", "invert": False}
_SETTINGS = {"add_prefix_space": False}
_MARKS = {"single_word": False, "rstrip": False, "special": True}


def _fits(source: TokenizerJson) -> bool:
    said = source.part("pre_tokenizer")
    parts = [said, *(said.get("pretokenizers") or ())]
    return any(each.get("type") == _PRE_TOKENIZER["type"] for each in parts)


def _of_json(source: TokenizerJson) -> BytePairTokenizer:
    file, model = source.file, source.model
    for key, known in _NOTHING.items():
        one_of(file, f"model.{key}", model.get(key), known)
    pattern = _read_pattern(file, source.part("pre_tokenizer"))
    require_settings(source.folder, _SETTINGS)
    check_added(file, source.added, _MARKS)
    pieces = source.pieces()
    specials = read_specials(source.folder, pieces, source.added, _usual(pieces))
    specials = dataclasses.replace(specials, spaces_before=read_spaces_before(file, source.added, specials))
    vocabulary = Vocabulary.of(pieces, specials)
    merges = _read_merges(file, [_merge(each) for each in model.get("merges") or ()], vocabulary)
    steps, spaces_before = _normalization(source, vocabulary)
    specials = dataclasses.replace(specials, spaces_before=spaces_before)
    apart = () if merges is None else _apart(merges, Vocabulary.of(pieces, specials))
    # Where all pieces are made by their merges, it makes no difference.
    whole_words = bool(model.get("ignore_merges"))
    return BytePairTokenizer(pieces, steps, specials, apart, pattern=pattern, whole_words=whole_words)


def _read_merges(file: str, merges: Sequence[str], vocabulary: Vocabulary) -> list[Pair] | None:
    """Returns merges; None where they are all there can be, those of the piece of the lowest id first."""
    try:
        return read_merges(merges, vocabulary.ids)
    except MergeError as error:
        made = [vocabulary.ids.get(merge.replace(" ", ""), -1) for merge in merges]
        if made == sorted(made) and sorted(merges) == sorted(map(" ".join, _all_merges(vocabulary))):
            return None
        raise InteropError(f"{file}: model.merges: {error}") from error


def _all_merges(vocabulary: Vocabulary) -> list[Pair]:
    """Returns all pairs of pieces that make one, which a vocabulary of tiktoken's becomes there."""
    known = {*byte_pieces(), *_mergeable(vocabulary)}
    halves = ((piece[:end], piece[end:]) for piece in _mergeable(vocabulary) for end in range(1, len(piece)))
    return [pair for pair in halves if known.issuperset(pair)]


def _read_pattern(file: str, said: Mapping[str, Any]) -> str:
    """Returns our name of the pattern by which words are split: ByteLevel's own, or one before it."""
    parts: list[Any] = list(said.get("pretokenizers") or ())
    for index, each in enumerate(parts):
        if each.get("type") == "Split":
            place, regex = f"pre_tokenizer.pretokenizers[{index}]", (each.get("pattern") or {}).get("Regex")
            found = next((name for name, theirs in _SPLITS.items() if theirs == regex), None)
            if found is None or len(parts) != 2 or index:
                raise InteropError(
                    f"{file}: {place}: Split by {each.get('pattern')} cannot be expressed here, ByteLevel's "
                    f"own pattern can, or that of {' or '.join(_SPLITS)}"
                )
            require(file, place, each, _SPLIT)
            level = {**_PRE_TOKENIZER, "use_regex": False}
            # A missing `use_regex` means true.
            require(file, "pre_tokenizer.pretokenizers[1]", {"use_regex": True, **parts[1]}, level)
            return found
    require(file, "pre_tokenizer", said, _PRE_TOKENIZER)
    return "gpt2"


def _merge(said: Any) -> str:
    return " ".join(map(str, said)) if isinstance(said, list) else str(said)


def _usual(pieces: Sequence[str]) -> dict[str, str]:
    usual = (each for each in (_USUAL_GPT2, _USUAL_LLAMA_3) if each["eos_token"] in pieces)
    return next(usual, _USUAL_ROBERTA)


def _normalization(source: TokenizerJson, vocabulary: Vocabulary) -> tuple[Any, Any]:
    """Returns the steps of a normalizer, and the spaces before the mask, of which it may take one."""
    normalizers, specials = flat_normalizers(source.part("normalizer")), vocabulary.specials
    if not normalizers:
        return (), specials.spaces_before
    # Here, text is brought to one form before special pieces are found in it.
    check_added(source.file, source.added, {"normalized": True})
    with_one = dataclasses.replace(vocabulary, specials=dataclasses.replace(specials, spaces_before="one"))
    takes_one = normalizers[-1] == _without_space(with_one)
    steps = read_normalizers(source.file, normalizers[: -1 if takes_one else None])
    return steps, "one" if takes_one else specials.spaces_before


def _without_space(vocabulary: Vocabulary) -> dict[str, Any]:
    """Returns the normalizer that takes one space before the special pieces that include one."""
    found = "|".join(map(re.escape, vocabulary.after_space))
    return {"type": "Replace", "pattern": {"Regex": f" (?={found})"}, "content": ""}


def _of_files(folder: Folder) -> BytePairTokenizer:
    require_settings(folder, _SETTINGS)
    file, added = folder.place(VOCABULARY_FILE), added_of_settings(folder)
    check_added(folder.place(SETTINGS_FILE), added, _MARKS)
    pieces = in_order(file, "ids", with_added(file, folder.mapping(VOCABULARY_FILE), added))
    lines = folder.lines(MERGES_FILE)
    skipped = int(lines[0].startswith(_HEADER))
    try:
        merges = read_merges([line for line in lines[skipped:] if line], set(pieces))
    except MergeError as error:
        line = error.index + skipped + 1
        raise InteropError(f"{folder.place(MERGES_FILE)}:{line}: {error.reason}") from error
    specials = read_specials(folder, pieces, added, _usual(pieces))
    if specials.mask is not None and specials.mask not in {each.content for each in added}:
        # RoBERTa's and BART's mask, which includes the spaces before it.
        added = [*added, AddedToken(specials.mask, lstrip=True)]
    specials = dataclasses.replace(specials, spaces_before=read_spaces_before(file, added, specials))
    return BytePairTokenizer(pieces, (), specials, _apart(merges, Vocabulary.of(pieces, specials)))


def _apart(merges: Sequence[Pair], vocabulary: Vocabulary) -> tuple[str, ...]:
    """Returns merges that the order of the pieces does not say."""
    in_order = list(ranks_of(merges)) == _mergeable(vocabulary)
    return () if in_order else tuple(map(" ".join, merges))


def _mergeable(vocabulary: Vocabulary) -> list[str]:
    """Returns the pieces of more than one byte, special ones left out."""
    special = set(vocabulary.special_pieces)
    return [piece for piece in vocabulary.pieces if len(piece) > 1 and piece not in special]


def _write(tokenizer: BytePairTokenizer) -> dict[str, Any]:
    vocabulary = Vocabulary.of(tokenizer.get_vocabulary(), tokenizer.specials)
    merges = tokenizer.merges or map(" ".join, _merges_of(vocabulary, tokenizer.whole_words))
    normalizers = write_normalizers(tokenizer.normalization_steps)
    if vocabulary.after_space and vocabulary.specials.spaces_before == "one":
        normalizers.append(_without_space(vocabulary))
    strips = vocabulary.after_space if vocabulary.specials.spaces_before == "all" else ()
    return {
        "added_tokens": [
            AddedToken(piece, vocabulary.ids[piece], lstrip=piece in strips, normalized=bool(normalizers))
            for piece in vocabulary.special_pieces
        ],
        "normalizer": join_normalizers(normalizers),
        "pre_tokenizer": _written_pattern(tokenizer.pattern),
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            **dict.fromkeys(("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix")),
            **dict.fromkeys(("fuse_unk", "byte_fallback"), False),
            "ignore_merges": tokenizer.whole_words,
            "vocab": vocabulary.ids,
            "merges": [merge.split(" ") for merge in merges],
        },
    }


def _written_pattern(pattern: str) -> dict[str, Any]:
    level = {**_PRE_TOKENIZER, "trim_offsets": True}
    if pattern not in _SPLITS:
        return level
    split = {**_SPLIT, "pattern": {"Regex": _SPLITS[pattern]}}
    return {"type": "Sequence", "pretokenizers": [split, {**level, "use_regex": False}]}


def _merges_of(vocabulary: Vocabulary, whole_words: bool) -> list[Pair]:
    if whole_words:
        # A piece that no merges make from bytes is a part of others all the same.
        ids = vocabulary.ids
        pairs = _all_merges(vocabulary)
        return sorted(pairs, key=lambda pair: (ids["".join(pair)], ids[pair[0]], ids[pair[1]]))
    special = set(vocabulary.special_pieces)
    return merges_by_order([piece for piece in vocabulary.pieces if piece not in special])


FORMAT = TokenizerFormat(
    title="byte-level BPE",
    kind=BytePairTokenizer.kind,
    model_type="BPE",
    fits=_fits,
    of_json=_of_json,
    files=(VOCABULARY_FILE, MERGES_FILE),
    of_files=_of_files,
    write=_write,
    settings=lambda tokenizer: _SETTINGS,
)
