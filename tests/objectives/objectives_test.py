"""What holds for every objective and every setting."""

import typing

import numpy as np
import pytest

from firth.objectives import OBJECTIVES, measure_rates
from firth.recipes.objective import MaskedLM
from firth.recipes.recipe import Recipe
from firth.recipes.tokenizer import Sequences
from tests.objectives.rows import SPECIALS, make_batch, partners_of, random_rows, tokenizer

SEQUENCES = Sequences(length=40, max_documents=4)
ROWS = 400
CASES = {
    "masked_lm": {
        "alone": MaskedLM(next_sentence=False),
        "pairs": MaskedLM(),
        "words": MaskedLM(whole_word=True, max_predictions=4),
        "hard": MaskedLM(mask_rate=0.6, mask_token_rate=0.3, random_token_rate=0.6, max_predictions=40),
        "paper_exact": MaskedLM(paper_exact=True, mask_token_rate=0.0, random_token_rate=1.0),
    }
}
EVERY = [(kind, name) for kind, configs in CASES.items() for name in configs]
IDS = set(range(len(SPECIALS)))


class Made(typing.NamedTuple):
    objective: typing.Any
    config: MaskedLM
    rows: dict
    partners: dict
    seeds: np.ndarray
    features: dict


@pytest.fixture(scope="module", params=EVERY, ids=lambda case: "-".join(case))
def made(request):
    kind, name = request.param
    config = CASES[kind][name]
    objective = OBJECTIVES[kind](config, SEQUENCES, tokenizer())
    rows = random_rows(ROWS, SEQUENCES.length, config.special_tokens, SEQUENCES.max_documents)
    partners, seeds = partners_of(rows), np.stack([np.full(ROWS, 7), np.arange(ROWS)], axis=1)
    return Made(objective, config, rows, partners, seeds, make_batch(objective, rows, partners, seeds))


def restored(result):
    """Token ids with the labels put back."""
    tokens = result["token_ids"].copy()
    index, prediction = np.nonzero(result["masked_weights"])
    tokens[index, result["masked_positions"][index, prediction]] = result["masked_labels"][index, prediction]
    return tokens


def test_table_and_recipe_types_agree():
    assert Recipe.model_fields["objective"].annotation is MaskedLM
    kinds = MaskedLM.model_fields["kind"].annotation
    assert set(OBJECTIVES) == set(typing.get_args(kinds)) == set(CASES)


def test_features_match_the_specs(made):
    specs = made.objective.specs()
    assert set(made.features) == set(specs)
    for name, spec in specs.items():
        assert made.features[name].shape == (ROWS, *spec.shape), name
        assert made.features[name].dtype == spec.dtype, name
    assert made.objective.raw_length == SEQUENCES.length - made.config.special_tokens


def test_same_seed_gives_the_same(made):
    again = make_batch(made.objective, made.rows, made.partners, made.seeds)
    for name, value in made.features.items():
        np.testing.assert_array_equal(value, again[name], name)


def test_result_does_not_depend_on_neighbours(made):
    backwards = slice(None, None, -1)
    rows, partners = (
        {name: value[backwards] for name, value in part.items()} for part in (made.rows, made.partners)
    )
    again = make_batch(made.objective, rows, partners, made.seeds[backwards])
    for name, value in made.features.items():
        np.testing.assert_array_equal(value, again[name][backwards], name)


def test_another_epoch_or_example_gives_other_masks(made):
    for other in (made.seeds + np.array([1, 0]), made.seeds + np.array([0, ROWS])):
        again = make_batch(made.objective, made.rows, made.partners, other)
        differs = (again["masked_positions"] != made.features["masked_positions"]).any(axis=1)
        could = made.features["masked_weights"].any(axis=1) & (made.rows["chunk_lengths"].sum(axis=1) > 4)
        assert differs[could].mean() > 0.8


def test_inputs_are_not_mutated(made):
    before = {name: value.copy() for name, value in made.rows.items()}
    row, partner = ({name: value[5] for name, value in part.items()} for part in (made.rows, made.partners))
    made.objective(row, partner, made.seeds[5])
    for name, value in before.items():
        np.testing.assert_array_equal(made.rows[name], value, name)


def test_special_tokens_and_padding_are_never_selected(made):
    result = made.features
    used = result["masked_weights"] > 0
    assert not np.isin(result["masked_labels"][used], list(IDS)).any()
    original = restored(result)
    kept = np.isin(original, list(IDS))
    np.testing.assert_array_equal(result["token_ids"][kept], original[kept])
    assert (np.take_along_axis(result["document_ids"], result["masked_positions"], axis=1)[used] > 0).all()


def test_special_tokens_are_drawn_only_if_paper_exact(made):
    result = made.features
    used = result["masked_weights"] > 0
    shown = np.take_along_axis(result["token_ids"], result["masked_positions"], axis=1)[used]
    drawn_special = np.isin(shown, list(IDS - {4})).sum()
    assert (drawn_special > 0) == made.config.paper_exact


def test_no_position_is_predicted_twice_and_order_is_ascending(made):
    positions, weights = made.features["masked_positions"], made.features["masked_weights"]
    for chosen, used in zip(positions, weights > 0):
        assert (np.diff(chosen[used]) > 0).all()
        assert not chosen[~used].any()
        assert (np.diff(used.astype(int)) <= 0).all()


