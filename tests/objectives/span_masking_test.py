"""SpanBERT's masking and the features of its boundary objective."""

import numpy as np
import pytest

from firth.objectives import OBJECTIVES
from firth.recipes.objectives.masking import SpanMasking
from firth.recipes.tokenizers.tokenizer import Sequences
from tests.objectives.cases import make, of_each
from tests.objectives.recovery import restored
from tests.objectives.rows import empty_row, make_batch, row
from tests.objectives.words import LECTURE, spoken, word_row, word_tokenizer
from tests.repeating import often

MASK, COUNT = 4, 400
TOKENIZER = word_tokenizer(LECTURE)


def test_literal_example():
    """Two spans: the first two words, after [CLS]; and two words in the middle."""
    config = SpanMasking(mask_rate=0.35, max_predictions=5, mask_token_rate=1.0, random_token_rate=0.0)
    objective = OBJECTIVES["span_masking"](config, Sequences(length=14), TOKENIZER)
    one = word_row(TOKENIZER, [LECTURE], objective.raw_length, 8)
    made = {name: value.numpy() for name, value in objective(one, None, seed=[1, 2]).items()}
    assert spoken(TOKENIZER, made["token_ids"]) == (
        "[CLS] [MASK] [MASK] for [MASK] [MASK] to your party last week . [SEP]"
    )
    assert spoken(TOKENIZER, made["masked_labels"]) == "Thank you inviting me"
    assert made["masked_positions"].tolist() == [1, 2, 4, 5, 0]
    assert made["boundary_left"].tolist() == [0, 0, 3, 3, 0]
    assert made["boundary_right"].tolist() == [3, 3, 6, 6, 0]
    assert made["boundary_offsets"].tolist() == [1, 2, 1, 2, 0]
    assert made["masked_weights"].tolist() == [1, 1, 1, 1, 0]


def spans(one):
    """Lists of neighbouring positions."""
    positions = one["masked_positions"][one["masked_weights"] > 0]
    return [part for part in np.split(positions, np.flatnonzero(np.diff(positions) > 1) + 1) if len(part)]


@pytest.mark.parametrize("name", of_each(["span_masking", "span_masking-hard"]))
def test_boundaries_are_shown_and_of_the_same_document(name):
    seen = 0
    for one, _ in make(name).each():
        place, chosen = 0, one["masked_positions"][one["masked_weights"] > 0]
        for span in spans(one):
            around = [span[0] - 1, span[-1] + 1]
            assert not set(around) & set(chosen.tolist())
            assert len(set(one["document_ids"][[*span, *around]].tolist())) == 1
            for offset in range(len(span)):
                assert [one["boundary_left"][place], one["boundary_right"][place]] == around
                is_told = offset < make(name).config.boundary_places
                assert one["boundary_offsets"][place] == (offset + 1 if is_told else 0)
                place += 1
        for side in ("left", "right", "offsets"):
            assert not one[f"boundary_{side}"][place:].any()
        seen += place
    assert seen > 50


def test_without_the_boundary_objective_there_are_no_boundaries():
    objective = OBJECTIVES["span_masking"](
        SpanMasking(boundary=False, max_predictions=5), Sequences(length=14), TOKENIZER
    )
    one = word_row(TOKENIZER, [LECTURE], objective.raw_length, 8)
    made = objective(one, None, seed=[1, 2])
    assert set(made) == set(objective.specs())
    assert not [name for name in made if name.startswith("boundary")]


def test_spans_are_whole_words():
    made = make("span_masking-hard")
    for index, (one, documents) in enumerate(made.each()):
        starts = np.split(made.rows["word_starts"][index], np.cumsum(made.rows["chunk_lengths"][index]))
        begins = np.zeros(len(one["token_ids"]), bool)
        for number in range(len(documents)):
            inner = np.flatnonzero(one["document_ids"] == number + 1)[1:-1]
            begins[inner] = starts[number] > 0
        special = np.isin(restored(one), range(5))
        begins |= special | np.roll(special, 1)
        for span in spans(one):
            assert begins[span[0]] and begins[span[-1] + 1]


def long_rows(config, length=300, words=1):
    """Many rows of one long document, every word of so many pieces."""
    objective = OBJECTIVES["span_masking"](config, Sequences(length=length, max_documents=1), TOKENIZER)
    raw_length = objective.raw_length
    tokens = 5 + np.arange(raw_length) % 11
    one = row(tokens, [raw_length], [1], raw_length, 1, word_starts=np.arange(raw_length) % words == 0)
    rows = {name: np.stack([value] * COUNT) for name, value in one.items()}
    nobody = {name: np.stack([value] * COUNT) for name, value in empty_row(raw_length, 1).items()}
    made = make_batch(objective, rows, nobody, np.arange(2 * COUNT).reshape(COUNT, 2))
    return [{name: value[index] for name, value in made.items()} for index in range(COUNT)]


def mean_when_cut(budget):
    """Mean length of spans that fill a budget, the last one cut: 3.8 is for spans without end."""
    lengths = 0.2 * 0.8 ** np.arange(10)
    lengths /= lengths.sum()
    assert round(float(lengths @ np.arange(1, 11)), 2) == 3.8
    spans_needed = [0.0] * (budget + 1)
    for left in range(1, budget + 1):
        spans_needed[left] = 1 + sum(
            lengths[size - 1] * spans_needed[left - size] for size in range(1, min(left, 11))
        )
    return budget / spans_needed[budget]


@pytest.mark.repeated
@pytest.mark.parametrize("words", often([1, 2], [2]))
def test_mean_length_of_spans_in_words(words):
    made = long_rows(SpanMasking(max_predictions=80), words=words)
    found = [len(span) / words for one in made for span in spans(one)]
    assert all(one["masked_weights"].sum() == 45 // words * words for one in made)
    assert max(found) == 10
    # Few spans are cut by the document's ends.
    assert abs(np.mean(found) - mean_when_cut(45 // words)) < 4 * np.std(found) / np.sqrt(len(found)) + 0.03


def test_no_two_pieces_of_a_span_share_a_place_of_the_table():
    """Of words of nine pieces most spans are longer than the table, which is in pieces and not in words."""
    config = SpanMasking(max_predictions=60, mask_rate=0.2, boundary_places=15)
    longest = 0
    for one in long_rows(config, words=9):
        offsets, used = one["boundary_offsets"], one["masked_weights"] > 0
        longest = max(longest, *map(len, spans(one)))
        assert offsets.max() <= config.boundary_places and not offsets[~used].any()
        told = np.stack([one["boundary_left"], offsets])[:, used & (offsets > 0)]
        assert len(np.unique(told, axis=1).T) == len(told.T)
    assert longest > 2 * config.boundary_places


def test_one_fate_for_a_span():
    config = SpanMasking(max_predictions=60, mask_token_rate=0.5, random_token_rate=0.3)
    fates = []
    for one in long_rows(config):
        labels = dict(zip(one["masked_positions"].tolist(), one["masked_labels"].tolist()))
        for span in spans(one):
            shown = one["token_ids"][span]
            original = np.array([labels[position] for position in span.tolist()])
            if (shown == MASK).any():
                assert (shown == MASK).all()
                fates.append("masked")
            elif len(span) > 2:
                fates.append("kept" if (shown == original).all() else "random")
    # Masked spans of every length are counted, the others where kept and random ones can differ.
    others = [fate for fate in fates if fate != "masked"]
    share = np.mean([fate == "random" for fate in others])
    assert abs(share - 0.6) < 4 * np.sqrt(0.24 / len(others))
