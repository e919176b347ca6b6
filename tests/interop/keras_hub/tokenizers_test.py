"""Tokenizers of presets: ids of KerasHub's classes, both ways."""

import json

import keras_hub
import pytest

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers import read_tokenizer as read_hugging_face
from firth.interop.keras_hub.preset import Preset
from firth.interop.keras_hub.tokenizers import read_tokenizer, tokenizer_to_write, written_tokenizer
from firth.tokenizers import (
    BytePairTokenizer,
    SentencePieceTokenizer,
    WordPieceTokenizer,
    train_sentencepiece,
)
from firth.tokenizers.graph.byte_pieces import byte_pieces
from firth.tokenizers.graph.sentencepiece_model import parse_model
from firth.tokenizers.graph.special_pieces import SPECIAL_PIECES, SpecialPieces
from tests.interop.hugging_face.tokenizers.sentence_piece_shapes import SHAPES
from tests.interop.keras_hub import tiny

TEXTS = ["The cats sat, on the mat.", "日本 Tokyo", "a\tb  c\n", "it's 42% don't", "x" * 30, ""]
WORDS = [
    "the",
    "cat",
    "##s",
    "sat",
    "on",
    "mat",
    ",",
    ".",
    "a",
    "b",
    "c",
    "日",
    "本",
    "it",
    "'",
    "s",
    "4",
    "##2",
]
ROWS = 70
ROBERTA = ["<s>", "<pad>", "</s>", "<unk>"]
MERGES = ["Ġ t", "h e", "Ġt he", "c a", "ca t", "Ġ cat"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizers")
    shape = {**tiny.HEADS, "vocabulary_size": ROWS, "num_layers": 1}
    keras_hub.models.DistilBertBackbone(**shape).save_to_preset(str(folder))
    return folder


def ids_of(tokenizer, texts=TEXTS):
    """Ids of all texts, read at once: KerasHub's byte-pair encoding traces a graph for each call."""
    found = tokenizer(texts)
    return found if isinstance(found, list) else found.to_list()


def preset_of(folder, tokenizer) -> Preset:
    tokenizer.save_to_preset(str(folder))
    return Preset(folder)


def roberta_pieces() -> list[str]:
    return [*ROBERTA, *byte_pieces(), *(merge.replace(" ", "") for merge in MERGES), "<mask>"]


@pytest.mark.parametrize("lowercase", [True, False])
def test_word_pieces(folder, lowercase):
    theirs = keras_hub.tokenizers.BertTokenizer(
        [*SPECIAL_PIECES, *WORDS], lowercase=lowercase, strip_accents=lowercase
    )
    ours = read_tokenizer(preset_of(folder, theirs))
    assert isinstance(ours, WordPieceTokenizer) and ours.specials == SpecialPieces()
    assert ids_of(ours) == ids_of(theirs) == ids_of(written_tokenizer(ours, "BertTokenizer"))


def test_accents_that_theirs_keeps(folder):
    theirs = keras_hub.tokenizers.BertTokenizer([*SPECIAL_PIECES, "zoe"], lowercase=True)
    assert ids_of(read_tokenizer(preset_of(folder, theirs)), ["Zoë"]) == [[5]] and ids_of(
        theirs, ["Zoë"]
    ) == [[1]]
    theirs = keras_hub.tokenizers.BertTokenizer([*SPECIAL_PIECES, "zoë"], lowercase=True)
    with pytest.raises(InteropError, match=r"tokenizer.json: config.strip_accents: False .* such as 'zoë'"):
        read_tokenizer(preset_of(folder, theirs))
    theirs = keras_hub.tokenizers.BertTokenizer([*SPECIAL_PIECES, "zoe"], strip_accents=True)
    with pytest.raises(InteropError, match=r"config.strip_accents: True cannot be expressed here without"):
        read_tokenizer(preset_of(folder, theirs))


def test_bytes(folder):
    vocabulary = {piece: index for index, piece in enumerate(roberta_pieces())}
    theirs = keras_hub.tokenizers.RobertaTokenizer(vocabulary, MERGES)
    ours = read_tokenizer(preset_of(folder, theirs))
    assert isinstance(ours, BytePairTokenizer)
    assert ours.specials.by_role == {
        "pad": "<pad>",
        "unk": "<unk>",
        "cls": "<s>",
        "sep": "</s>",
        "mask": "<mask>",
    }
    assert ids_of(ours) == ids_of(theirs)
    written = written_tokenizer(ours, "RobertaTokenizer")
    assert (written.vocabulary, written.merges) == (theirs.vocabulary, theirs.merges)


def test_special_pieces_are_renamed_by_their_roles():
    pieces = [*SPECIAL_PIECES, *byte_pieces(), "Ġt", "he", "Ġthe"]
    ours = BytePairTokenizer(pieces)
    theirs = written_tokenizer(ours, "RobertaTokenizer")
    roles = (theirs.start_token_id, theirs.end_token_id, theirs.pad_token_id, theirs.mask_token_id)
    assert roles == (ours.cls_id, ours.sep_id, ours.pad_id, ours.mask_id)
    # Ours has no merges: the order of its pieces says them.
    assert ours.merges == () and theirs.merges == ["Ġ t", "h e", "Ġt he"]
    # GPT-2 has one piece at both ends of its texts: the one after a text.
    assert written_tokenizer(ours, "GPT2Tokenizer").end_token_id == ours.sep_id


def test_what_a_class_cannot_say():
    pieces = [*SPECIAL_PIECES, *byte_pieces()]
    with pytest.raises(
        InteropError, match=r"tokenizer.kind: 'bpe' cannot be expressed by KerasHub, 'wordpiece' can"
    ):
        written_tokenizer(BytePairTokenizer(pieces), "BertTokenizer")
    with pytest.raises(InteropError, match="has '<s>' as cls piece"):
        written_tokenizer(BytePairTokenizer([*pieces, "ab", "<s>"], merges=["a b"]), "RobertaTokenizer")
    with pytest.raises(InteropError, match=r"tokenizer.sentinels: 1 cannot"):
        written_tokenizer(BytePairTokenizer([*pieces, "<extra_id_0>"]), "RobertaTokenizer")
    with pytest.raises(InteropError, match=r"tokenizer.pattern: 'llama3' cannot .* 'gpt2' can"):
        written_tokenizer(BytePairTokenizer(pieces, pattern="llama3"), "RobertaTokenizer")
    words = [*SPECIAL_PIECES, "the"]
    with pytest.raises(InteropError, match=r"tokenizer.max_word_characters: 50 cannot .* 100 can"):
        written_tokenizer(WordPieceTokenizer(words, max_word_characters=50), "BertTokenizer")
    with pytest.raises(InteropError, match="cleaning: KerasHub's tokenizers bring texts to no form"):
        written_tokenizer(WordPieceTokenizer(words, normalization=[["NFKC"]]), "BertTokenizer")


def test_settings_and_files_that_cannot_be_read(folder):
    preset = preset_of(folder, keras_hub.tokenizers.BertTokenizer([*SPECIAL_PIECES, "the"]))
    content = json.loads((folder / "tokenizer.json").read_text())
    for key, value in (("split", False), ("suffix_indicator", "@@")):
        changed = {**content, "config": {**content["config"], key: value}}
        (folder / "tokenizer.json").write_text(json.dumps(changed))
        with pytest.raises(
            InteropError, match=f"tokenizer.json: config.{key}: {value!r} cannot be expressed"
        ):
            read_tokenizer(preset)
    (folder / "tokenizer.json").write_text(
        json.dumps({**content, "registered_name": "keras_hub>BrtTokenizer"})
    )
    with pytest.raises(InteropError, match="did you mean BertTokenizer"):
        read_tokenizer(preset)
    (folder / "tokenizer.json").write_text(json.dumps(content))
    (folder / "assets" / "tokenizer" / "vocabulary.txt").unlink()
    with pytest.raises(InteropError, match=r"holds no vocabulary.txt"):
        read_tokenizer(preset)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InteropError, match=r"holds no tokenizer.json"):
        read_tokenizer(preset)