def test_number_of_predictions(made):
    result = made.features
    maskable = ~np.isin(restored(result), list(IDS)) & (result["document_ids"] > 0)
    for count, predicted in zip(maskable.sum(axis=1).tolist(), result["masked_weights"].sum(axis=1)):
        budget = min(max(1, round(made.config.mask_rate * count)), made.config.max_predictions, count)
        assert predicted <= budget
        if not made.config.whole_word:
            assert predicted == budget


def test_original_is_recoverable(made):
    tokens = restored(made.features)
    for index in range(ROWS):
        for chunk, (first, second, truth) in enumerate(chunks(made, tokens, index)):
            assert first == truth[: len(first)]
            if not made.features["next_sentence_labels"][index, chunk]:
                assert first + second == truth


def test_random_segment_comes_from_another_document(made):
    """google-research/bert accepts the same document after ten tries, and says it is another one."""
    if not made.config.next_sentence:
        pytest.skip("no pairs")
    tokens = restored(made.features)
    randoms = 0
    for index in range(ROWS):
        foreign = partner_chunks(made, index)
        for chunk, (first, second, truth) in enumerate(chunks(made, tokens, index)):
            if made.features["next_sentence_labels"][index, chunk]:
                own = made.rows["document_keys"][index, chunk]
                assert 0 < len(second) <= len(truth) - len(first)
                assert any(holds(text, second) for key, text in foreign if key != own)
                randoms += 1
    assert randoms > 50


def test_layout_of_every_document(made):
    result = made.features
    tokens = restored(result)
    for index in range(ROWS):
        lengths = made.rows["chunk_lengths"][index]
        for chunk in range(np.count_nonzero(lengths)):
            mine = np.flatnonzero(result["document_ids"][index] == chunk + 1)
            assert result["pooled_positions"][index, chunk] == mine[0]
            np.testing.assert_array_equal(mine, mine[0] + np.arange(len(mine)))
            np.testing.assert_array_equal(result["position_ids"][index, mine], np.arange(len(mine)))
            assert tokens[index, mine[0]] == 2
            assert tokens[index, mine[-1]] == 3
            segments = result["segment_ids"][index, mine]
            assert (np.diff(segments) >= 0).all()
            assert segments.any() == made.config.next_sentence
        empty = result["document_ids"][index] == 0
        for name in ("token_ids", "segment_ids", "position_ids"):
            assert not result[name][index, empty].any()
        assert not result["pooled_positions"][index, np.count_nonzero(lengths) :].any()


def test_weights_of_pairs(made):
    long_enough = made.rows["chunk_lengths"] >= 2
    expected = long_enough if made.config.next_sentence else np.zeros_like(long_enough)
    np.testing.assert_array_equal(made.features["next_sentence_weights"], expected.astype("float32"))
    assert not made.features["next_sentence_labels"][~expected].any()


def test_empty_row_and_row_of_one_token(made):
    result = {name: value[:2] for name, value in made.features.items()}
    assert not any(value[0].any() for value in result.values())
    assert result["masked_weights"][1].sum() == 1
    assert result["masked_labels"][1, 0] == 7
    assert not result["next_sentence_weights"][1].any()
    assert (result["document_ids"][1] > 0).sum() == 1 + made.config.special_tokens


def test_without_a_partner_every_pair_is_true(made):
    nobody = {name: np.zeros_like(value) for name, value in made.rows.items()}
    alone = make_batch(made.objective, made.rows, nobody, made.seeds)
    assert not alone["next_sentence_labels"].any()
    np.testing.assert_array_equal(alone["next_sentence_weights"], made.features["next_sentence_weights"])


def test_rates_are_within_their_bounds(made):
    rates = measure_rates(made.config, tokenizer(), made.rows, made.partners, made.features)
    assert [str(check) for check in rates.broken] == []


def within(measured, rate, count):
    return abs(measured - rate) <= 4 * np.sqrt(rate * (1 - rate) / count) + 1e-6


def chunks(made, tokens, index):
    """Yields first segment, second segment and raw tokens of each chunk of a row, without special tokens."""
    ends = np.cumsum(made.rows["chunk_lengths"][index])
    for chunk, length in enumerate(made.rows["chunk_lengths"][index]):
        if length:
            mine = made.features["document_ids"][index] == chunk + 1
            segments = made.features["segment_ids"][index][mine]
            text = tokens[index][mine]
            truth = made.rows["tokens"][index][ends[chunk] - length : ends[chunk]]
            yield text[segments == 0][1:-1].tolist(), text[segments == 1][:-1].tolist(), truth.tolist()


def partner_chunks(made, index):
    lengths = made.partners["chunk_lengths"][index]
    texts = np.split(made.partners["tokens"][index], np.cumsum(lengths))
    return list(zip(made.partners["document_keys"][index].tolist(), (text.tolist() for text in texts)))


def has_choice(made, index):
    lengths = made.partners["chunk_lengths"][index]
    for key, length in zip(made.rows["document_keys"][index], made.rows["chunk_lengths"][index]):
        if length >= 2:
            yield ((lengths >= 2) & (made.partners["document_keys"][index] != key)).any()


def holds(text, part):
    return any(text[start : start + len(part)] == part for start in range(1, len(text)))
