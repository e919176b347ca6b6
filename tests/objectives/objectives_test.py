"""Properties of every objective in every setting."""

import typing

import numpy as np
import pytest
import tensorflow as tf

from firth import features
from firth.objectives import OBJECTIVES
from firth.recipes.objectives.objective import AnyObjective
from tests.objectives.cases import CASES, PIECES, ROWS, SEQUENCES, make, of_each
from tests.objectives.rows import output_specs, own_pieces

ORDINARY = range(5, 5 + PIECES)
SELECTION = (features.MASKED_POSITIONS, features.MASKED_LABELS, features.MASKED_WEIGHTS)
LABELS = (
    (features.MASKED_LABELS, features.MASKED_WEIGHTS),
    (features.LABEL_IDS, features.LABEL_WEIGHTS),
    (features.BACKWARD_LABEL_IDS, features.BACKWARD_LABEL_WEIGHTS),
)


@pytest.fixture(scope="module", params=of_each())
def made(request):
    return make(request.param)


def test_every_objective_is_in_the_table():
    types = typing.get_args(typing.get_args(AnyObjective)[0])
    kinds = {kind for each in types for kind in typing.get_args(each.model_fields["kind"].annotation)}
    assert set(OBJECTIVES) == kinds == {case.config.kind for case in CASES.values()}


def test_features_match_the_specs(made):
    specs = made.objective.specs()
    assert set(made.features) == set(specs)
    for name, spec in specs.items():
        assert made.features[name].shape == (ROWS, *spec.shape), name
        assert made.features[name].dtype == spec.dtype, name
    assert made.objective.raw_length == made.config.raw_length(SEQUENCES)
    assert specs[features.TOKEN_IDS].shape == (made.config.input_length(SEQUENCES),)
    if made.config.target_length(SEQUENCES):
        assert specs[features.LABEL_IDS].shape == (made.config.target_length(SEQUENCES),)


def test_shapes_are_static_in_a_graph(made):
    """Features of unknown shape cannot be batched for a model that is compiled once."""
    specs = made.objective.specs()
    assert output_specs(made.objective, made.rows, made.negatives) == {
        name: tf.TensorSpec(spec.shape, spec.dtype) for name, spec in specs.items()
    }


def test_same_seed_gives_the_same_beside_any_neighbours(made):
    backwards = slice(None, None, -1)
    rows, negatives = (
        {name: value[backwards] for name, value in part.items()} for part in (made.rows, made.negatives)
    )
    again = made.again(rows, negatives, made.seeds[backwards])
    for name, value in made.features.items():
        np.testing.assert_array_equal(value, again[name][backwards], name)


def test_another_epoch_or_example_gives_others(made):
    long_enough = made.rows[features.CHUNK_LENGTHS].max(axis=1) > 12
    for other in (made.seeds + np.array([1, 0]), made.seeds + np.array([0, ROWS])):
        again = made.again(seeds=other)
        differs = np.zeros(ROWS, bool)
        for name, value in made.features.items():
            differs |= (again[name] != value).reshape(ROWS, -1).any(axis=1)
        assert differs[long_enough].mean() > 0.5 if made.case.is_random else not differs.any()


def test_inputs_are_not_mutated(made):
    row, negative = ({name: value[5] for name, value in part.items()} for part in (made.rows, made.negatives))
    before = [{name: value.copy() for name, value in part.items()} for part in (row, negative)]
    made.objective(row, negative, made.seeds[5])
    for part, kept in zip((row, negative), before):
        for name, value in kept.items():
            np.testing.assert_array_equal(part[name], value, name)


def test_original_is_recoverable(made):
    for one, truth in made.each():
        found = made.case.recover(made.config, one)
        assert len(found) == len(truth)
        for number, (text, expected) in enumerate(zip(found, truth)):
            if not made.case.is_exact:
                text, expected = ([each for each in ids if each in ORDINARY] for ids in (text, expected))
            assert text == expected[: len(text)]
            if not one.get(features.NEXT_SENTENCE_WEIGHTS, np.zeros(len(truth)))[number]:
                assert len(text) == len(expected)


def test_labels_of_a_document_are_its_own(made):
    """Each chunk of a random row has pieces of its own."""
    own = [own_pieces(chunk, SEQUENCES.max_documents) for chunk in range(SEQUENCES.max_documents)]
    for one, _ in made.each():
        documents, other = label_documents(one), one.get(features.NEXT_SENTENCE_LABELS)
        for ids, weights in LABELS:
            if ids not in one:
                continue
            used = (one[weights] > 0) & np.isin(one[ids], ORDINARY)
            for chunk, pieces in enumerate(own):
                if other is None or not other[chunk]:
                    assert np.isin(one[ids][used & (documents[ids] == chunk + 1)], pieces).all()
            assert (documents[ids][used] > 0).all()