@pytest.fixture(scope="module")
def sentences() -> SentencePieceTokenizer:
    """Of our own names, with a sentinel."""
    text = "the cat cats sat on mat , . it's 42 don't 日本 tokyo a b c x"
    words = {word: 9 + len(word) for word in text.split(" ")}
    return SentencePieceTokenizer(train_sentencepiece(words, 60, "unigram", sentinels=1, byte_fallback=False))


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        (
            "AlbertTokenizer",
            {"pad": "<pad>", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"},
        ),
        (
            "DebertaV3Tokenizer",
            {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"},
        ),
        ("LlamaTokenizer", {"pad": "</s>", "unk": "[UNK]", "cls": "<s>", "sep": "</s>"}),
        ("T5Tokenizer", {"pad": "<pad>", "unk": "[UNK]", "cls": "</s>", "sep": "</s>"}),
        (
            "SentencePieceTokenizer",
            {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"},
        ),
    ],
)
def test_sentence_pieces(folder, sentences, name, roles):
    theirs = written_tokenizer(sentences, name)
    again = read_tokenizer(preset_of(folder, theirs))
    assert isinstance(again, SentencePieceTokenizer) and again.specials.by_role == roles
    assert ids_of(sentences) == ids_of(theirs) == ids_of(again)
    assert again.sep_id == sentences.sep_id and len(again.sentinel_ids) == 1
    # What came in goes out byte for byte.
    assert written_tokenizer(again, name).proto == theirs.proto


@pytest.mark.parametrize(
    ("shape", "name", "alike"),
    [
        ("deberta-v2", "DebertaV3Tokenizer", False),
        ("t5", "T5Tokenizer", False),
        ("llama", "LlamaTokenizer", True),
        pytest.param("albert", "AlbertTokenizer", False, marks=pytest.mark.repeated),
    ],
)
def test_sentence_pieces_of_hugging_face(shape, name, alike, tmp_path):
    """Where the steps before the model are its own, its ids are the same; other steps leave it out."""
    (tmp_path / "tokenizer.json").write_text(SHAPES[shape]()[1].to_str())
    ours = read_hugging_face(tmp_path)
    theirs, notes = tokenizer_to_write(ours, name, None)
    assert (theirs is not None, bool(notes)) == (alike, not alike)
    near, notes = tokenizer_to_write(ours, name, "near")
    assert ids_of(near, ["the quick brown fox"]) == ids_of(ours, ["the quick brown fox"])
    assert alike or "steps before the model" in notes[0]


def test_sentence_pieces_with_the_package_s_own_steps_go_along(tmp_path):
    (tmp_path / "spm.model").write_bytes(SHAPES["deberta-v2"]()[0])
    (tmp_path / "config.json").write_text('{"model_type": "deberta-v2"}')
    theirs, notes = tokenizer_to_write(read_hugging_face(tmp_path), "DebertaV3Tokenizer", None)
    assert notes == () and ids_of(theirs) == ids_of(read_hugging_face(tmp_path))


def test_rows_after_the_model_are_the_mask_of_deberta_and_the_sentinels_of_t5(folder, sentences):
    model = parse_model(written_tokenizer(sentences, "T5Tokenizer").proto)
    del model.pieces[-1]
    proto = model.SerializeToString()
    t5 = read_tokenizer(preset_of(folder, keras_hub.tokenizers.T5Tokenizer(proto)))
    assert len(t5.sentinel_ids) == ROWS - len(model.pieces)
    for piece in model.pieces:
        piece.piece = {"[MASK]": "<x>", "</s>": "[SEP]", "<pad>": "[PAD]"}.get(piece.piece, piece.piece)
    theirs = keras_hub.tokenizers.DebertaV3Tokenizer(model.SerializeToString())
    ours = read_tokenizer(preset_of(folder, theirs))
    assert ours.mask_id == theirs.mask_token_id == len(model.pieces)
    (folder / "assets" / "tokenizer" / "vocabulary.spm").write_bytes(b"\xff" * 9)
    with pytest.raises(InteropError, match=r"vocabulary.spm: the bytes are not a model of SentencePiece"):
        read_tokenizer(Preset(folder))
