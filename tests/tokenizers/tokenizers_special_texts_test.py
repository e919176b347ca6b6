"""Text is never read as special pieces, whatever somebody typed, but for those that are asked for by name."""

import json
import pickle

import pytest
import tensorflow as tf

from firth.recipes.corpus.normalization import Normalization
from firth.tokenizers import (
    BytePairTokenizer,
    SentencePieceTokenizer,
    WordPieceTokenizer,
    WordTokenizer,
    load_tokenizer,
    save_tokenizer,
    train_sentencepiece,
)
from firth.tokenizers.graph.byte_pieces import byte_pieces
from firth.tokenizers.graph.special_pieces import SPECIAL_PIECES, SpecialPieces
from firth.tokenizers.graph.vocabulary import sentinel_pieces
from firth.tokenizers.tokenizer_kinds import TOKENIZERS
from tests.repeating import often

END = "<|endoftext|>"
ANGLED = SpecialPieces("<pad>", "<unk>", "<s>", "</s>", "<mask>", others=("<mask>s", "<｜think｜>"))
SENTINELS = sentinel_pieces(2)
NFKC = Normalization(form="NFKC").text_steps
LETTERS = sorted(set("thequickfoxmaskdunclspeidrab_0123/<>|[]MASKUNCLPDEX") - {" "})
FULL_WIDTH = {ord(each): chr(ord(each) + 0xFEE0) for each in map(chr, range(0x21, 0x7F))}


def word_pieces(specials, lowercase):
    characters = [*LETTERS, *(f"##{letter}" for letter in LETTERS if letter.isalnum()), "｜", "<mask", "mask"]
    pieces = dict.fromkeys([*specials.pieces, *characters, *SENTINELS])
    return lambda **more: WordPieceTokenizer(list(pieces), lowercase, specials=specials, **more)


def byte_pairs(specials, **settings):
    pieces = dict.fromkeys(
        [*specials.pieces, *byte_pieces(), "MA", "SK", "MASK", "Ġ<", "s>", "<s", *SENTINELS]
    )
    return lambda **more: BytePairTokenizer(list(pieces), specials=specials, **settings, **more)


def sentence_pieces(model, **settings):
    words = {"fox": 9, "foxes": 5, "the": 20, "[MASK]": 30, "<extra_id_0>": 30, "[cls]": 30, "[UNK]": 30}
    words |= dict.fromkeys([*SPECIAL_PIECES, *LETTERS, "＜", *SENTINELS], 1)
    trained = train_sentencepiece(words, 400 if "byte_fallback" in settings else 90, model, 2, **settings)
    lowercase = settings.get("lowercase", False)
    return lambda **more: SentencePieceTokenizer(trained, lowercase, **more)


BERT, GPT2 = SpecialPieces(), SpecialPieces(END, None, END, END, None, spaces_before="none")
MADE = {
    "wordpiece": lambda: word_pieces(BERT, True),
    "wordpiece, cased": lambda: word_pieces(ANGLED, False),
    "bpe": lambda: byte_pairs(BERT),
    "bpe, gpt2": lambda: byte_pairs(GPT2),
    "bpe, llama3": lambda: byte_pairs(ANGLED, pattern="llama3", whole_words=True),
    "sentencepiece": lambda: sentence_pieces("unigram"),
    "sentencepiece, lowercase": lambda: sentence_pieces("unigram", lowercase=True),
    "sentencepiece, bpe": lambda: sentence_pieces("bpe", byte_fallback=True),
    "words": lambda: lambda **more: WordTokenizer(["<S>", "</S>", "<UNK>", "the", "fox", "S"], **more),
}
# The first of each kind, and another.
FEW = [name for name in MADE if "," not in name] + ["bpe, llama3"]


def typed(piece):
    """Texts with a special piece: alone, inside a word, repeated, full-width, in other case."""
    wide = piece.translate(FULL_WIDTH)
    forms = [piece, wide, piece.swapcase(), piece.lower(), piece.upper(), piece[:1] + wide[1:]]
    forms += [f"{piece[:2]}\u200b{piece[2:]}", f"{piece[:-1]}\x00{piece[-1:]}"]
    return [
        text
        for each in forms
        for text in (each, f"fo{each}x", f"the {each} fox", each * 3, f"{each} {each}", f" {each}\n{each} ")
    ]


