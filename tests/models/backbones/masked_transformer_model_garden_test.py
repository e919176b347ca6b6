"""Parity with tf-models-official's BERT, whose Keras 2 (`tf_keras`) runs next to our Keras 3."""

import keras
import numpy as np
import pytest

from firth.models import build_pretraining_model, example_sums, total_loss
from tests.models import weights
from tests.models.table import LENGTH, MODELS, VOCABULARY, tiny_recipe, training_features

if keras.backend.backend() != "tensorflow":
    pytest.skip("tf-models-official runs on TensorFlow", allow_module_level=True)

networks = pytest.importorskip("official.nlp.modeling.networks", reason="needs the modelgarden extra")

pytestmark = pytest.mark.repeated

SHAPE = MODELS["bert"]


def exact_gelu(x):
    import tf_keras

    return tf_keras.activations.gelu(x, approximate=False)


@pytest.fixture(scope="module")
def reference():
    """The official pre-training model, all of its weights random."""
    from official.nlp.modeling import layers, models

    encoder = networks.BertEncoderV2(
        vocab_size=VOCABULARY,
        hidden_size=SHAPE.width,
        num_layers=SHAPE.layers,
        num_attention_heads=SHAPE.attention.heads,
        max_sequence_length=SHAPE.longest,
        type_vocab_size=SHAPE.embeddings.segments,
        inner_dim=SHAPE.inner_width,
        inner_activation=exact_gelu,
        output_dropout=0.0,
        attention_dropout=0.0,
    )
    head = layers.ClassificationHead(inner_dim=SHAPE.width, num_classes=2, name="next_sentence")
    model = models.BertPretrainerV2(encoder, mlm_activation=exact_gelu, classification_heads=[head])
    model(reference_inputs(unpacked_features()))
    generator = np.random.default_rng(0)
    for weight in model.weights:
        weight.assign(generator.normal(size=weight.shape) * 0.3 + ("gamma" in weight.name))
    return model


def unpacked_features() -> dict[str, np.ndarray]:
    """One document a row, from 12 to 6 tokens long: the official model cannot pack."""
    features = training_features("masked_lm")
    lengths = np.array([LENGTH, 9, 6])[:, None]
    features["document_ids"] = (np.arange(LENGTH) < lengths).astype("int32")
    features["position_ids"] = np.tile(np.arange(LENGTH, dtype="int32"), (len(lengths), 1))
    features["masked_positions"] = np.array([[1, 11, 0], [3, 8, 0], [5, 2, 0]], "int32")
    for name in ("pooled_positions", "next_sentence_labels", "next_sentence_weights"):
        features[name] = features[name][:, :1]
    return features


def reference_inputs(features) -> dict:
    return {
        "input_word_ids": features["token_ids"],
        "input_mask": features["document_ids"],
        "input_type_ids": features["segment_ids"],
        "masked_lm_positions": features["masked_positions"],
    }


def convert(reference) -> dict[str, np.ndarray]:
    """Returns the official weights by the paths that ours have."""
    state = {weight.name.removesuffix(":0"): weight.numpy() for weight in reference.weights}
    width, encoder = SHAPE.width, "bert_encoder_v2"

    def linear(name):
        bias = state[f"{name}/bias"]
        return state[f"{name}/kernel"].reshape(-1, bias.size), bias.reshape(-1)

    def layer_norm(path, name):
        return weights.norm(path, state[f"{name}/gamma"], state[f"{name}/beta"])

    predictions = "bert/cls/predictions"
    ours = {
        "backbone/token_embedding/table": state[f"{encoder}/word_embeddings/embeddings"],
        "backbone/embeddings/segment/table": state[f"{encoder}/type_embeddings/embeddings"],
        "backbone/embeddings/position/table": state[f"{encoder}/position_embedding/embeddings"],
        **layer_norm("backbone/embeddings/norm", f"{encoder}/embeddings/layer_norm"),
        **weights.dense("heads/masked_lm_head/dense", linear(f"{predictions}/transform/dense")),
        **layer_norm("heads/masked_lm_head/norm", f"{predictions}/transform/LayerNorm"),
        "heads/masked_lm_head/bias": state[f"{predictions}/output_bias/bias"],
        **weights.dense("heads/pooler/dense", linear("bert/next_sentence/pooler_dense")),
        **weights.dense("heads/pair_head/dense", linear("bert/next_sentence/logits")),
    }
    for index in range(SHAPE.layers):
        here, there = f"backbone/encoder/block_{index}", f"{encoder}/transformer/layer_{index}"
        query, key, value = (linear(f"{there}/self_attention/{part}") for part in ("query", "key", "value"))
        output = state[f"{there}/self_attention/attention_output/kernel"].reshape(width, width)
        output = (output, state[f"{there}/self_attention/attention_output/bias"])
        ours |= weights.attention(f"{here}/attention", query, key, value, output)
        ours |= layer_norm(f"{here}/attention_norm", f"{there}/self_attention_layer_norm")
        inner, outer = linear(f"{there}/intermediate"), linear(f"{there}/output")
        ours |= weights.feed_forward(f"{here}/feed_forward", inner, outer)
        ours |= layer_norm(f"{here}/feed_forward_norm", f"{there}/output_layer_norm")
    return ours


@pytest.fixture(scope="module")
def model(reference):
    model = build_pretraining_model(tiny_recipe(SHAPE))
    weights.copy_weights(model, convert(reference))
    return model


def test_hidden_states(model, reference):
    features = unpacked_features()
    expected = reference(reference_inputs(features))["sequence_output"].numpy()
    real = features["document_ids"] == 1
    np.testing.assert_allclose(np.array(model.backbone(features))[real], expected[real], atol=1e-4)


def test_losses(model, reference):
    """The official task's losses: cross-entropy over the sum of weights, and its mean over the examples."""
    import tf_keras

    features = unpacked_features()
    outputs = reference(reference_inputs(features))
    cross_entropy = tf_keras.losses.sparse_categorical_crossentropy
    losses = cross_entropy(features["masked_labels"], outputs["mlm_logits"], from_logits=True).numpy()
    masked_lm_loss = np.average(losses, weights=features["masked_weights"])
    labels = features["next_sentence_labels"][:, 0]
    next_sentence_loss = cross_entropy(labels, outputs["next_sentence"], from_logits=True).numpy().mean()
    found = total_loss(example_sums(model(features)), {"mlm": 1.0, "nsp": 1.0})
    assert abs(float(found["mlm_loss"]) - masked_lm_loss) < 1e-4
    assert abs(float(found["nsp_loss"]) - next_sentence_loss) < 1e-4
