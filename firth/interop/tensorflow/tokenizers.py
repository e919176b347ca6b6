"""Files of tokenizers as the originals have them."""

import dataclasses
import json
import os
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from firth import storage
from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers import read_tokenizer
from firth.interop.hugging_face.tokenizers.files import SETTINGS_FILE
from firth.interop.hugging_face.tokenizers.sentence_piece import write_model
from firth.interop.untrusted_files import check_file, decoded_text, read_mapping
from firth.tokenizers import BytePairTokenizer, SentencePieceTokenizer, WordPieceTokenizer
from firth.tokenizers.graph.byte_pieces import merges_by_order
from firth.tokenizers.piece_tokenizer import PieceTokenizer
from firth.tokenizers.storage import AnyTokenizer

_SPECIAL = ("[", "<")
# Letters of a word, of which longer ones are unknown; transformers has 100.
_LONGEST_WORD = 200


@dataclasses.dataclass(frozen=True)
class TokenizerFiles:
    """The files of a tokenizer next to a checkpoint.

    Attributes:
        names: Pattern of each file, with its name in Hugging Face's format.
        kind: Kind of our tokenizer.
        write: Function from one of our tokenizers of the kind to the content of each file by its name; None
            for one that the original cannot express.
        settings: Settings that Hugging Face's class has for it.
        has_case: Whether the vocabulary says if letters are made small.
        fitted: Function from the tokenizer that Hugging Face's class is to the original's.
    """

    names: Mapping[str, str]
    kind: str
    write: Callable[[Any], Mapping[str, bytes] | None]
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    has_case: bool = False
    fitted: Callable[[Any], PieceTokenizer] = lambda tokenizer: tokenizer


def _written_vocabulary(tokenizer: WordPieceTokenizer) -> Mapping[str, bytes] | None:
    if tokenizer.normalization_steps:
        return None
    settings = {"do_lower_case": tokenizer.lowercase}
    return {
        "vocab.txt": "".join(f"{piece}\n" for piece in tokenizer.get_vocabulary()).encode(),
        # google-research's code has it as an option of the command.
        SETTINGS_FILE: json.dumps(settings).encode(),
    }


def _with_long_words(tokenizer: WordPieceTokenizer) -> WordPieceTokenizer:
    return WordPieceTokenizer(
        tokenizer.get_vocabulary(),
        lowercase=tokenizer.lowercase,
        max_word_characters=_LONGEST_WORD,
        specials=tokenizer.specials,
    )


def _written_model(tokenizer: SentencePieceTokenizer) -> Mapping[str, bytes]:
    # Sentinels are not in the file: T5's code counts them from the end of its table.
    return {"spiece.model": write_model(tokenizer, "", checks=False)[""]}


def _written_byte_pairs(tokenizer: BytePairTokenizer) -> Mapping[str, bytes] | None:
    if tokenizer.pattern != "gpt2":
        return None
    pieces = tokenizer.get_vocabulary()
    special = set(tokenizer.specials.pieces)
    merges = tokenizer.merges or [
        " ".join(pair) for pair in merges_by_order([piece for piece in pieces if piece not in special])
    ]
    return {
        "encoder.json": json.dumps({piece: index for index, piece in enumerate(pieces)}).encode(),
        "vocab.bpe": "".join(f"{line}\n" for line in ("#version: 0.2", *merges)).encode(),
    }


def _sentence_piece(name: str) -> TokenizerFiles:
    names, kind = {"*.model": "spiece.model"}, SentencePieceTokenizer.kind
    return TokenizerFiles(names, kind, _written_model, {"tokenizer_class": name})


VOCABULARY = TokenizerFiles(
    {"*vocab*.txt": "vocab.txt"},
    WordPieceTokenizer.kind,
    _written_vocabulary,
    has_case=True,
    fitted=_with_long_words,
)
BYTE_PAIRS = TokenizerFiles(
    {"encoder.json": "vocab.json", "vocab.bpe": "merges.txt"}, BytePairTokenizer.kind, _written_byte_pairs
)
ALBERT_MODEL = _sentence_piece("AlbertTokenizer")
XLNET_MODEL = _sentence_piece("XLNetTokenizer")
T5_MODEL = _sentence_piece("T5Tokenizer")


