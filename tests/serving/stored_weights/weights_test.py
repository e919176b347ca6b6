"""A SavedModel of weights that are read from a bundle and never held together."""

import functools
import pathlib

import numpy as np
import pytest
import tensorflow as tf

from firth.models import BundleError, save_model
from firth.models.builders import build_outline
from firth.models.bundle import open_weights, weights_by_path
from firth.serving import export_bundle
from firth.serving.embeddings import embed
from firth.serving.served_model import Served
from firth.serving.signatures import text_signatures
from firth.serving.stored_weights.weights import PackedWeights, StreamedWeights
from firth.storage.tensor_files import TensorFile
from firth.tokenizers import save_tokenizer
from tests.exported_model import RECIPE, make_served
from tests.generation.cases import eagerly
from tests.repeating import often
from tests.serving.signatures_families_test import TEXTS, served


def bundle_of(model: Served, folder: pathlib.Path) -> pathlib.Path:
    save_tokenizer(model.tokenizer, folder / "tokenizer")
    save_model(model.model, model.recipe, folder / "tokenizer", folder / "bundle")
    return folder / "bundle"


def check_equal(found: dict[str, tf.Tensor], expected: dict[str, tf.Tensor]) -> None:
    """Compares numbers; pieces follow from them."""
    numbers = [name for name, each in expected.items() if each.dtype != tf.string]
    assert numbers and found.keys() == expected.keys()
    for name in numbers:
        np.testing.assert_allclose(found[name], expected[name], atol=1e-5, err_msg=name)


def test_a_bundle_is_exported_with_no_more_than_its_largest_tensor_in_memory(
    tmp_path, monkeypatch, one_signature
):
    model = make_served(RECIPE)
    bundle = bundle_of(model, tmp_path)
    written = tmp_path / "exported" / "variables"
    sizes, written_before = [], []
    read = TensorFile.__getitem__

    def watched(file, name):
        tensor = read(file, name)
        sizes.append(tensor.nbytes)
        written_before.append(len(list(written.parent.parent.glob("**/*data-*"))))
        return tensor

    monkeypatch.setattr(TensorFile, "__getitem__", watched)
    export_bundle(bundle, tmp_path / "exported")
    largest = max(sizes)
    files = list(written.glob("variables.data-*"))
    assert sum(sizes) > 3 * largest
    # A shard is read when all before it are files.
    for number in range(len(files)):
        read_at_once = [size for size, before in zip(sizes, written_before) if before == number]
        assert sum(read_at_once) <= largest

    loaded = tf.saved_model.load(str(tmp_path / "exported"))
    values = {each.name: each for each in loaded.model_variables}
    assert len(values) == len(model.model.variables)
    for weight in weights_by_path(model.model).values():
        np.testing.assert_array_equal(values[f"{weight.path}:0"], weight)
    texts = tf.constant(["the cat [MASK] on the mat .", "a word"])
    check_equal(loaded.signatures["embed"](text=texts), embed(model, texts))


# A signature that reads all weights of each kind of model, or the most.
READING = {
    "bert_tiny": "fill_mask",
    "deberta_v3_tiny": "fill_mask",
    "xlnet_tiny": "embed",
    "gpt2_tiny": "generate",
    "t5_tiny": "score",
    "elmo_tiny": "generate",
}


@pytest.mark.parametrize("name", often(READING, ("t5_tiny", "elmo_tiny")))
@eagerly()
def test_every_kind_of_model_computes_with_streamed_weights(name, tmp_path):
    model = served(name)
    outline = build_outline(model.recipe)
    with open_weights(bundle_of(model, tmp_path)) as file:
        weights = StreamedWeights(outline, file)
    for room, variable in zip(weights.variables, model.model.variables, strict=True):
        room.assign(variable)
    signature = text_signatures(model.recipe, model.tokenizer.mask_token)[READING[name]]
    texts = [tf.constant([text + signature.needs for text in TEXTS])] * len(signature.inputs)
    texts += [tf.constant([each.example] * len(TEXTS), each.dtype) for each in signature.parameters.values()]
    streamed = functools.partial(signature.function, Served(outline, model.tokenizer, model.recipe))
    check_equal(weights.bind(streamed)(*texts), signature.function(model, *texts))


def test_a_value_by_its_name_reaches_the_function():
    # As a graph passes the defaults of a function, which others bind.
    def doubled(text: tf.Tensor, times: int = 2) -> tf.Tensor:
        return tf.repeat(text, times)

    bound = PackedWeights(served("bert_tiny").model, "float32").bind(doubled)
    graph = tf.function(bound, input_signature=[tf.TensorSpec([1], tf.string)])
    assert len(graph(tf.constant(["a"]))) == 2 and len(bound(tf.constant(["a"]), times=3)) == 3


def test_weights_of_another_model_are_refused(tmp_path):
    bundle = bundle_of(make_served(RECIPE), tmp_path)
    other = RECIPE.model_copy(update={"model": RECIPE.model.model_copy(update={"layers": 2})})
    outline = build_outline(other)
    with open_weights(bundle) as file, pytest.raises(BundleError, match="block_1"):
        StreamedWeights(outline, file)
