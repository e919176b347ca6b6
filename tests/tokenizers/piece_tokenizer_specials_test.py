"""Special pieces by their roles: other names, shared pieces, missing ones."""

import json
import pickle

import pytest
import tensorflow as tf

from firth import features
from firth.objectives import OBJECTIVES
from firth.recipes import load_recipe
from firth.serving.signatures import text_signatures
from firth.tokenizers import BytePairTokenizer, WordPieceTokenizer, load_tokenizer, save_tokenizer
from firth.tokenizers.graph.byte_pieces import byte_pieces
from firth.tokenizers.graph.special_pieces import SPECIAL_PIECES, MissingPieceError, SpecialPieces
from tests.objectives.rows import row

END = "<|endoftext|>"
GPT2 = SpecialPieces(END, None, END, END, None, spaces_before="none")
ROBERTA = SpecialPieces("<pad>", "<unk>", "<s>", "</s>", "<mask>", spaces_before="all")
WORDS = ["the", "qu", "##ick", "fox", ".", "<", ">", "s", "mask", "[", "]", "cls", "/"]


def of_gpt2():
    return BytePairTokenizer([*byte_pieces(), "Ġf", "ox", "Ġfox", END], specials=GPT2)


def of_roberta(spaces="all"):
    specials = SpecialPieces.of({**ROBERTA.settings["specials"], "spaces_before": spaces})
    pieces = ["<s>", "<pad>", "</s>", "<unk>", *byte_pieces(), "Ġf", "ox", "Ġfox", "<mask>"]
    return BytePairTokenizer(pieces, specials=specials)


def of_wordpiece(**changes):
    specials = SpecialPieces(**{**ROBERTA.settings["specials"], "others": ("<mask>s",), **changes})
    return WordPieceTokenizer([*specials.pieces, *WORDS], specials=specials)


def spelled(tokenizer, text):
    found = tokenizer.tokenize(text, specials=tokenizer.special_pieces)
    return [tokenizer.id_to_token(id) for id in found.numpy()]


def test_special_pieces_that_are_asked_for_are_found_by_their_own_names():
    assert spelled(of_gpt2(), f"fox{END} fox [MASK]")[:4] == ["f", "ox", END, "Ġfox"]
    assert spelled(of_roberta(), "<s> fox</s>") == ["<s>", "Ġfox", "</s>"]
    found = spelled(of_wordpiece(), "<S> the<mask><s><mask>s [CLS]<mask>")
    assert found == ["<", "s", ">", "the", "<mask>", "<s>", "<mask>s", "[", "cls", "]", "<mask>"]


@pytest.mark.parametrize(("spaces", "before"), [("all", []), ("one", ["Ġ", "Ċ"]), ("none", ["Ġ", "Ċ", "Ġ"])])
def test_a_mask_includes_spaces_before_it_as_it_is_said(spaces, before):
    assert spelled(of_roberta(spaces), "fox \n <mask> fox") == ["f", "ox", *before, "<mask>", "Ġfox"]


def test_ids_by_role():
    gpt2, roberta = of_gpt2(), of_roberta()
    last = gpt2.vocabulary_size() - 1
    assert [gpt2.pad_id, gpt2.cls_id, gpt2.sep_id, gpt2.special_ids] == [last, last, last, (last,)]
    assert [roberta.cls_id, roberta.pad_id, roberta.sep_id, roberta.unk_id] == [0, 1, 2, 3]
    assert roberta.special_ids == (1, 3, 0, 2, roberta.mask_id)
    assert roberta.mask_token == "<mask>"


@pytest.mark.parametrize("role", ["mask", "unk"])
def test_a_missing_role_is_an_error_that_names_it(role):
    with pytest.raises(MissingPieceError, match=rf"no {role} piece; its special pieces are <\|endoftext\|>"):
        getattr(of_gpt2(), f"{role}_id")


def test_a_shared_piece_of_padding_is_text():
    padded = of_roberta().tokenize("<pad>fox<pad>", specials=["<pad>"])
    assert of_roberta().detokenize(padded).numpy() == b"fox"
    text = f"fox{END} fox".encode()
    assert of_gpt2().detokenize(of_gpt2().tokenize(text, specials=[END])).numpy() == text


