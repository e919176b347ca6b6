"""Tokenizers that cannot be written, and the files next to those that are."""

import json

import pytest

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers import write_tokenizer
from firth.tokenizers import BytePairTokenizer, WordPieceTokenizer, WordTokenizer
from firth.tokenizers.graph.byte_pieces import byte_pieces
from firth.tokenizers.graph.special_pieces import SPECIAL_PIECES, SpecialPieces

END = "<|endoftext|>"


def word_pieces(*steps):
    return WordPieceTokenizer([*SPECIAL_PIECES, "fox"], normalization=steps)


def of_gpt2():
    return BytePairTokenizer([*byte_pieces(), END], specials=SpecialPieces(END, None, END, END, None))


def test_what_stands_next_to_the_tokenizer(tmp_path):
    names = write_tokenizer(word_pieces(), tmp_path, "bert", 128)
    assert sorted(names) == sorted(path.name for path in tmp_path.iterdir())
    settings, named = (json.loads((tmp_path / name).read_text()) for name in names[1:])
    assert named == {f"{role.strip('[]').lower()}_token": role for role in SPECIAL_PIECES}
    assert settings.items() >= {**named, "model_max_length": 128, "do_lower_case": True}.items()
    assert settings["model_input_names"] == ["input_ids", "token_type_ids", "attention_mask"]


def test_a_decoder_names_its_tokens_as_it_uses_them(tmp_path):
    write_tokenizer(of_gpt2(), tmp_path, "gpt2")
    assert json.loads((tmp_path / "special_tokens_map.json").read_text()) == {
        "bos_token": END,
        "eos_token": END,
    }
    content = json.loads((tmp_path / "tokenizer.json").read_text())
    assert (content["post_processor"], content["truncation"], content["padding"]) == (None, None, None)


@pytest.mark.parametrize(
    ("make", "model_type", "message"),
    [
        (lambda: WordTokenizer(["<S>", "</S>", "<UNK>", "the"]), None, "kind 'words' cannot be expressed"),
        (word_pieces, "berd", "model_type: 'berd' has no known frame; did you mean bert?"),
        (lambda: word_pieces((r"\s+", " ")), None, r"the step from '\\\\s\+' to ' ' cannot be expressed"),
        (lambda: word_pieces(("a(.)", r"\1")), None, "the step from .* cannot be expressed"),
        (lambda: word_pieces(("a", r"\0")), None, "the step from 'a' .* cannot be expressed"),
        (lambda: word_pieces(("(?i)a", "b")), None, "the step from .* cannot be expressed"),
        (lambda: word_pieces(("NFKC_Casefold",)), None, "the form NFKC_Casefold cannot be expressed"),
    ],
)
def test_what_cannot_be_expressed_is_refused(tmp_path, make, model_type, message):
    with pytest.raises(InteropError, match=message):
        write_tokenizer(make(), tmp_path, model_type)
    assert list(tmp_path.iterdir()) == []


def test_a_frame_without_its_piece_is_refused(tmp_path):
    specials = SpecialPieces(sep="[SEP]", cls=None)
    tokenizer = WordPieceTokenizer([*SPECIAL_PIECES, "fox"], specials=specials)
    with pytest.raises(InteropError, match="the tokenizer has no cls piece"):
        write_tokenizer(tokenizer, tmp_path, "bert")
