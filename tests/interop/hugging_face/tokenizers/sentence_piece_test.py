"""SentencePiece in Hugging Face's formats: the older files, and what is refused."""

import base64
import itertools
import json

import pytest
import sentencepiece
import tokenizers

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers import read_tokenizer, write_tokenizer
from firth.tokenizers import SentencePieceTokenizer, train_sentencepiece
from firth.tokenizers.graph.sentencepiece_model import parse_model
from firth.tokenizers.graph.text_steps import Preparation
from tests.interop.hugging_face.tokenizers.lines import SAMPLE, hostile_lines
from tests.interop.hugging_face.tokenizers.sentence_piece_ids_test import shape, without_ties
from tests.interop.hugging_face.tokenizers.sentence_piece_shapes import MODEL_FILES, write
from tests.interop.hugging_face.tokenizers.trained import ids_of, named_ids

MASK = {"content": "[MASK]", "special": True}
CLASSES = {
    "albert": {"tokenizer_class": "AlbertTokenizer"},
    "xlnet": {"tokenizer_class": "XLNetTokenizer"},
    "deberta-v2": {"tokenizer_class": "DebertaV2Tokenizer", "added_tokens_decoder": {"103": MASK}},
    "t5": {"tokenizer_class": "T5Tokenizer", "extra_ids": 5},
    "llama": {"tokenizer_class": "LlamaTokenizer"},
}


def write_model(folder, name, **settings):
    (folder / MODEL_FILES.get(name, "spiece.model")).write_bytes(shape(name)[0])
    (folder / "tokenizer_config.json").write_text(json.dumps({**CLASSES[name], **settings}))
    return folder


def test_a_setting_that_is_null_is_a_setting_that_is_missing(tmp_path):
    assert named_ids(read_tokenizer(write_model(tmp_path, "llama", legacy=None)), ["the</s>fox"]) == (
        ids_of(shape("llama")[1], ["the</s>fox"])
    )


@pytest.mark.parametrize("name", ["deberta-v2", pytest.param("t5", marks=pytest.mark.repeated), "llama"])
def test_models_without_tokenizer_json(name, tmp_path):
    """Ids equal those of the sentencepiece package, and special pieces are those of `tokenizer.json`."""
    ours = read_tokenizer(write_model(tmp_path, name))
    lines = [line.replace("\0", "") for line in hostile_lines(5000, ["<q>"])]
    expected = sentencepiece.SentencePieceProcessor(model_proto=shape(name)[0]).encode(lines)
    others, ties = without_ties(ours, lines, named_ids(ours, lines), expected)
    assert [(ascii(line), mine, other) for line, mine, other in others] == []
    assert ties < 250
    typed = ["[MASK] a", "the<extra_id_3> fox", "a</s>b", "[CLS]the"]
    assert named_ids(ours, typed) == ids_of(shape(name)[1], typed)


@pytest.mark.parametrize("name", ["albert", pytest.param("xlnet", marks=pytest.mark.repeated)])
def test_models_whose_class_changes_text(name, tmp_path):
    texts = ["``The'' Café  is [MASK] a\tplace", "Ünï </s> Words"]
    ours = read_tokenizer(write_model(tmp_path, name))
    assert named_ids(ours, texts) == ids_of(shape(name)[1], texts)
    kept = read_tokenizer(write_model(tmp_path, name, keep_accents=True, do_lower_case=False))
    package = sentencepiece.SentencePieceProcessor(model_proto=shape(name)[0])
    assert kept.tokenize("Café Ünï").numpy().tolist() == package.encode("Café Ünï")


@pytest.mark.parametrize("settings", [{"do_lower_case": False, "vocab_type": "spm"}, None])
def test_deberta_with_its_model_alone_gets_a_mask_after_all_pieces(settings, tmp_path):
    (tmp_path / "spm.model").write_bytes(shape("deberta-v2")[0])
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "deberta-v2"}))
    if settings is not None:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    ours, theirs = read_tokenizer(tmp_path), shape("deberta-v2")[1]
    assert ours.mask_id == theirs.token_to_id("[MASK]") == ours.vocabulary_size() - 1
    assert named_ids(ours, ["a [MASK] fox"]) == ids_of(theirs, ["a [MASK] fox"])


@pytest.mark.parametrize("name", [pytest.param("albert", marks=pytest.mark.repeated), "xlnet"])
def test_pieces_that_somebody_has_defined_go_out(name, tmp_path):
    """They win over all others wherever they are found, in the sentencepiece package and there."""
    model = parse_model(shape(name)[0])
    defined = [piece for piece in model.pieces if len(piece.piece) > 1 and piece.type == 1][3:40:4]
    for piece in defined:
        piece.type = 4
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "spiece.model").write_bytes(model.SerializeToString())
    (tmp_path / "in" / "tokenizer_config.json").write_text(json.dumps(CLASSES[name]))
    ours = read_tokenizer(tmp_path / "in")
    (tmp_path / "out").mkdir()
    write_tokenizer(ours, tmp_path / "out", name)
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "out" / "tokenizer.json"))
    # Letters with marks are another exception, and dots may be split in two ways that are as good.
    lines = [line for line in SAMPLE.splitlines() if line.isascii() and ".." not in line]
    found = ours.tokenize(lines).to_list()
    used = {piece for line in found for piece in line}
    assert len(used & {ours.token_to_id(piece.piece) for piece in defined}) > 1
    assert ids_of(theirs, lines) == found
    assert read_tokenizer(tmp_path / "out").tokenize(lines).to_list() == found


