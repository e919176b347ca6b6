"""Parity with AllenNLP's ELMo: its own fixture, ten batches whose states are handed on."""

import itertools
import json

import keras
import numpy as np
import pytest

from firth.models.elmo_import import ElmoFileError, load_elmo
from tests.backends.gradients import compiled
from tests.models.elmo_files import BEGIN, END, FIXTURE, characters_of, write_random_files
from tests.models.elmo_in_numpy import ElmoInNumpy
from tests.shared_data import shared_data

h5py = pytest.importorskip("h5py")
PACKED = "tests/models/backbones/bilstm_test.py::test_packed_equals_alone_and_padding_changes_nothing"
LISTS, LENGTH = 3, 64
NAMES = ("characters", "document_ids")


@pytest.fixture(scope="module")
def files():
    return shared_data(FIXTURE)


@pytest.fixture(scope="module")
def backbone(files):
    return load_elmo(files / "options.json", files / "lm_weights.hdf5")


def make_features(sentences, length=LENGTH):
    """Sentences between the marks of begin and end, padded to `length`."""
    characters = np.zeros((len(sentences), length, 50), "int32")
    document_ids = np.zeros((len(sentences), length), "int32")
    for row, words in enumerate(sentences):
        for place, word in enumerate([BEGIN, *words, END]):
            characters[row, place] = characters_of(word, 50)
        document_ids[row, : len(words) + 2] = 1
    return {"characters": characters, "document_ids": document_ids}


@pytest.fixture(scope="module")
def run(backbone):
    """Compiled for all sentences at once: (features, state) to the layers and the state after."""
    graph = compiled(lambda *args: backbone.layer_outputs_with_state(dict(zip(NAMES, args[:2])), args[2:]))

    def call(features, state=None):
        rows = len(features["characters"])
        state = state or [np.zeros((rows, 2, 2, width), "float32") for width in (16, 64)]
        layers, state = graph(*(features[name] for name in NAMES), *state)
        return keras.ops.convert_to_numpy(layers), state

    return call


@pytest.fixture(scope="module")
def batches(files):
    lists = json.loads((files / "sentences.json").read_text())
    return [[sentence.split() for sentence in batch] for batch in zip(*lists)]


@pytest.fixture(scope="module")
def expected(files):
    """For each batch and sentence the last layer's states, [2, words, 16]."""
    opened = [h5py.File(files / f"lm_embeddings_{number}.hdf5") for number in range(LISTS)]
    return [[np.array(each[str(batch)]) for each in opened] for batch in range(len(opened[0]))]


def without_marks(layer, words):
    return np.stack(np.split(layer[1 : len(words) + 1], 2, axis=-1))


@pytest.mark.repeated
@pytest.mark.needs_data(FIXTURE, twin="test_random_files_in_plain_numpy")
def test_thirty_sentences_with_states_handed_on(run, batches, expected):
    state, compared = None, 0
    for sentences, wanted in zip(batches, expected):
        layers, state = run(make_features(sentences), state)
        for row, words in enumerate(sentences):
            np.testing.assert_allclose(without_marks(layers[row, -1], words), wanted[row], atol=1e-5)
            compared += 1
    assert compared == 30


@pytest.mark.needs_data(FIXTURE, twin=PACKED)
def test_a_sentence_without_state_is_the_same_in_any_batch(run, batches, expected):
    for sentences in batches[:3]:
        together, _ = run(make_features(sentences))
        for row, words in enumerate(sentences):
            others = [batches[5][0], batches[6][1]]
            others.insert(row, words)
            found, _ = run(make_features(others))
            np.testing.assert_allclose(found[row], together[row], atol=1e-6)
    # The first batch starts from zeros in the reference too; later ones differ by the states handed on.
    for place, close in ((0, True), (1, False)):
        words = batches[place][0]
        found = without_marks(run(make_features(batches[place]))[0][0, -1], words)
        assert (np.abs(found - expected[place][0]).max() < 1e-5) == close


@pytest.mark.needs_data(FIXTURE, twin=PACKED)
def test_packed_equals_alone(backbone, run, batches):
    features = [make_features([words], len(words) + 2) for words in batches[3]]
    packed = {name: np.concatenate([each[name] for each in features], axis=1) for name in NAMES}
    packed["document_ids"] *= np.repeat([1, 2, 3], [len(words) + 2 for words in batches[3]]).astype("int32")
    together = keras.ops.convert_to_numpy(backbone.layer_outputs(packed))[0]
    alone, _ = run(make_features(batches[3]))
    ends = np.cumsum([0, *(len(words) + 2 for words in batches[3])])
    for row, (start, end) in enumerate(itertools.pairwise(ends)):
        np.testing.assert_allclose(together[:, start:end], alone[row, :, : end - start], atol=1e-6)