def test_labels_are_tokens_or_what_closes_them(made):
    sentinels = set(getattr(made.case.tokenizer, "sentinel_ids", np.zeros(0, int)).tolist())
    for ids, weights in LABELS:
        if ids in made.features:
            used = made.features[weights] > 0
            labels = set(made.features[ids][used].tolist()) - set(ORDINARY) - sentinels
            # 1 and 4 are [UNK] and [MASK], as they stand in the text.
            assert labels <= made.case.closing | {1, 4}


def test_a_document_does_not_depend_on_the_others(made):
    """The first document of each row gets other tokens, of the same kinds; nothing else changes."""
    lengths = made.rows[features.CHUNK_LENGTHS]
    tokens = made.rows[features.RAW_TOKENS].copy()
    is_changed = (np.arange(tokens.shape[1]) < lengths[:, :1]) & np.isin(tokens, ORDINARY)
    tokens[is_changed] = 5 + (tokens[is_changed] - 5 + 3 * SEQUENCES.max_documents) % 60
    again = made.again({**made.rows, features.RAW_TOKENS: tokens})
    changed = False
    for index in range(ROWS):
        before, after = (
            {name: value[index] for name, value in made_.items()} for made_ in (made.features, again)
        )
        documents, documents_after = label_documents(before), label_documents(after)
        for name, value in before.items():
            if name in documents:
                others, others_after = documents[name] > 1, documents_after[name] > 1
                np.testing.assert_array_equal(value[others], after[name][others_after], name)
                changed |= not np.array_equal(value, after[name])
    assert changed


def label_documents(one):
    """The document that each place of each feature belongs to; pairs are left out."""
    documents, size = one[features.DOCUMENT_IDS], len(one[features.DOCUMENT_IDS])
    decoder = one.get(features.DECODER_DOCUMENT_IDS)
    found = {}
    for name, value in one.items():
        if name.startswith("masked_") or name.startswith("boundary_"):
            used = one[features.MASKED_WEIGHTS] > 0
            found[name] = np.where(used, documents[one[features.MASKED_POSITIONS]], 0)
        elif decoder is not None and (name.startswith("decoder_") or name.startswith("label_")):
            found[name] = decoder
        elif len(value) == size:
            found[name] = documents
    return found


def test_weights_are_0_exactly_where_nothing_is_predicted(made):
    assert any(ids in made.features for ids, _ in LABELS)
    for ids, weights in LABELS:
        if ids not in made.features:
            continue
        assert set(np.unique(made.features[weights])) <= {0.0, 1.0}
        unused = made.features[weights] == 0
        assert not made.features[ids][unused].any()
        for one, _ in made.each():
            assert (label_documents(one)[ids][one[weights] > 0] > 0).all()


def test_documents_stand_one_behind_another(made):
    for kind in ("", "decoder_"):
        if f"{kind}document_ids" not in made.features:
            continue
        for index in range(ROWS):
            one = {name: value[index] for name, value in made.features.items()}
            numbers = one[f"{kind}document_ids"]
            used = numbers[numbers > 0]
            count = np.count_nonzero(made.rows[features.CHUNK_LENGTHS][index])
            assert (np.diff(used) >= 0).all()
            assert set(used.tolist()) == set(range(1, count + 1))
            for name in (f"{kind}token_ids", f"{kind}position_ids", "segment_ids", "attention_order"):
                if name in one and len(one[name]) == len(numbers):
                    assert not one[name][numbers == 0].any(), name
            if f"{kind}position_ids" in one:
                sizes = [(used == number).sum() for number in range(1, count + 1)]
                expected = [place for size in sizes for place in range(size)]
                assert one[f"{kind}position_ids"][numbers > 0].tolist() == expected


def test_empty_row_and_row_of_one_token(made):
    empty, one = ({name: value[index] for name, value in made.features.items()} for index in (0, 1))
    pad = made.case.tokenizer.pad_id
    assert (empty[features.TOKEN_IDS] == pad).all()
    for name, value in empty.items():
        assert not value.any(), name
    assert made.documents(1) == [[9]]
    assert made.case.recover(made.config, one) == [[9]]
    for name, value in one.items():
        assert np.isfinite(value).all(), name