@pytest.mark.parametrize(("name", "file"), [("t5", "spiece.model"), ("llama", "tokenizer.model")])
def test_a_model_file_is_written_as_it_was_read(name, file, tmp_path):
    (tmp_path / "from").mkdir()
    (tmp_path / "to").mkdir()
    ours = read_tokenizer(write_model(tmp_path / "from", name))
    assert file in write_tokenizer(ours, tmp_path / "to", name)
    written = parse_model((tmp_path / "to" / file).read_bytes())
    assert written == parse_model(shape(name)[0])


def test_no_model_file_where_the_package_reads_text_otherwise(tmp_path):
    (tmp_path / "to").mkdir()
    ours = read_tokenizer(write_model(tmp_path, "albert"))
    assert "spiece.model" not in write_tokenizer(ours, tmp_path / "to", "albert")
    texts = ["``The''  Café\x1c is \t [MASK] a\u3000place\x85", "Ünï [SEP] Words "]
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "to" / "tokenizer.json"))
    assert ids_of(theirs, texts) == named_ids(ours, texts)
    assert named_ids(read_tokenizer(tmp_path / "to"), texts) == named_ids(ours, texts)


def test_a_model_that_is_not_legacy_gets_one_space(tmp_path):
    ours = read_tokenizer(write_model(tmp_path, "llama", legacy=False))
    texts = ["<s>the fox", "the</s>fox"]
    assert named_ids(ours, texts) == ids_of(shape("llama, not legacy")[1], texts)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("deberta-v2", {"split_by_punct": True}, "split_by_punct: True cannot be expressed"),
        ("t5", {"unk_token": "</s>"}, "unk_token: '</s>' is not the unknown piece of the model, '<unk>'"),
        ("t5", {"add_prefix_space": False}, "add_prefix_space: False cannot be expressed"),
        (
            "deberta-v2",
            {"added_tokens_decoder": {"105": MASK}},
            r"spm.model: added_tokens: '\[MASK\]' has the id 105; there is no piece of id 103",
        ),
        (
            "deberta-v2",
            {"added_tokens_decoder": {"7": MASK}},
            r"added_tokens: '\[MASK\]' has the id 7, as has the piece",
        ),
    ],
)
def test_settings_that_are_refused(name, settings, message, tmp_path):
    with pytest.raises(InteropError, match=message):
        read_tokenizer(write_model(tmp_path, name, **settings))


@pytest.mark.parametrize("size", [0, 7, 1000, 3000])
def test_a_truncated_model(size, tmp_path):
    file = write_model(tmp_path, "t5") / "spiece.model"
    file.write_bytes(shape("t5")[0][:size])
    with pytest.raises(InteropError, match=r"spiece\.model: .*(not a model|whole\?)"):
        read_tokenizer(tmp_path)


def content_of(name):
    return json.loads(shape(name)[1].to_str())


def changed(name, part, **values):
    return {part: {**content_of(name)[part], **values}}


VOCABULARY = content_of("t5")["model"]["vocab"]
MERGES = content_of("llama")["model"]["merges"]
# The first of two pairs that make the same piece.
TWICE = next(one for one, other in itertools.pairwise(MERGES) if "".join(one) == "".join(other))
FEWER = [pair for pair in MERGES if pair != TWICE]


