"""BART's corruptions: each alone, over many seeds, and all of them together."""

import itertools

import numpy as np
import pytest

from firth.objectives import OBJECTIVES
from firth.recipes.objectives.denoising import Denoising
from firth.recipes.tokenizers.tokenizer import Sequences
from tests.objectives.rows import make_batch
from tests.objectives.words import documents, spoken, word_row, word_tokenizer

TEXT = "A B C . | D E . | F G ."
WORDS = TEXT.replace("|", "").split()
OTHER = "H I J K"
OFF = {"permute_sentences": False, "infill_rate": 0.0}
COUNT = 300
TOKENIZER = word_tokenizer(" ".join([*WORDS, *OTHER.split()]))


def make(config, texts=(TEXT, OTHER), count=COUNT, length=40):
    """Features of one row under many seeds."""
    objective = OBJECTIVES["denoising"](config, Sequences(length=length, max_documents=3), TOKENIZER)
    one = word_row(TOKENIZER, texts, objective.raw_length, 3)
    rows = {name: np.stack([value] * count) for name, value in one.items()}
    seeds = np.stack([np.full(count, 5), np.arange(count)], axis=1)
    return make_batch(objective, rows, {name: 0 * value for name, value in rows.items()}, seeds)


def shown(config, texts=(TEXT, OTHER), count=COUNT):
    """Returns the words of each document that the encoder sees, without `[CLS]` and `[SEP]`, by seed."""
    made = make(config, texts, count)
    rows = [documents(TOKENIZER, *pair) for pair in zip(made["token_ids"], made["document_ids"])]
    assert all(each.startswith("[CLS] ") and each.endswith(" [SEP]") for row in rows for each in row)
    return [[each.split()[1:-1] for each in row] for row in rows]


def shares(values):
    found, counts = np.unique([" ".join(value) for value in values], return_counts=True)
    return dict(zip(found.tolist(), (counts / len(values)).tolist()))


def test_without_corruption_the_literal_features():
    made = make(Denoising(**OFF), (OTHER, "A ."), count=1)
    made = {name: value[0] for name, value in made.items()}
    assert spoken(TOKENIZER, made["token_ids"]) == "[CLS] H I J K [SEP] [CLS] A . [SEP]"
    assert spoken(TOKENIZER, made["decoder_token_ids"]) == "[SEP] [CLS] H I J K [SEP] [CLS] A ."
    assert spoken(TOKENIZER, made["label_ids"]) == "[CLS] H I J K [SEP] [CLS] A . [SEP]"
    for kind in ("", "decoder_"):
        assert made[f"{kind}document_ids"][:11].tolist() == [1] * 6 + [2] * 4 + [0]
        assert made[f"{kind}position_ids"][:11].tolist() == [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 0]
    assert made["label_weights"].tolist() == [1.0] * 10 + [0.0] * 30


def test_sentences_are_really_permuted_each_order_as_likely():
    """fairseq's permutation was silently off (#2692)."""
    found = shown(Denoising(permute_sentences=True, infill_rate=0.0))
    sentences = ["A B C .", "D E .", "F G ."]
    orders = shares([row[0] for row in found])
    assert set(orders) == {" ".join(each) for each in itertools.permutations(sentences)}
    np.testing.assert_allclose(list(orders.values()), 1 / 6, atol=4.5 * np.sqrt(5 / 36 / COUNT))
    assert shares([row[1] for row in found]) == {OTHER: 1.0}  # One sentence stays where it is.


def test_rotation_turns_that_share_of_documents():
    found = shares([row[1] for row in shown(Denoising(**OFF, rotate=0.4))])
    words = OTHER.split()
    assert set(found) == {" ".join(words[i:] + words[:i]) for i in range(4)}
    # A document that is turned begins at its own first token in one of four cases.
    assert abs(found[OTHER] - (0.6 + 0.1)) < 4 * np.sqrt(0.21 / COUNT)