@pytest.fixture(scope="module", params=often(MADE, FEW))
def made(request):
    """A function that makes a tokenizer, texts with its special pieces, and if it is its kind's first."""
    make = MADE[request.param]()
    texts = [text for piece in make().special_pieces for text in typed(piece)]
    return make, texts, "," not in request.param


def test_each_kind_is_here():
    assert {each.partition(",")[0] for each in MADE} == set(TOKENIZERS)


@pytest.mark.parametrize("normalization", [(), NFKC])
def test_no_text_becomes_a_special_piece(made, normalization, tmp_path):
    make, texts, is_first = made
    tokenizer = make(normalization=normalization)
    expected = tokenizer.tokenize(texts).to_list()
    # Text that no piece covers is unknown, whatever it is; these kinds cover all of it.
    unknown = [tokenizer.specials.by_role.get("unk")] if hasattr(tokenizer, "specials") else ["<UNK>"]
    covered = tokenizer.kind == "bpe" or "<0x41>" in tokenizer.get_vocabulary()
    names = [name for name in tokenizer.special_pieces if covered or name not in unknown]
    special = {tokenizer.token_to_id(name): name for name in names}
    found = [(text, special[id]) for text, ids in zip(texts, expected) for id in ids if id in special]
    assert found == []
    if tokenizer.kind != "words":
        assert tokenizer.specials.unk is None or tokenizer.unk_id not in tokenizer.tokenize(unknown[0])
    one_by_one = [tokenizer.tokenize(text, normalized=not normalization) for text in texts[:40:4]]
    assert [each.numpy().tolist() for each in one_by_one] == expected[:40:4]
    if not normalization:
        # The graph with the steps below has all of this one.
        return
    if not is_first:
        # In tf.data; the first of its kind is saved instead.
        # `word_piece_test` has AutoGraph read a tokenizer, which takes longer than these texts do.
        tokenize = tf.autograph.experimental.do_not_convert(tokenizer.tokenize)
        of_data = tf.data.Dataset.from_tensor_slices(texts).map(tokenize)
        assert [row.tolist() for row in of_data.as_numpy_iterator()] == expected
        return
    module = tf.Module()
    module.tokenizer, module.kernel = tokenizer, tokenizer.kernel
    signature = [tf.TensorSpec([None], tf.string)]
    module.ids = tf.function(
        lambda texts: tokenizer.tokenize(texts).to_tensor(-1), signature, autograph=False
    )
    tf.saved_model.save(module, str(tmp_path / "saved"))
    in_graph = tf.saved_model.load(str(tmp_path / "saved")).ids(tf.constant(texts)).numpy()
    assert [[id for id in row if id >= 0] for row in in_graph.tolist()] == expected


def test_a_piece_that_is_asked_for_is_found_and_no_other(made, tmp_path):
    make, *_ = made
    tokenizer = make()
    for piece in tokenizer.special_pieces:
        other = next(
            (each for each in tokenizer.special_pieces if each not in piece and piece not in each), ""
        )
        text = f"the {piece} fox {other}"
        ids = tokenizer.tokenize(text, specials=[piece]).numpy().tolist()
        special = [each for each in ids if each in set(tokenizer.special_ids)]
        assert special.count(tokenizer.token_to_id(piece)) >= 1
        assert not other or tokenizer.kind == "words" or tokenizer.token_to_id(other) not in ids
    asking = make(special_texts=[piece])
    digest = save_tokenizer(asking, tmp_path / "saved")
    assert digest != tokenizer.digest
    settings = json.loads(json.dumps(asking.get_config()))
    again = (load_tokenizer(tmp_path / "saved", digest), pickle.loads(pickle.dumps(asking)))
    for each in (*again, type(asking).from_config(settings)):
        assert each.special_texts == (piece,)
        assert each.tokenize(text).numpy().tolist() == ids
    with pytest.raises(ValueError, match=r"special_texts.*fox"):
        make(special_texts=["fox"])
    with pytest.raises(ValueError, match=r"special_texts.*fox"):
        tokenizer.tokenize("fox", specials=["fox"])