def read_files(
    folder: str,
    kinds: Sequence[TokenizerFiles],
    more: Mapping[str, Any],
) -> tuple[PieceTokenizer, list[str]]:
    """Returns the tokenizer of a folder, and notes.

    Args:
        folder: Path of the folder.
        kinds: Files of the kinds of tokenizers that the family has.
        more: Further settings of the tokenizer.

    Raises:
        InteropError: if a file is missing, or cannot be read.
    """
    there = [each for each in kinds if any(_files(folder, pattern) for pattern in each.names)]
    files = (there or kinds)[0]
    found = {name: _the_one(folder, pattern) for pattern, name in files.names.items()}
    with storage.scratch_folder() as scratch:
        for name, path in found.items():
            storage.copy_file(check_file(path), os.path.join(scratch, name))
        settings, notes = {**files.settings, **more}, list[str]()
        own = os.path.join(folder, SETTINGS_FILE)
        given = read_mapping(own) if storage.exists(own) else {}
        if files.has_case and "do_lower_case" not in given:
            place = found["vocab.txt"]
            settings["do_lower_case"] = lowers = not _is_cased(decoded_text(place))
            notes = [f"{os.path.basename(place)}: {_CASE[lowers]}"]
        storage.write_json(os.path.join(scratch, SETTINGS_FILE), {**settings, **given})
        try:
            tokenizer = read_tokenizer(scratch)
        except InteropError as error:
            # The user's files, not the copies of them.
            text = str(error)
            for name, path in found.items():
                text = text.replace(os.path.join(scratch, name), path)
            raise InteropError(text.replace(scratch, folder)) from None
    return files.fitted(tokenizer), notes


_CASE = {
    True: "no piece has capitals or accents, so that texts are read in small letters without accents",
    False: "some pieces have capitals or accents, so that texts are read as they are",
}


def _is_cased(text: str) -> bool:
    """Returns true if a piece has what texts in small letters without accents lack.

    Vowels of some scripts that have no capital letters are accents to BERT's code.
    """
    pieces = [line for line in text.split("\n") if not line.startswith(_SPECIAL)]
    kinds = {unicodedata.category(each) for each in {*unicodedata.normalize("NFD", "".join(pieces))}}
    return any(piece != piece.lower() for piece in pieces) or "Mn" in kinds


def _files(folder: str, pattern: str) -> list[str]:
    return sorted(storage.glob(os.path.join(folder, pattern)))


def _the_one(folder: str, pattern: str) -> str:
    found = _files(folder, pattern)
    if not found:
        raise InteropError(f"{folder} holds no {pattern}, which is a part of the tokenizer")
    if len(found) != 1:
        names = ", ".join(map(os.path.basename, found))
        raise InteropError(f"{folder} holds {len(found)} files of the form {pattern}, not one: {names}")
    return found[0]


def write_files(
    tokenizer: AnyTokenizer,
    folder: str,
    kinds: Sequence[TokenizerFiles],
) -> tuple[list[str], list[str]]:
    """Writes a tokenizer as the original has it, and returns the files, and notes.

    Nothing is written for one of another kind, and there is a note where the files are read otherwise.

    Args:
        tokenizer: The tokenizer.
        folder: Path of the folder, which is there.
        kinds: Files of the kinds of tokenizers that the family has.

    Raises:
        InteropError: if what was written cannot be read.
    """
    found = (each.write(tokenizer) for each in kinds if each.kind == tokenizer.kind)
    written = next((each for each in found if each is not None), None)
    if written is None:
        return [], [f"the tokenizer is not written, since the original has none of the kind {tokenizer.kind}"]
    for name, content in written.items():
        with storage.whole_file(os.path.join(folder, name)) as file:
            file.write(content)
    sentinels = len(tokenizer.sentinel_ids)
    again, _ = read_files(folder, kinds, {"extra_ids": sentinels} if sentinels else {})
    same = again.digest == tokenizer.digest
    return list(written), [] if same else ["the tokenizer of the files reads some texts otherwise"]