@pytest.mark.repeated
def test_deletion_leaves_out_exactly_that_share():
    found = [row[0] for row in shown(Denoising(**OFF, delete_rate=0.3))]
    assert {len(each) for each in found} == {7}
    assert all(is_part(each, WORDS) for each in found)
    kept = np.mean([[word in each for word in WORDS if word != "."] for each in found], axis=0)
    np.testing.assert_allclose(kept, 0.7, atol=4.5 * np.sqrt(0.21 / COUNT))


@pytest.mark.repeated
def test_token_masking_masks_exactly_that_share():
    found = np.array([row[0] for row in shown(Denoising(**OFF, mask_rate=0.2))])
    masked = found == "[MASK]"
    assert (masked.sum(axis=1) == 2).all()
    assert (masked | (found == WORDS)).all()
    np.testing.assert_allclose(masked.mean(axis=0), 0.2, atol=4.5 * np.sqrt(0.16 / COUNT))


def test_infilling_hides_exactly_that_share_with_a_mask_for_each_span():
    """Of ten tokens three are hidden: by 1 to 3 masks, an empty span more where it does not lengthen."""
    found = [row[0] for row in shown(Denoising(**{**OFF, "infill_rate": 0.3}))]
    for each in found:
        kept = [word for word in each if word != "[MASK]"]
        assert len(kept) == 7
        assert is_part(kept, WORDS)
        assert 1 <= len(each) - 7 <= 3
    hidden = np.mean([[word not in each for word in WORDS if word != "."] for each in found], axis=0)
    # Fewer spans reach the ends of a document.
    assert 0.1 < hidden[0] < 0.25
    assert abs(hidden[1:].mean() - 0.33) < 0.05


@pytest.mark.repeated
@pytest.mark.parametrize("mean", [pytest.param(0.3, marks=pytest.mark.repeated), 3.0])
def test_span_lengths_are_poisson_distributed(mean):
    """Over a long document, whose last, cut span weighs little; empty ones put a mask between two words."""
    words = [f"w{index}" for index in range(95)]
    tokenizer = word_tokenizer(" ".join(words))
    config = Denoising(permute_sentences=False, infill_rate=0.3, infill_mean=mean)
    objective = OBJECTIVES["denoising"](config, Sequences(length=97, max_documents=1), tokenizer)
    one = word_row(tokenizer, [" ".join(words)], 95, 1)
    rows = {name: np.stack([value] * 300) for name, value in one.items()}
    seeds = np.stack([np.full(300, 5), np.arange(300)], axis=1)
    made = make_batch(objective, rows, {name: 0 * value for name, value in rows.items()}, seeds)
    masks = (made["token_ids"] == tokenizer.mask_id).sum(axis=1)
    kept = np.isin(made["token_ids"], rows["tokens"][0]).sum(axis=1)
    assert (kept == 95 - round(0.3 * 95)).all()
    # As many masks as spans, empty ones included while they do not lengthen the document.
    spans = min(28 / mean, 28)
    assert abs(masks.mean() - spans) < 0.08 * spans + 1
    assert masks.max() <= 28


def test_special_pieces_of_the_text_stay():
    config = Denoising(delete_rate=0.3, mask_rate=0.3, infill_rate=0.4, rotate=1.0)
    for row in shown(config, ("A [UNK] B [SEP] C [CLS] D",), 8):
        assert {"[UNK]", "[SEP]", "[CLS]"} <= set(row[0])


def test_settings_that_hide_everything():
    made = make(Denoising(**{**OFF, "infill_rate": 1.0}), count=4)
    assert (np.isin(made["token_ids"], [0, 2, 3, 4])).all()
    made = make(Denoising(**OFF, delete_rate=1.0), count=4)
    assert (made["document_ids"][:, :5] == [1, 1, 2, 2, 0]).all()


def is_part(words, whole):
    """Returns true if the whole has the words in that order, with others between."""
    rest = iter(whole)
    return all(word in rest for word in words)
