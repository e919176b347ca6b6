"""What holds for every objective that corrupts a text for a decoder, and every setting."""

import typing

import numpy as np
import pytest

from firth.objectives import OBJECTIVES
from firth.recipes.objectives.denoising import Denoising, IidDenoising, SalientSpans, SpanCorruption
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tokenizers import WordPieceTokenizer
from firth.tokenizers.graph.vocabulary import sentinel_pieces
from tests.objectives.rows import PIECES, SPECIALS, make_batch, random_rows

SEQUENCES = Sequences(length=40, max_documents=4)
ROWS = 300
SENTINELS = 40
# A third of the pieces are capitalised, so that the rules for salient words find some.
WORDS = [f"{'W' if index % 3 else 'w'}{'x' * index}" for index in range(PIECES)]
TOKENIZER = WordPieceTokenizer([*SPECIALS, *WORDS, *sentinel_pieces(SENTINELS)], lowercase=False)
CASES = {
    "spans": SpanCorruption(),
    "spans-unrolled": SpanCorruption(random_roll=False),
    "spans-hard": SpanCorruption(noise_density=0.6, mean_span=2.0, closing_sentinel=True),
    "spans-decoder": SpanCorruption(architecture="decoder"),
    "iid": IidDenoising(noise_density=0.4),
    "iid-decoder": IidDenoising(architecture="decoder", closing_sentinel=True),
    "salient": SalientSpans(max_span=3),
    "salient-alone": SalientSpans(fallback=False),
    "bart": Denoising(),
    "bart-hard": Denoising(rotate=0.5, delete_rate=0.2, mask_rate=0.2, infill_rate=0.4, infill_mean=0.6),
    "bart-nothing": Denoising(permute_sentences=False, infill_rate=0.0),
}


class Made(typing.NamedTuple):
    objective: typing.Any
    config: typing.Any
    rows: dict
    seeds: np.ndarray
    features: dict


class Part(typing.NamedTuple):
    """One document: as it was, and what became of it."""

    raw: list
    inputs: list
    read: list
    labels: list
    weights: list


@pytest.fixture(scope="module", params=CASES.items(), ids=lambda case: case[0])
def made(request):
    config = request.param[1]
    objective = OBJECTIVES[config.kind](config, SEQUENCES, TOKENIZER)
    room = objective.raw_length + config.special_tokens
    rows = random_rows(ROWS, room, config.special_tokens, SEQUENCES.max_documents)
    # Next to the random rows, one document of full length.
    full = np.resize(np.arange(5, 5 + PIECES), objective.raw_length)
    rows["tokens"][2], rows["chunk_lengths"][2] = full, [objective.raw_length, 0, 0, 0]
    seeds = np.stack([np.full(ROWS, 7), np.arange(ROWS)], axis=1)
    return Made(objective, config, rows, seeds, make_batch(objective, rows, nobody(rows), seeds))


def nobody(rows):
    return {name: np.zeros_like(value) for name, value in rows.items()}


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


def test_features_match_the_specs(made):
    specs = made.objective.specs()
    assert set(made.features) == set(specs)
    for name, spec in specs.items():
        assert made.features[name].shape == (ROWS, *spec.shape), name
        assert made.features[name].dtype == spec.dtype, name
    assert made.objective.raw_length == made.config.raw_length(SEQUENCES)


def test_same_seed_gives_the_same_in_any_order(made):
    backwards = {name: value[::-1] for name, value in made.rows.items()}
    again = make_batch(made.objective, backwards, nobody(backwards), made.seeds[::-1])
    for name, value in made.features.items():
        np.testing.assert_array_equal(value, again[name][::-1], name)


def test_another_epoch_or_example_gives_another_corruption(made):
    if made.config.kind == "denoising" and not made.config.infill_rate:
        pytest.skip("nothing is random")
    for other in (made.seeds + np.array([1, 0]), made.seeds + np.array([0, ROWS])):
        again = make_batch(made.objective, made.rows, nobody(made.rows), other)
        differs = (again["token_ids"] != made.features["token_ids"]).any(axis=1)
        assert differs[made.rows["chunk_lengths"].max(axis=1) > 8].mean() > 0.5


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
                assert closing == TOKENIZER.sentinel_ids[sum(x >= 5 + PIECES for x in part.labels[:-1])]
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
        assert shown == TOKENIZER.sentinel_ids[: len(shown)].tolist()


def test_documents_stand_one_behind_the_other(made):
    for kind in ("", "decoder_"):
        if f"{kind}document_ids" not in made.features:
            continue
        for ids, positions in zip(made.features[f"{kind}document_ids"], made.features[f"{kind}position_ids"]):
            used = ids[ids > 0]
            assert (np.diff(used) >= 0).all() and not ids[len(used) :].any()
            expected = [place for number in np.unique(used) for place in range((used == number).sum())]
            assert positions.tolist() == [*expected, *[0] * (len(ids) - len(used))]
            padding = made.features[f"{kind}token_ids"][made.features[f"{kind}document_ids"] == 0]
            assert not padding.any()


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