@pytest.mark.parametrize("make", [of_gpt2, of_roberta, of_wordpiece])
def test_saved_pickled_and_configured(make, tmp_path):
    tokenizer, texts = make(), ["the fox <mask> <s> <|endoftext|>", "[MASK] quick"]
    digest = save_tokenizer(tokenizer, tmp_path / "saved")
    others = (
        load_tokenizer(tmp_path / "saved", digest),
        pickle.loads(pickle.dumps(tokenizer)),
        type(tokenizer).from_config(json.loads(json.dumps(tokenizer.get_config()))),
    )
    for other in others:
        assert (other.specials, other.digest) == (tokenizer.specials, tokenizer.digest)
        assert other.tokenize(texts).to_list() == tokenizer.tokenize(texts).to_list()


def test_roles_are_in_the_digest_where_they_are_not_the_usual_ones():
    pieces = [*SPECIAL_PIECES, "fox"]
    usual, swapped = (WordPieceTokenizer(pieces, specials=each) for each in (None, {"cls": "[SEP]"}))
    assert usual.digest == WordPieceTokenizer(pieces, specials=SpecialPieces()).digest != swapped.digest
    assert "specials" not in usual.settings


@pytest.mark.parametrize(
    ("specials", "message"),
    [
        ({"mark": "<mask>"}, "'mark' is not a key; the nearest is 'mask'"),
        ({"mask": "<mask>"}, "the vocabulary has no <mask>"),
        ({"sep": None}, "sep: there is no piece for it"),
        ({"pad": "a\nb"}, "without line breaks"),
        ({"others": ["[MASK]"]}, "is there twice, or has a role"),
        ({"spaces_before": "two"}, "'two' is not one of one, all, none"),
        ({"unk": None}, "no unk piece"),
    ],
)
def test_bad_roles_are_refused(specials, message):
    with pytest.raises(ValueError, match=message):
        WordPieceTokenizer([*SPECIAL_PIECES, "fox"], specials=specials)


def test_an_objective_without_its_piece_is_refused_by_name():
    recipe = load_recipe("bert_tiny")
    with pytest.raises(ValueError, match="masked_lm cannot be made: the tokenizer has no mask piece"):
        OBJECTIVES["masked_lm"](recipe.objective, recipe.sequences, of_gpt2())


def test_padding_is_told_by_documents_where_its_piece_is_shared():
    recipe, tokenizer = load_recipe("gpt2_tiny"), of_gpt2()
    made = OBJECTIVES["causal_lm"](recipe.objective, recipe.sequences, tokenizer)
    tokens = tokenizer.tokenize(f"fox{END} fox", specials=[END]).numpy().tolist()
    rows = row(tokens, [len(tokens)], [1], made.raw_length, recipe.sequences.max_documents)
    found = made(rows, rows, tf.constant([1, 2]))
    size = len(tokens) + 1
    assert found[features.TOKEN_IDS].numpy()[:size].tolist() == [tokenizer.cls_id, *tokens]
    assert set(found[features.TOKEN_IDS].numpy()[size:].tolist()) == {tokenizer.pad_id}
    assert found[features.DOCUMENT_IDS].numpy().tolist()[: size + 1] == [*[1] * size, 0]
    assert found[features.LABEL_WEIGHTS].numpy().sum() == size


def test_signatures_speak_of_the_tokenizer_s_mask():
    recipe = load_recipe("bert_tiny")
    described = text_signatures(recipe, "<mask>")["fill_mask"].describe()
    assert (described["needs"], described["example"]["text"]) == ("<mask>", "The <mask> of the house.")
    assert "<mask>" in described["answer"]["lines"] and "[MASK]" not in json.dumps(described)
    with pytest.raises(ValueError, match="fill_mask: each text needs a piece"):
        text_signatures(recipe, None)


def test_ordinary_pieces_are_what_words_fall_into():
    pieces = [*byte_pieces(), "Ġf", "ox", "Ġfox", END]
    assert BytePairTokenizer(pieces, specials=GPT2).ordinary_ids == [256, 257, 258]
    word_pieces = WordPieceTokenizer(
        [*SPECIAL_PIECES[:4], "[unused0]", SPECIAL_PIECES[4], "[unused1]", "fox"]
    )
    assert word_pieces.ordinary_ids == [7]