@pytest.mark.needs_data(FIXTURE, twin="test_random_files_in_plain_numpy")
def test_vectors_of_words(backbone, files):
    with h5py.File(files / "elmo_token_embeddings.hdf5") as file:
        expected = np.array(file["embedding"])
    words = (files / "vocab_test.txt").read_text(encoding="utf-8").split("\n")
    characters = np.stack([characters_of(word, 50) for word in words])[None]
    found = keras.ops.convert_to_numpy(backbone.words({"characters": characters}))[0]
    assert {BEGIN, END} < set(words)
    # Values reach 5, where neighbours in float32 are 5e-7 apart: another order of sums moves some by a few.
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.needs_data(FIXTURE, twin="test_word_characters_of_hard_words")
def test_word_characters_are_those_of_the_tokenizer(files):
    words = (files / "vocab_test.txt").read_text(encoding="utf-8").split("\n")
    check_word_characters([word for word in words if word not in (BEGIN, END)])


def test_word_characters_of_hard_words():
    check_word_characters(["a", "don't", "\N{SNOWMAN}" * 20, "é", "x" * 49, "日本語", "1851", "\U0001f40b"])


def check_word_characters(words):
    word_characters = pytest.importorskip("firth.tokenizers.graph.word_characters", reason="needs TensorFlow")
    expected = np.stack([characters_of(word, 50) for word in words])
    np.testing.assert_array_equal(word_characters.word_characters(words, 50).numpy(), expected)
    marks = word_characters.sentence_characters(50)
    np.testing.assert_array_equal(marks, [characters_of(mark, 50) for mark in (BEGIN, END)])


def test_random_files_in_plain_numpy(tmp_path):
    options, weights = write_random_files(tmp_path)
    reference, loaded = ElmoInNumpy(options, weights), load_elmo(options, weights)
    for words in (["a", "snow\N{SNOWMAN}man"], ["one", "two", "three", "of-many-letters"], []):
        characters = np.stack([characters_of(word, 10) for word in [BEGIN, *words, END]])
        features = {"characters": characters[None], "document_ids": np.ones((1, len(characters)), "int32")}
        found = keras.ops.convert_to_numpy(loaded.layer_outputs(features))[0]
        np.testing.assert_allclose(found, reference.layers(characters), atol=1e-4, rtol=1e-4)


def broken(folder, options=None, weights=None):
    """Writes the files of a tiny model and applies a change to one of them."""
    paths = write_random_files(folder)
    if options:
        settings = json.loads(paths[0].read_text())
        options(settings)
        paths[0].write_text(json.dumps(settings))
    if weights:
        with h5py.File(paths[1], "r+") as file:
            weights(file)
    return paths


def drop_scale(file):
    del file["RNN_1/RNN/MultiRNNCell/Cell1/LSTMCell/W_P_0"]


CASES = [
    ({"options": lambda o: o["lstm"].pop("dim")}, r"options\.json .*'lstm\.dim'"),
    (
        {"options": lambda o: o["lstm"].update(n_layers="two")},
        r"options\.json: .*'lstm\.n_layers' is 'two'",
    ),
    ({"options": lambda o: o["char_cnn"].update(n_characters=260)}, "260, .*261 or 262"),
    (
        {"options": lambda o: o["lstm"].update(dim=32)},
        r"weights\.hdf5: .*'RNN_0.*/W_0' .*\(8, 24\).* \(8, 128\)",
    ),
    ({"weights": drop_scale}, r"weights\.hdf5 .*'RNN_1/RNN/MultiRNNCell/Cell1/LSTMCell/W_P_0'"),
]


@pytest.mark.parametrize("change, message", CASES)
def test_broken_files(tmp_path, change, message):
    with pytest.raises(ElmoFileError, match=message):
        load_elmo(*broken(tmp_path, **change))


def test_files_that_are_no_such_files(tmp_path):
    options, weights = broken(tmp_path)
    with pytest.raises(ElmoFileError, match=r"weights\.hdf5 .*JSON"):
        load_elmo(weights, weights)
    with pytest.raises(ElmoFileError, match=r"options\.json .*HDF5"):
        load_elmo(options, options)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load_elmo(options, tmp_path / "nowhere")
