"""Byte-level byte-pair encoding in presets: `vocabulary.json` and `merges.txt`."""

from collections.abc import Mapping, Sequence
from typing import Any

from firth.interop.hugging_face.tokenizers.files import Folder, in_order
from firth.interop.keras_hub.tokenizers.preset_tokenizer import PresetTokenizer, require_ours, specials_of
from firth.tokenizers import BytePairTokenizer
from firth.tokenizers.graph.byte_pieces import merges_by_order

_VOCABULARY_FILE, _MERGES_FILE = "vocabulary.json", "merges.txt"
_VERSION = "#version"


def _read(folder: Folder, settings: Mapping[str, Any], rows: int, theirs: Any) -> BytePairTokenizer:
    vocabulary = folder.mapping(_VOCABULARY_FILE)
    pieces = in_order(folder.place(_VOCABULARY_FILE), "vocabulary", vocabulary)
    merges = [line for line in folder.lines(_MERGES_FILE) if line and not line.startswith(_VERSION)]
    return BytePairTokenizer(pieces, specials=specials_of(theirs, set(pieces)), merges=merges)


def _arguments(tokenizer: BytePairTokenizer, pieces: Sequence[str]) -> dict[str, Any]:
    require_ours("sentinels", len(tokenizer.sentinel_ids), 0)
    require_ours("pattern", tokenizer.pattern, "gpt2")
    require_ours("whole_words", tokenizer.whole_words, False)
    specials = set(tokenizer.specials.pieces)
    regular = [piece for piece in tokenizer.get_vocabulary() if piece not in specials]
    return {
        "vocabulary": {piece: index for index, piece in enumerate(pieces)},
        "merges": list(tokenizer.merges) or [" ".join(parts) for parts in merges_by_order(regular)],
    }


BYTE_PAIR = PresetTokenizer(
    ours=BytePairTokenizer,
    always={"sequence_length": None, "add_prefix_space": False},
    read=_read,
    arguments=_arguments,
    read_otherwise="spaces at the end of a text, before the null character, and of rare kinds",
)