@pytest.mark.parametrize(
    ("name", "part", "values", "message"),
    [
        ("t5", "model", {"vocab": [piece for piece, _ in VOCABULARY]}, r"vocab\[0\]: '<pad>' is not a piece"),
        ("t5", "model", {"vocab": [*VOCABULARY, ["new"]]}, r"\['new'\] is not a piece with its score"),
        ("t5", "model", {"vocab": [*VOCABULARY, ["</s>", 0.0]]}, r"'</s>' is model.vocab\[1\] too"),
        ("t5", "model", {"vocab": {}}, "model.vocab: must be a list of pieces with their scores"),
        ("t5", "model", {"vocab": VOCABULARY[:9]}, "model.vocab: ids are not 0 to"),
        ("t5", "model", {"unk_id": None}, "model.unk_id: None is not the id of a piece"),
        ("t5", "model", {"unk_id": 9000}, "model.unk_id: 9000 is not the id of a piece"),
        ("t5", "model", {"byte_fallback": True}, "byte_fallback: True, but '<0x00>' is not in model.vocab"),
        ("t5", "model", {"type": "Unigrams"}, "model.type: 'Unigrams' cannot be read; did you mean Unigram"),
        ("t5", "pre_tokenizer", {"type": "Punctuation"}, "pre_tokenizer: Punctuation cannot be expressed"),
        ("llama", "model", {"dropout": 0.1}, "model.dropout: 0.1 cannot be expressed"),
        ("llama", "model", {"ignore_merges": True}, "model.ignore_merges: True cannot be expressed"),
        ("llama", "model", {"unk_token": "?!"}, r"model.unk_token: '\?!' is not in model.vocab"),
        (
            "llama",
            "model",
            {"merges": FEWER},
            "by SentencePiece, and by no merge",
        ),
        ("llama", "model", {"merges": [*MERGES, ["a", "qqq"]]}, "is not two pieces that make another"),
        ("llama", "model", {"merges": [*MERGES, MERGES[0]]}, "is made by an earlier merge too"),
        ("llama", "model", {"vocab": []}, "model.vocab: must be a mapping"),
        ("deberta-v2", "normalizer", {"normalizers": [{"type": "Nmt"}]}, "normalizer.type: 'Nmt' cannot"),
        (
            "deberta-v2",
            "normalizer",
            {"normalizers": [{"type": "Precompiled", "precompiled_charsmap": "no base 64"}]},
            "tokenizer.json: normalizer.precompiled_charsmap: is not base 64",
        ),
        (
            "deberta-v2",
            "normalizer",
            {"normalizers": [{"type": "Replace", "pattern": {"Regex": "a(?!b)"}, "content": ""}]},
            "normalizer.pattern.Regex: .* cannot be expressed",
        ),
        (
            "deberta-v2",
            "normalizer",
            {"normalizers": [{"type": "Lowercase"}]},
            r"'\[UNK\]': normalized: True cannot be expressed here: the normalizer makes '\[unk\]' of it",
        ),
    ],
)
def test_a_tokenizer_json_that_is_refused(name, part, values, message, tmp_path):
    with pytest.raises(InteropError, match=message):
        read_tokenizer(write(tmp_path, shape(name)[1], **changed(name, part, **values)))


@pytest.mark.parametrize("mark", ["single_word", "rstrip"])
def test_added_tokens_that_are_refused(mark, tmp_path):
    tokens = content_of("t5")["added_tokens"]
    with pytest.raises(InteropError, match=f"added_tokens: '<pad>': {mark}: True cannot be expressed"):
        read_tokenizer(write(tmp_path, shape("t5")[1], added_tokens=[{**tokens[0], mark: True}, *tokens[1:]]))


def test_a_map_that_is_no_map(tmp_path):
    broken = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(b"abc").decode()}
    with pytest.raises(InteropError, match=r"normalizer\.precompiled_charsmap: is not a map of characters"):
        read_tokenizer(write(tmp_path, shape("t5")[1], normalizer=broken))


def own(**settings):
    model = settings.pop("model", None) or train_sentencepiece({"fox": 9, "the": 20, "box": 4}, 24, "unigram")
    return SentencePieceTokenizer(model, **settings)


def test_what_cannot_be_written(tmp_path):
    words = {"fox": 9, "the": 20}
    bytes_of_unigram = train_sentencepiece(words, 280, "unigram", byte_fallback=True)
    made = parse_model(train_sentencepiece(words, 20, "bpe"))
    made.pieces[-1].type = 4
    for tokenizer, message in [
        (own(normalization=[["NFC"]]), "normalization: SentencePiece's own steps"),
        (own(model=bytes_of_unigram), "byte_fallback: a unigram model reads text such as <0x41>"),
        (own(model=made.SerializeToString()), "of the type USER_DEFINED cannot be expressed"),
        (own(preparation=Preparation([("NFC",)])), "one space before a special piece"),
        (own(preparation=Preparation([("a+", "b"), (r" +\z", "")])), "the step from 'a[+]' to 'b'"),
    ]:
        with pytest.raises(InteropError, match=message):
            write_tokenizer(tokenizer, tmp_path)


def test_a_word_that_was_added_is_read_in_a_text_and_a_special_piece_is_not(tmp_path):
    theirs = tokenizers.Tokenizer.from_str(shape("deberta-v2")[1].to_str())
    theirs.add_tokens([tokenizers.AddedToken("<q>", normalized=False)])
    for name in ("in", "out"):
        (tmp_path / name).mkdir()
    ours = read_tokenizer(write(tmp_path / "in", theirs))
    texts = ["the <q> fox", "a<q>brown <q>"]
    assert ours.special_texts == ("<q>",)
    assert ours.tokenize(texts).to_list() == ids_of(theirs, texts, splits=True)
    write_tokenizer(ours, tmp_path / "out")
    again = read_tokenizer(tmp_path / "out")
    assert (again.digest, again.special_texts) == (ours.digest, ("<q>",))
