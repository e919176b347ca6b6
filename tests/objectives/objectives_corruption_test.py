"""Properties of every objective that corrupts a text for a decoder, in every setting."""

import typing

import numpy as np
import pytest

from tests.objectives.cases import CORRUPTING, ROWS, WORD_PIECES, make, of_each
from tests.objectives.rows import PIECES


class Part(typing.NamedTuple):
    """One document: as it was, and what became of it."""

    raw: list
    inputs: list
    read: list
    labels: list
    weights: list


@pytest.fixture(scope="module", params=of_each(CORRUPTING))
def made(request):
    return make(request.param)


def is_one_stack(made):
    return getattr(made.config, "architecture", "") == "decoder"


def parts(made):
    """Yields every document of every row."""
    for index in range(ROWS):
        result = {name: value[index] for name, value in made.features.items()}
        lengths = made.rows["chunk_lengths"][index]
        raws = np.split(made.rows["tokens"][index], np.cumsum(lengths))
        for number in range(np.count_nonzero(lengths)):
            mine = result["document_ids"] == number + 1
            inputs, read = result["token_ids"][mine].tolist(), []
            if is_one_stack(made):
                # Targets are read one place after they are predicted.
                count = int((result["attention_order"][mine] > 0).sum())
                cut = len(inputs) - count
                inputs, read = inputs[:cut], [inputs[cut - 1], *inputs[cut:]]
                targets = np.flatnonzero(mine)[cut - 1 :]
            else:
                targets = np.flatnonzero(result["decoder_document_ids"] == number + 1)
                read = result["decoder_token_ids"][targets].tolist()
            labels, weights = result["label_ids"][targets].tolist(), result["label_weights"][targets].tolist()
            yield Part(raws[number].tolist(), inputs, read, labels, weights)


def ordinary(ids):
    return [index for index in ids if 5 <= index < 5 + PIECES]


def restored(part):
    """The tokens of a document, put together from inputs and labels."""
    spans: dict[int, list] = {}
    for label in part.labels[:-1]:
        if label >= 5 + PIECES:
            spans[label] = []
        else:
            spans[next(reversed(spans))].append(label)
    found = []
    for index in part.inputs[:-1]:
        found += spans.pop(index) if index >= 5 + PIECES else [index]
    assert not spans
    return found


def test_original_is_recoverable(made):
    for part in parts(made):
        if made.config.kind == "denoising":
            assert part.labels == [2, *part.raw, 3]
        elif any(part.weights):
            # A special piece may stand before or after tokens of a span that it was in.
            assert ordinary(restored(part)) == ordinary(part.raw)
            if len(ordinary(part.raw)) == len(part.raw):
                assert restored(part) == part.raw
        else:
            assert part.inputs == [*part.raw, 3]


def test_special_pieces_of_the_text_are_never_corrupted(made):
    for part in parts(made):
        specials = [index for index in part.raw if index not in ordinary(part.raw)]
        if made.config.kind == "denoising":
            inputs = [index for index in part.inputs[1:-1] if index != 4]
            assert sorted(set(inputs) - set(ordinary(inputs))) == sorted({1} & set(specials))
            assert part.inputs.count(1) == part.raw.count(1)
            assert part.inputs.count(4) >= part.raw.count(4)
        else:
            kept = [index for index in part.inputs[:-1] if index < 5]
            assert kept == specials
            assert not {0, 1, 2, 4} & set(part.labels[:-1])


def test_each_document_is_closed_and_nothing_is_cut_off(made):
    for part in parts(made):
        assert part.inputs[-1] == 3
        if any(part.weights):
            closing = part.labels[-1]
            if getattr(made.config, "closing_sentinel", False):
                assert closing == WORD_PIECES.sentinel_ids[sum(x >= 5 + PIECES for x in part.labels[:-1])]
            else:
                assert closing == 3


def test_the_decoder_reads_what_it_has_predicted(made):
    for part in parts(made):
        assert part.read[1:] == part.labels[:-1] or not any(part.weights)
        expected = 3 if made.config.kind == "denoising" or is_one_stack(made) else 0
        assert part.read[0] == expected


def test_all_targets_of_a_document_count_or_none(made):
    for part in parts(made):
        assert set(part.weights) in ({1.0}, {0.0})
    padding = made.features["document_ids" if is_one_stack(made) else "decoder_document_ids"] == 0
    for name in ("label_ids", "label_weights"):
        assert not made.features[name][padding].any()


def test_sentinels_are_numbered_from_0(made):
    if made.config.kind == "denoising":
        pytest.skip("no sentinels")
    for part in parts(made):
        shown = [index for index in part.inputs if index >= 5 + PIECES]
        assert shown == WORD_PIECES.sentinel_ids[: len(shown)].tolist()


def test_encoder_and_decoder_agree_on_documents(made):
    """Cross-attention keeps to equal document ids, so that nothing leaks."""
    if is_one_stack(made):
        pytest.skip("one stack")
    for index in range(ROWS):
        count = np.count_nonzero(made.rows["chunk_lengths"][index])
        for name in ("document_ids", "decoder_document_ids"):
            assert set(made.features[name][index]) - {0} == set(range(1, count + 1))


def test_a_document_is_corrupted_as_the_recipe_says(made):
    for part in parts(made):
        tokens, free = len(part.raw), len(ordinary(part.raw))
        if made.config.kind == "denoising":
            assert len(part.inputs) <= tokens + 2
        elif made.config.kind != "salient_spans":
            noise = sum(5 <= label < 5 + PIECES for label in part.labels[:-1])
            assert noise == min(made.config.noise_tokens(tokens), max(free - 1, 0))
            spans = sum(index >= 5 + PIECES for index in part.inputs)
            assert spans <= made.config.most_spans(tokens) if tokens > 1 else spans == 0
            inputs, targets = made.config.corrupted_lengths(tokens)
            assert len(part.labels) <= targets
            assert len(part.inputs) <= inputs or free < tokens
