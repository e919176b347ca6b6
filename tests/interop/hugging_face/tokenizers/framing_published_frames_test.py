"""The special tokens that a published tokenizer puts around texts are compared with ours."""

import json

import pytest

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers import frame_notes, read_tokenizer, write_tokenizer
from firth.tokenizers import WordPieceTokenizer
from tests.interop.hugging_face.checkpoints import PIECES

CLS_SEP = {"cls": ["[CLS]", 2], "sep": ["[SEP]", 3]}
BERT = {"type": "BertProcessing", **CLS_SEP}
ROBERTA = {"type": "RobertaProcessing", "trim_offsets": True, **CLS_SEP}
LEVEL = {"type": "ByteLevel", "trim_offsets": True}
SINGLE, PAIR = "a text A", "two texts A and B"


def notes(folder, model_type, processor="as written", **settings):
    """The notes of a tokenizer that is written for a family, and then has another frame."""
    write_tokenizer(WordPieceTokenizer(PIECES), folder, model_type)
    changes = {"tokenizer_config.json": settings}
    if processor != "as written":
        changes["tokenizer.json"] = {"post_processor": processor}
    for name, changed in changes.items():
        said = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps({**said, **changed}))
    return list(frame_notes(folder, model_type, read_tokenizer(folder)))


@pytest.mark.parametrize(
    ("model_type", "processor", "settings"),
    [
        *((name, "as written", {}) for name in ("bert", "distilbert", "roberta", "xlnet", "t5", "llama")),
        ("bert", BERT, {}),
        ("roberta", ROBERTA, {}),
        ("roberta", {"type": "Sequence", "processors": [LEVEL, ROBERTA]}, {}),
        ("gpt2", None, {}),
        ("gpt2", LEVEL, {"add_bos_token": False}),
        ("llama", None, {"add_bos_token": True, "add_eos_token": False}),
        ("llama", "as written", {"add_bos_token": None}),
        # No class of this family reads it.
        ("bert", BERT, {"add_bos_token": False}),
    ],
)
def test_equal_frames_give_no_note(model_type, processor, settings, tmp_path):
    assert notes(tmp_path, model_type, processor, **settings) == []


@pytest.mark.parametrize(
    ("model_type", "processor", "settings", "single", "pair"),
    [
        ("bert", None, {}, ("A", "[CLS] A [SEP]"), ("A B:1", "[CLS] A [SEP] B:1 [SEP]:1")),
        ("bert", ROBERTA, {}, None, ("[CLS] A [SEP] [SEP] B [SEP]", "[CLS] A [SEP] B:1 [SEP]:1")),
        ("roberta", BERT, {}, None, ("[CLS] A [SEP] B [SEP]", "[CLS] A [SEP] [SEP] B [SEP]")),
        ("gpt2", LEVEL, {"add_bos_token": True}, ("[CLS] A", "A"), ("[CLS] A [CLS] B", "A B")),
        (
            "llama",
            "as written",
            {"add_eos_token": True},
            ("[CLS] A [SEP]", "[CLS] A"),
            ("[CLS] A [SEP] [CLS] B [SEP]", "[CLS] A [CLS] B"),
        ),
    ],
)
def test_other_frames_are_noted(model_type, processor, settings, single, pair, tmp_path):
    expected = [
        f"the published tokenizer makes {each[0]!r} of {texts}, here {each[1]!r}, since a model's objective "
        "decides the frame here"
        for texts, each in ((SINGLE, single), (PAIR, pair))
        if each
    ]
    assert notes(tmp_path, model_type, processor, **settings) == expected


def test_older_files_have_the_familys_frame_but_for_the_keys(tmp_path):
    (tmp_path / "vocab.txt").write_text("\n".join(PIECES))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"add_bos_token": False}))
    ours = read_tokenizer(tmp_path)
    assert list(frame_notes(tmp_path, "bert", ours)) == []
    assert [note.split(",")[0] for note in frame_notes(tmp_path, "llama", ours)] == [
        f"the published tokenizer makes 'A' of {SINGLE}",
        f"the published tokenizer makes 'A B' of {PAIR}",
    ]


def test_what_cannot_be_read_is_refused_by_its_key(tmp_path):
    with pytest.raises(InteropError, match=r"post_processor\.type: 'BertProcesing' .*did you mean BertProc"):
        notes(tmp_path, "bert", {**BERT, "type": "BertProcesing"})
    with pytest.raises(InteropError, match="post_processor: BertProcessing without 'cls'"):
        notes(tmp_path, "bert", {"type": "BertProcessing"})
    with pytest.raises(InteropError, match="more than one part frames"):
        notes(tmp_path, "bert", {"type": "Sequence", "processors": [BERT, ROBERTA]})
