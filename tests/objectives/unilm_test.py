"""UniLM's masks: which token sees which, and how often."""

import numpy as np
import pytest

from firth.objectives import OBJECTIVES
from firth.recipes.objectives.masking import UniLM
from firth.recipes.tokenizers.tokenizer import Sequences
from tests.objectives.rows import make_batch, row
from tests.objectives.words import LECTURE, spoken, word_row, word_tokenizer

TOKENIZER = word_tokenizer(LECTURE, "It was fun .")
TEXTS = (LECTURE.replace("for", "| for", 1), "It was | fun .")
NAMES = ("bidirectional", "sequence_to_sequence", "left_to_right", "right_to_left")
ORDERS = {
    "bidirectional": [0] * 22,
    "sequence_to_sequence": [*[0] * 4, *range(4, 14), *[0] * 4, *range(4, 7), 0],
    "left_to_right": [*range(14), *range(7), 0],
    "right_to_left": [*range(22, 8, -1), *range(22, 15, -1), 0],
}


def only(name, **kwargs):
    return UniLM(**{f"{each}_rate": float(each == name) for each in NAMES}, **kwargs)


@pytest.mark.parametrize("name", NAMES)
def test_literal_example(name):
    objective = OBJECTIVES["unilm"](only(name), Sequences(length=22, max_documents=2), TOKENIZER)
    one = word_row(TOKENIZER, TEXTS, objective.raw_length, 2)
    made = {key: value.numpy() for key, value in objective(one, None, seed=[1, 3]).items()}
    tokens = made["token_ids"].copy()
    used = made["masked_weights"] > 0
    tokens[made["masked_positions"][used]] = made["masked_labels"][used]
    assert spoken(TOKENIZER, tokens) == (
        "[CLS] Thank you [SEP] for inviting me to your party last week . [SEP] [CLS] It was [SEP] fun . [SEP]"
    )
    assert made["segment_ids"].tolist() == [*[0] * 4, *[1] * 10, *[0] * 4, *[1] * 3, 0]
    assert made["attention_order"].tolist() == ORDERS[name]


def visible(order, documents):
    """Returns which tokens each token may see, as the models read the features."""
    return (documents[:, None] == documents[None]) & (order[None] <= order[:, None])


def test_who_sees_whom():
    documents, second = (
        np.array([1] * 14 + [2] * 7 + [0]),
        np.array([0] * 4 + [1] * 10 + [0] * 4 + [1] * 3 + [0]),
    )
    places, same = np.arange(22), documents[:, None] == documents[None]
    before = places[None] <= places[:, None]
    expected = {
        "bidirectional": same,
        "left_to_right": same & before,
        "right_to_left": same & (places[None] >= places[:, None]),
        "sequence_to_sequence": same & ((second[None] == 0) | ((second[:, None] == 1) & before)),
    }
    for name, order in ORDERS.items():
        real = documents > 0
        np.testing.assert_array_equal(visible(np.array(order), documents)[real], expected[name][real], name)


def made_often(config, count=700, length=64):
    objective = OBJECTIVES["unilm"](config, Sequences(length=length, max_documents=1), TOKENIZER)
    tokens = 5 + np.arange(objective.raw_length) % 9
    one = row(tokens, [objective.raw_length], [1], objective.raw_length, 1)
    rows = {name: np.stack([value] * count) for name, value in one.items()}
    nobody = {name: 0 * value for name, value in rows.items()}
    return make_batch(objective, rows, nobody, np.arange(2 * count).reshape(count, 2))


@pytest.mark.parametrize("name", NAMES)
def test_the_paper_s_rows(name):
    """One segment under the masks of one direction, next sentences under the bidirectional mask."""
    config = only(name, single_segments=True, next_sentence=True, random_next_rate=1.0)
    objective = OBJECTIVES["unilm"](config, Sequences(length=22, max_documents=2), TOKENIZER)
    one = word_row(TOKENIZER, TEXTS, objective.raw_length, 2)
    other = {
        **word_row(TOKENIZER, ["It was | fun ."], objective.raw_length, 2),
        "document_keys": np.array([9, 0]),
    }
    made = {key: value.numpy() for key, value in objective(one, other, seed=[1, 3]).items()}
    tokens = made["token_ids"].copy()
    used = made["masked_weights"] > 0
    tokens[made["masked_positions"][used]] = made["masked_labels"][used]
    apart = {"sequence_to_sequence": " [SEP] for", "left_to_right": " for", "right_to_left": " for"}
    if name == "bidirectional":
        # The other row has nothing for the first document, and "fun ." for the second, without its end.
        assert spoken(TOKENIZER, tokens).endswith("[CLS] It was [SEP] fun [SEP]")
        assert made["next_sentence_weights"].tolist() == made["next_sentence_labels"].tolist() == [0, 1]
        return
    pair = name == "sequence_to_sequence"
    assert spoken(TOKENIZER, tokens) == (
        f"[CLS] Thank you{apart[name]} inviting me to your party last week . [SEP] "
        f"[CLS] It was {'[SEP] ' if pair else ''}fun . [SEP]"
    )
    assert made["segment_ids"].any() == pair
    assert not made["next_sentence_weights"].any() and not made["next_sentence_labels"].any()
    order = made["attention_order"][made["document_ids"] == 1]
    assert (
        np.diff(order).tolist()
        == {
            "left_to_right": [1] * 12,
            "right_to_left": [-1] * 12,
            "sequence_to_sequence": [0, 0, 0, 4, *[1] * 9],
        }[name]
    )


@pytest.mark.repeated
def test_each_mask_as_often_as_the_recipe_says():
    orders = made_often(UniLM())["attention_order"]
    is_two = (orders > 0).any(axis=1) & (orders[:, 1] == 0)
    found = {
        "bidirectional": ~orders.any(axis=1),
        "sequence_to_sequence": is_two,
        "left_to_right": orders[:, 1] == 1,
        "right_to_left": orders[:, 1] > orders[:, 2],
    }
    assert (sum(found.values()) == 1).all()
    for name, rate in UniLM().mixture.items():
        assert abs(found[name].mean() - rate) < 4 * np.sqrt(rate * (1 - rate) / len(orders)), name


def test_share_of_ngrams():
    """At a low rate few selections touch one another: 80% of one piece, and 10% each of two and three."""
    made = made_often(UniLM(mask_rate=0.03, max_predictions=8), count=500, length=250)
    sizes = []
    for positions, weights in zip(made["masked_positions"], made["masked_weights"]):
        chosen = positions[weights > 0]
        sizes += [len(part) for part in np.split(chosen, np.flatnonzero(np.diff(chosen) > 1) + 1)]
    counts = np.bincount(sizes, minlength=4)[1:4] / len(sizes)
    np.testing.assert_allclose(counts, [0.8, 0.1, 0.1], atol=0.04)
