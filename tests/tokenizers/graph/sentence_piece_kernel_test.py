import pytest
import tensorflow as tf

from firth.tokenizers import train_sentencepiece
from firth.tokenizers.graph.sentence_piece_kernel import SentencePieceKernel
from firth.tokenizers.graph.sentencepiece_model import parse_model
from firth.tokenizers.graph.text_steps import Preparation

MODEL = train_sentencepiece({"the": 50, "them": 20, "then": 20, "other": 10, "mother": 10}, 22, "bpe")
PIECES = [piece.piece for piece in parse_model(MODEL).pieces]


def pieces_of(text, spaces_before="one", alone=("[CLS]", "[UNK]"), **preparation):
    made = Preparation(**{"steps": [("own_map",)], **preparation})
    kernel = SentencePieceKernel(MODEL, made, alone, ["[MASK]"], spaces_before)
    return [PIECES[id] for id in kernel(tf.constant([text]), asked=[*alone, "[MASK]"])[0].numpy()]


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("first", ["▁the", "[MASK]", "m", "[CLS]", "▁other"]),
        ("always", ["▁the", "[MASK]", "▁m", "[CLS]", "▁other"]),
        ("never", ["the", "[MASK]", "m", "[CLS]", "▁other"]),
    ],
)
def test_texts_that_get_a_space_before_them(prefix, expected):
    assert pieces_of("the [MASK]m[CLS] other", prefix=prefix) == expected


@pytest.mark.parametrize(("spaces", "kept"), [("none", 3), ("one", 2), ("all", 0)])
def test_spaces_before_a_special_piece(spaces, kept):
    assert pieces_of("the \t [MASK]", spaces) == ["▁the", *["▁"] * kept, "[MASK]"]


def test_unknown_text_next_to_the_unknown_piece():
    assert pieces_of("中[UNK]中", prefix="never") == ["[UNK]"] * 3


def test_late_pieces_are_found_in_what_the_steps_make():
    assert pieces_of("the ［CLS］", late=["[CLS]"]) == ["▁the", "▁", "[CLS]"]
    assert pieces_of("<c>the", steps=[("<c>", "[CLS]")], late=["[CLS]"]) == ["[CLS]", "the"]
    assert pieces_of("[MASK]<c>", steps=[("<c>", "[CLS]")], late=["[CLS]"]) == ["[MASK]", "[CLS]"]


def test_the_longer_of_two_that_begin_alike():
    kernel = SentencePieceKernel(MODEL, Preparation(), ["the", "them", "[SEP]"])
    assert [
        PIECES[id] for id in kernel(tf.constant(["themthe[SEP]"]), asked=["the", "them", "[SEP]"])[0].numpy()
    ][-1] == "[SEP]"


def test_another_prefix_is_refused():
    with pytest.raises(ValueError, match="'last' is not one of first, always, never"):
        Preparation(prefix="last")


class Exported(tf.Module):
    """A kernel with a signature, to be saved."""

    def __init__(self, model):
        super().__init__()
        self.kernel = SentencePieceKernel(model, Preparation.of_model(model), ["[CLS]"])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)], autograph=False)
    def ids(self, text):
        return self.kernel(text, asked=["[CLS]"]).to_tensor(-1)


@pytest.mark.repeated
def test_the_two_kernels_of_a_saved_graph_keep_apart(tmp_path):
    module, texts = Exported(MODEL), tf.constant(["the\0 [CLS]the ﬁ ", ""])
    tf.saved_model.save(module, str(tmp_path / "saved"))
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    assert loaded.ids(texts).numpy().tolist() == module.ids(texts).numpy().tolist()
