"""Lengths of denoised rows: nothing overflows, and one full document fills its row."""

import itertools

import pytest
from hypothesis import given, settings, strategies as st

from firth.recipes.objectives.denoising import (
    Denoising,
    IidDenoising,
    SalientSpans,
    SpanCorruption,
    largest_row,
)
from firth.recipes.tokenizers.tokenizer import Sequences


@st.composite
def objectives(draw):
    density = draw(st.sampled_from([0.05, 0.15, 0.3, 0.5, 0.8]))
    kind = draw(st.sampled_from([SpanCorruption, IidDenoising, SalientSpans]))
    settings = {"mean_span": draw(st.sampled_from([1.0, 1.5, 3.0, 8.0]))} if kind is SpanCorruption else {}
    return kind(noise_density=density, **settings)


def test_t5_s_lengths():
    """Raffel et al.: inputs of 512 are 568 tokens before corruption, and their targets 114."""
    sequences = Sequences(length=512, max_documents=1)
    objective = SpanCorruption()
    assert objective.raw_length(sequences) == 568
    assert objective.corrupted_lengths(568) == (512, 114)
    assert objective.target_length(sequences) == 114
    assert objective.sentinels_needed(sequences) == 28
    assert SpanCorruption(closing_sentinel=True).sentinels_needed(sequences) == 29
    assert SpanCorruption(architecture="decoder").input_length(sequences) == 512 + 114 - 1
    assert SpanCorruption(architecture="decoder").target_length(sequences) == 0


@pytest.mark.parametrize("documents", [1, 2, 8, 64])
def test_a_full_document_fills_the_inputs_however_many_may_share_a_row(documents):
    for length in (64, 128, 512):
        sequences, objective = Sequences(length=length, max_documents=documents), SpanCorruption()
        assert objective.corrupted_lengths(objective.raw_length(sequences))[0] == length


@st.composite
def rows(draw):
    """An objective, sequences, and the lengths of a row's documents as they may be packed."""
    objective = draw(objectives())
    sequences = Sequences(length=draw(st.integers(8, 90)), max_documents=draw(st.integers(1, 9)))
    room = objective.raw_length(sequences) + objective.special_tokens
    documents = []
    while room > objective.special_tokens and len(documents) < sequences.max_documents:
        most = room - objective.special_tokens
        documents.append(draw(st.integers(1, most) | st.just(most) | st.integers(1, min(most, 6))))
        room -= documents[-1] + objective.special_tokens
    return objective, sequences, documents


@settings(max_examples=50, derandomize=True, deadline=None)
@given(rows())
def test_no_row_overflows(row):
    objective, sequences, documents = row
    lengths = [objective.corrupted_lengths(tokens) for tokens in documents]
    inputs, targets = (sum(each) for each in zip(*lengths))
    assert inputs <= sequences.length == objective.input_length(sequences)
    assert targets <= objective.target_length(sequences)
    assert max(map(objective.most_spans, documents)) <= objective.sentinels_needed(sequences)
    one_stack = objective.model_copy(update={"architecture": "decoder"})
    assert inputs + targets - len(documents) <= one_stack.input_length(sequences)


@settings(max_examples=40, derandomize=True, deadline=None)
@given(rows())
def test_a_longer_document_would_overflow(row):
    """`raw_length` gives away nothing that one document alone could use, unless shared rows need it."""
    objective, sequences, _ = row
    alone = Sequences(length=sequences.length, max_documents=1)
    assert objective.corrupted_lengths(objective.raw_length(alone) + 1)[0] > sequences.length
    assert objective.raw_length(sequences) <= objective.raw_length(alone)


@settings(max_examples=50, derandomize=True, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=9), st.integers(0, 3), st.integers(1, 4))
def test_largest_row_equals_trying_all_rows(sizes, special_tokens, max_documents):
    raw_length = len(sizes) - 1
    expected = max(
        sum(sizes[tokens] for tokens in documents)
        for count in range(1, max_documents + 1)
        for documents in itertools.combinations_with_replacement(range(1, raw_length + 1), count)
        if sum(documents) + special_tokens * (count - 1) <= raw_length
    )
    assert largest_row(sizes.__getitem__, raw_length, special_tokens, max_documents) == expected


def test_denoising_is_as_long_as_the_row():
    sequences = Sequences(length=64)
    objective = Denoising()
    assert (objective.raw_length(sequences), objective.input_length(sequences)) == (62, 64)
    assert objective.target_length(sequences) == 64
