"""Parts of a bundle that KerasHub cannot express, or expresses in another way."""

import keras_hub
import numpy as np
import pytest

from firth.interop.errors import InteropError
from firth.interop.hugging_face import import_model
from firth.interop.keras_hub import export_model
from firth.interop.keras_hub.exporting import family_of, made_of
from firth.models import build_model, load_model
from firth.recipes import load_recipe
from tests.interop.hugging_face.checkpoints import checkpoint, tensors_of
from tests.interop.keras_hub import tiny

SHAPE = ["model.layers=1", "model.width=12", "model.attention.heads=3", "model.feed_forward.width=20"]
BERT = ["model.feed_forward.activation=gelu_approximate"]


def recipe_of(preset, *changes):
    return load_recipe(preset, [*SHAPE, *changes])


@pytest.mark.parametrize(
    ("preset", "changes", "message"),
    [
        ("bert_tiny", [*BERT, "model.norm.placement=pre"], "model.norm.placement: 'pre' cannot be expressed"),
        ("bert_tiny", [], "activation: 'gelu' cannot be expressed by KerasHub's BertBackbone, 'gelu_appr"),
        ("t5_tiny", ["model.positions.buckets=8"], "model.positions.buckets: 8 cannot .* T5Backbone, 32 can"),
        ("bart_tiny", ["model.decoder_layers=3"], "model.decoder_layers: 3 cannot .* BartBackbone, 1 can"),
    ],
)
def test_a_shape_that_no_class_has_is_refused_by_key(preset, changes, message):
    with pytest.raises(InteropError, match=message):
        family_of(recipe_of(preset, *changes))


def test_a_model_of_another_kind_is_refused():
    with pytest.raises(
        InteropError, match=r"model.kind: 'bilstm' .* KerasHub; masked_transformer, two_stream"
    ):
        family_of(load_recipe("elmo_tiny"))


def test_the_goal_tells_families_of_one_shape_apart():
    assert family_of(recipe_of("bert_tiny", *BERT)).backbone == "BertBackbone"
    assert family_of(recipe_of("electra_tiny", *BERT)).backbone == "ElectraBackbone"


def test_the_tokenizer_tells_llamas_apart():
    heads = "model.attention.key_value_heads=1"
    for kind, backbone in (("sentencepiece", "LlamaBackbone"), ("bpe", "Llama3Backbone")):
        assert family_of(recipe_of("llama_tiny", heads, f"tokenizer.kind={kind}")).backbone == backbone


def test_robertas_vector_of_segments_and_unused_rows_become_positions():
    lengths = ["model.positions.length=14", "sequences.length=14", "objective.max_predictions=2"]
    recipe = recipe_of("roberta_tiny", "tokenizer.vocabulary_size=300", *lengths)
    assert (recipe.model.positions.unused, recipe.model.embeddings.segments) == (2, 1)
    model = build_model(recipe, "float32")
    tiny.randomised(model)
    backbone, task, _ = made_of(model, recipe, family_of(recipe))
    assert isinstance(task, keras_hub.models.RobertaMaskedLM)
    given = {**tiny.features(), "segment_ids": np.zeros((2, tiny.LENGTH), "int32")}
    real = given["document_ids"] > 0
    states = np.array(backbone(tiny.their_inputs(given, backbone.input)))
    np.testing.assert_allclose(np.array(model.backbone(given))[real], states[real], rtol=0, atol=1e-4)
    masked = np.array([[1, 3], [2, 4]], "int32")
    logits = task({**tiny.their_inputs(given, backbone.input), "mask_positions": masked})
    ours = model.logits({**given, "masked_positions": masked})["mlm"]
    np.testing.assert_allclose(np.array(ours), np.array(logits), rtol=0, atol=1e-4)


def test_an_imported_roberta_goes_out_with_its_head_and_without_a_tokenizer(tmp_path):
    """Its tokenizer is one that KerasHub's class cannot say, or would read some texts otherwise with."""
    (tmp_path / "in").mkdir()
    import_model(
        checkpoint(tmp_path / "in", name="roberta", layer_norm_eps=1e-5), tmp_path / "bundle", "tiny"
    )
    written = export_model(tmp_path / "bundle", tmp_path / "out")
    assert "task.weights.h5" in written.files and "tokenizer.json" not in written.files
    assert written.notes[0].startswith("left out, the tokenizer: tokenizer.kind: 'wordpiece' cannot")
    task = keras_hub.models.RobertaMaskedLM.from_preset(str(tmp_path / "out"), preprocessor=None)
    ours = load_model(tmp_path / "bundle", "float32")
    given = {**tiny.features(), "segment_ids": np.zeros((2, tiny.LENGTH), "int32")}
    masked = np.array([[1, 3], [2, 4]], "int32")
    logits = task({**tiny.their_inputs(given, task.backbone.input), "mask_positions": masked})
    found = ours.logits({**given, "masked_positions": masked})["mlm"]
    np.testing.assert_allclose(np.array(found), np.array(logits), rtol=0, atol=1e-4)
    with pytest.raises(InteropError, match=r"tokenizer.kind: 'wordpiece' cannot be expressed"):
        export_model(tmp_path / "bundle", tmp_path / "near", tokenizer="near")


@pytest.mark.repeated
def test_a_head_that_nobody_has_trained_stays(tmp_path):
    (tmp_path / "in").mkdir()
    missing = {name: None for name in tensors_of("roberta") if name.startswith("lm_head")}
    path = checkpoint(tmp_path / "in", missing, "roberta", layer_norm_eps=1e-5)
    import_model(path, tmp_path / "bundle", "tiny")
    written = export_model(tmp_path / "bundle", tmp_path / "out")
    assert "task.weights.h5" not in written.files and "heads/masked_lm_head" in written.notes[-1]
    written = export_model(tmp_path / "bundle", tmp_path / "whole", heads="untrained")
    assert "task.weights.h5" in written.files


def test_what_a_model_lacks_is_made_the_same_each_time_and_said():
    recipe = recipe_of("electra_tiny", *BERT)
    model, family = build_model(recipe, "float32"), family_of(recipe)
    made = [made_of(model, recipe, family) for _ in range(2)]
    one, other = (backbone.get_layer("pooled_dense").kernel for backbone, _, _ in made)
    np.testing.assert_array_equal(np.array(one), np.array(other))
    assert 0.01 < np.array(one).std() < 0.03
    left_out, lacks = made[0][2]
    assert lacks == (
        "made from the recipe's seed, since the model has none: pooled_dense/bias, pooled_dense/kernel"
    )
    assert "no place for them: heads/decision, heads/dense, heads/generator," in left_out
