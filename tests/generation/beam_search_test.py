"""Beams find the texts that transformers finds with the same weights, and that trying every text finds."""

import contextlib
import functools
import itertools
import json
import pathlib

import numpy as np
import pytest
import tensorflow as tf

from firth.generation import Prompts, controls_of, reader_of
from firth.generation.beam_search import BeamSearcher
from firth.recipes.generation.request import GenerationRequest
from firth.recipes.generation.samplers import BeamSearch
from tests.generation.cases import eagerly
from tests.models.references import VOCABULARY, build_model
from tests.repeating import often

GOLDEN = json.loads((pathlib.Path(__file__).with_name("golden") / "beams.json").read_text())
FAMILIES, MOST = GOLDEN["families"], GOLDEN["most"]


@functools.cache
def reader(name):
    return reader_of(build_model(name), None, tuple(FAMILIES[name]["start"]))


def search_of(name, end, may_write, longest, **values):
    """Returns a function that searches, and that is traced once whatever is asked."""
    searcher = BeamSearcher(reader(name), end, may_write, BeamSearch(**values))

    @tf.function(autograph=False)
    def search(prompts, controls):
        searching, _ = searcher.start(prompts, controls, longest)
        searching = searcher.go_on(searching, controls, longest)
        return searcher.best(searching), searcher.texts(searching)

    return search


def searched(search, prompts, most, asked, in_graph=False):
    """Returns the texts and scores of each prompt, found in one batch."""
    request = GenerationRequest(max_new_tokens=max(most), sampler=BeamSearch(), **asked)
    controls = controls_of([request] * len(prompts), None)._replace(most=tf.constant(most))
    with contextlib.nullcontext() if in_graph else eagerly():
        best, texts = search(Prompts.of(tf.ragged.constant(prompts, tf.int32), 0), controls)
    np.testing.assert_array_equal(texts.ids, best.ids[:, 0])
    np.testing.assert_array_equal(texts.ended > 0, True)
    return best


def plain(best, row):
    return [
        ids[:count].tolist()
        for ids, count, score in zip(best.ids[row].numpy(), best.count[row].numpy(), best.scores[row].numpy())
        if score > -np.inf
    ]


# Every search by one family, and every family; one of them in a graph. The next test has BART.
CASES = [("gpt2", number) for number in range(len(FAMILIES["gpt2"]["searches"]))]
CASES += [("llama", 1), ("t5", 2), ("bart", 4)]


@pytest.mark.parametrize(("name", "number"), often(CASES, [("gpt2", 0), ("t5", 2)]))
def test_texts_and_scores_are_those_of_transformers(name, number):
    """Prompts of three lengths in a batch; theirs were searched one by one."""
    golden = FAMILIES[name]["searches"][number]
    values = {key: value for key, value in golden.items() if key != "found"}
    prompts = GOLDEN["prompts"]
    everything = np.ones(VOCABULARY, bool)
    in_graph = (name, number) == ("t5", 2)
    search = search_of(name, FAMILIES[name]["end"], everything, MOST, **values)
    best = searched(search, prompts, [MOST] * len(prompts), {}, in_graph)
    for row, theirs in enumerate(golden["found"]):
        assert plain(best, row) == [text for text, _ in theirs]
        np.testing.assert_allclose(best.scores[row], [score for _, score in theirs], atol=2e-5)


# All by a decoder, whose two graphs serve all, and each penalty by one that reads the prompt in an encoder.
PENALISED = {"gpt2": (0, 1, 2, 3, 4, 5), "bart": (5,), "t5": (1, 3)}


@pytest.mark.parametrize("name", often(PENALISED, ["bart"]))
def test_penalties_are_those_of_transformers(name):
    """Of four beams, whose scores they change, and of the likeliest token at each place."""
    family, prompts = FAMILIES[name], GOLDEN["prompts"]
    most, everything = [MOST] * len(prompts), np.ones(VOCABULARY, bool)
    in_graph = name == "gpt2"
    of_beams = search_of(name, family["end"], everything, MOST, beams=4, n_best=2)
    greedy = search_of(name, family["end"], everything, MOST, beams=1)
    for place, number in enumerate(PENALISED[name]):
        golden = family["penalised"][number]
        best = searched(of_beams, prompts, most, golden["asked"], in_graph)
        for row, theirs in enumerate(golden["beams"]):
            assert plain(best, row) == [text for text, _ in theirs], golden["asked"]
            np.testing.assert_allclose(best.scores[row], [score for _, score in theirs], atol=2e-5)
        if in_graph or place == 0:
            likeliest = searched(greedy, prompts, most, golden["asked"], in_graph)
            assert [plain(likeliest, row)[0] for row in range(len(prompts))] == golden["greedy"]


@pytest.mark.parametrize(
    ("length_penalty", "presence_penalty"), often([(-1.0, 1.5), (0.6, 0.0)], [(0.6, 0.0)])
)
def test_with_beams_for_every_text_the_best_of_all_are_found(length_penalty, presence_penalty):
    """Three tokens may be written, and three in a row: rows with less room have fewer texts."""
    prompts, most, tokens, end = [[5, 7, 9], [11]], [3, 2], (16, 24, 25), 25
    asked, values = {"presence_penalty": presence_penalty}, {"length_penalty": length_penalty}
    allowed = np.isin(np.arange(VOCABULARY), tokens)
    search = search_of("gpt2", end, allowed, max(most), beams=27, n_best=10, **values)
    best = searched(search, prompts, most, asked)
    values |= asked
    for row, prompt in enumerate(prompts):
        texts = every_text(prompt, most[row], tokens, end, **values)
        expected = sorted(texts, key=texts.get, reverse=True)[:10]
        assert plain(best, row) == [list(text) for text in expected]
        assert len(texts) == {3: 15, 2: 7}[most[row]]
        np.testing.assert_allclose(
            best.scores[row, : len(expected)], [texts[text] for text in expected], rtol=1e-4
        )
        if not presence_penalty:
            scores = best.scores[row] * tf.cast(best.count[row], tf.float32) ** length_penalty
            sums = tf.reduce_sum(best.log_probabilities[row], axis=1)
            np.testing.assert_allclose(sums[: len(expected)], scores[: len(expected)], rtol=1e-4)


def every_text(prompt, most, tokens, end, length_penalty, presence_penalty):
    """Returns the score of every text, by a reading of its own of each beginning."""
    found = {}
    for length in range(most):
        for begun in itertools.product([each for each in tokens if each != end], repeat=length):
            for token in tokens:
                text = (*begun, token)
                if token == end or len(text) == most:
                    found[text] = None
    sums = {}

    def after(begun):
        if begun not in sums:
            states, _ = reader("gpt2").begin(
                Prompts.of(tf.ragged.constant([[*prompt, *begun]], tf.int32), 0), 0
            )
            logits = reader("gpt2").logits(states[0, -1]).numpy()[list(tokens)]
            logs = logits - np.logaddexp.reduce(logits)
            sums[begun] = dict(zip(tokens, logs - presence_penalty * np.isin(tokens, begun)))
        return sums[begun]

    return {
        text: sum(after(text[:place])[token] for place, token in enumerate(text))
        / len(text) ** length_penalty
        for text in found
    }
