"""Configurations and weights of each family, both ways, on what golden files of transformers hold."""

import keras
import numpy as np
import pytest

from firth.interop.errors import InteropError
from firth.interop.hugging_face.families import FAMILIES
from firth.interop.hugging_face.importing import incoming_weights
from firth.models import PretrainingModel, build_model
from firth.models.bundle import specs_of, weights_by_path
from firth.recipes import PermutationLM, load_recipe
from tests.interop.hugging_face.checkpoints import model_type, opened
from tests.models import references
from tests.models.backbones import two_stream_transformer_parity_test as xlnet
from tests.models.references import REFERENCES, Reference

FILES = {name: name for name in REFERENCES} | {"xlnet": "xlnet"}
# Keys of tokens, training and older releases, not of the model's shape.
NO_SHAPE = {"vocab_size", "pad_token_id", "decoder_start_token_id", "embd_pdrop", "max_position_embeddings"}
DEBERTA = {
    "position_buckets": 256,
    "relative_attention": True,
    "share_att_key": True,
    "norm_rel_ebd": "layer_norm",
    "position_biased_input": False,
}
files = pytest.mark.parametrize("name", FILES)


def family(name):
    return FAMILIES[model_type(name)]


def reference(name) -> Reference:
    if name == "xlnet":
        return Reference(xlnet.MODEL, PermutationLM(), FAMILIES["xlnet"].rules)
    return REFERENCES[name]


def tensors(name) -> dict[str, np.ndarray]:
    golden = references.read_golden(name)
    return {key.removeprefix("weight/"): value for key, value in golden.items() if key.startswith("weight/")}


@files
def test_a_configuration_describes_the_model_and_is_written_back(name):
    config = references.made_with(name)["config"]
    model = family(name).read_model(config)
    wanted = reference(name).model
    assert (model.layers, model.width, model.attention.heads) == (2, 16, 4)
    assert model.inner_width == wanted.inner_width == (64 if name == "gpt" else 24)
    assert model.head_width == wanted.head_width and model.feed_forward == wanted.feed_forward
    if name != "xlnet":
        assert model.norm == wanted.norm and model.positions == wanted.positions
    written = family(name).write_config(model)
    assert family(name).read_model(written) == model
    # DeBERTa's length is written where its distances were.
    assert {key: written[key] for key in config.keys() - NO_SHAPE} == {
        key: config[key] for key in config.keys() - NO_SHAPE
    }


@files
def test_weights_go_out_as_they_came_in(name):
    shape, objective, rules = reference(name)
    given = tensors(name)
    used = []
    for rule in rules(shape, objective):
        weight = rule.read(*(given[tensor] for tensor in rule.theirs))
        for tensor, back in zip(rule.theirs, rule.write(weight), strict=True):
            assert back.dtype == given[tensor].dtype
            np.testing.assert_array_equal(back, given[tensor], err_msg=tensor)
            used.append(tensor)
    assert len(used) == len(set(used)) and set(used) == set(given)


def test_grouped_query_heads_by_hand():
    """Four query heads of width 1, two heads of keys: theirs stand as 0 0 1 1, ours as 0 1 0 1."""
    from firth.interop.hugging_face.rules import AttentionHeads, self_attention

    heads = AttentionHeads(queries=4, keys=2, width=1)
    kernel, output = self_attention(["q", "k", "v", "o"], "here", heads, biases=False)
    query, key, value = np.array([[0.0], [1], [2], [3]]), np.array([[4.0], [5]]), np.array([[6.0], [7]])
    assert kernel.read(query, key, value).tolist() == [[0, 2, 1, 3, 4, 5, 6, 7]]
    assert output.read(np.array([[0.0, 1, 2, 3]])).tolist() == [[0], [2], [1], [3]]


@pytest.fixture(scope="module")
def bert():
    recipe = load_recipe("bert_tiny", ["tokenizer.vocabulary_size=40"])
    return recipe.model_copy(
        update={"model": REFERENCES["bert"].model, "objective": REFERENCES["bert"].objective}
    )


def bring_in(folder, recipe, tensors):
    """A model with weights of tensors, and what was read."""
    model = build_model(recipe)
    variables = weights_by_path(model)
    given = opened(folder / "tensors", tensors)
    incoming = incoming_weights(specs_of(variables), recipe, FAMILIES["bert"], given)
    for path, weight in incoming.weights:
        variables[path].assign(weight)
    return model, incoming.read


def test_a_model_with_heads_and_what_it_writes(bert, tmp_path):
    given = tensors("bert")
    model, read = bring_in(tmp_path, bert, given)
    assert read.fresh == read.surplus == ()
    variables, written = weights_by_path(model), {}
    for rule in FAMILIES["bert"].rules(bert.model, bert.goal):
        written |= zip(rule.theirs, rule.write(keras.ops.convert_to_numpy(variables[rule.ours])), strict=True)
    assert set(written) == set(given)
    for name, tensor in given.items():
        np.testing.assert_array_equal(written[name], tensor)


def test_a_base_model_has_fresh_heads_and_its_own_names(bert, tmp_path):
    base = {name.removeprefix("bert."): each for name, each in tensors("bert").items() if "cls." not in name}
    model, read = bring_in(tmp_path, bert, {**base, "embeddings.position_ids": np.arange(14)})
    # The base model has the pooler, and writes it without the family's name.
    assert sorted({path.split("/")[1] for path in read.fresh}) == ["masked_lm_head", "pair_head"]
    assert read.surplus == ()
    states = model.backbone(references.features_of("bert"))
    expected = references.build_model("bert").backbone(references.features_of("bert"))
    np.testing.assert_allclose(
        keras.ops.convert_to_numpy(states), keras.ops.convert_to_numpy(expected), atol=1e-6
    )


def test_what_does_not_fit_is_told_by_tensor(bert, tmp_path):
    given = tensors("bert")
    missing = {key: each for key, each in given.items() if key != "bert.encoder.layer.1.output.dense.weight"}
    name = r"bert\.encoder\.layer\.1\.output\.dense\.weight"
    with pytest.raises(InteropError, match=f"no tensor {name}, which backbone/.*/outer_kernel is made of"):
        bring_in(tmp_path, bert, missing)
    name = "bert.encoder.layer.0.attention.self.key.weight"
    with pytest.raises(InteropError, match=r"self\.key\.weight \[8, 16\].*do not fit|gives \[16, 40\]"):
        bring_in(tmp_path, bert, {**given, name: given[name][:8]})
    _, read = bring_in(tmp_path, bert, {**given, "bert.adapter.weight": given[name]})
    assert read.surplus == ("bert.adapter.weight",)


@pytest.mark.parametrize(
    ("model_type", "config", "message"),
    [
        ("bert", {"hidden_act": "mish"}, "hidden_act: the activation 'mish' is not known"),
        ("bert", {"position_embedding_type": "relative_key"}, "position_embedding_type: 'relative_key'"),
        ("llama", {"rope_scaling": {"type": "yarn"}}, "rope_type: 'yarn' cannot be expressed"),
        ("llama", {"attention_bias": True}, "attention_bias: True cannot be expressed"),
        ("bart", {"encoder_ffn_dim": 8, "decoder_ffn_dim": 9}, "decoder_ffn_dim: 9 differs"),
        ("bert", {"num_attention_heads": 7}, "heads: 7 does not divide"),
        ("bert", {"quantization_config": {"bits": 8}}, "quantization_config: "),
        ("llama", {"is_causal": False}, "is_causal: False cannot be expressed"),
        ("gpt2", {"n_head": 4, "num_attention_heads": 2}, "num_attention_heads: 2 differs from n_head: 4"),
        ("bert", {"num_attention_head": 2}, r"num_attention_head: 2 is not known here .*num_attention_heads"),
        ("bert", {"auto_map": {"AutoModel": "own.Model"}}, "auto_map: "),
        ("t5", {"num_hidden_layers": 2}, "num_hidden_layers: 2 cannot be read without num_decoder_layers"),
        ("xlnet", {"d_head": 32}, "d_head: 32 times n_head: 16"),
        ("bert", {"hidden_act": ["gelu"]}, "hidden_act: "),
        ("bert", {"type_vocab_size": "2"}, "type_vocab_size: '2' cannot be read"),
        ("roberta", {"pad_token_id": None}, "pad_token_id: None is not a whole number"),
        ("deberta-v2", {"max_relative_positions": None}, "max_relative_positions: None is not"),
        ("deberta-v2", DEBERTA | {"pos_att_type": "C2P"}, r"pos_att_type: \['c2p'\] cannot"),
        ("deberta-v2", DEBERTA | {"pos_att_type": None}, r"pos_att_type: \[\] cannot"),
        ("deberta-v2", DEBERTA, r"pos_att_type: \[\] cannot"),
        ("llama", {"rope_parameters": [1]}, r"rope_parameters: \[1\] is not a mapping"),
        ("llama", {"rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, "low_freq_factor: required"),
        *(
            ("deberta-v2", {**DEBERTA, "pos_att_type": "p2c|c2p", key: None}, f"{key}: None cannot")
            for key in DEBERTA
            if key != "position_buckets"
        ),
    ],
)
def test_what_cannot_be_expressed_is_refused_by_key(model_type, config, message):
    with pytest.raises(InteropError, match=message):
        FAMILIES[model_type].read_model(config)


def test_what_cannot_be_said_there_is_refused_by_key():
    model = references.encoder(norm=references.POST_NORM.model_copy(update={"placement": "pre"}))
    with pytest.raises(InteropError, match=r"model\.norm\.placement: 'pre' cannot be expressed there"):
        FAMILIES["bert"].write_config(model)


def test_older_releases_say_rotary_positions_in_keys_of_their_own():
    new = references.made_with("llama_3_1")["config"]
    rope = dict(new["rope_parameters"])
    old = {key: value for key, value in new.items() if key != "rope_parameters"}
    old |= {"rope_theta": rope.pop("rope_theta"), "rope_scaling": {"type": rope.pop("rope_type"), **rope}}
    assert FAMILIES["llama"].read_model(old) == FAMILIES["llama"].read_model(new)


def test_a_pretraining_model_is_what_weights_are_read_into(bert):
    assert isinstance(build_model(bert), PretrainingModel)


def test_terms_of_positions_may_be_one_text():
    model = FAMILIES["deberta-v2"].read_model({**DEBERTA, "pos_att_type": "P2C|c2p"})
    assert FAMILIES["deberta-v2"].write_config(model)["pos_att_type"] == ["p2c", "c2p"]


@pytest.mark.parametrize("key", [key for key in DEBERTA if key != "position_buckets"])
def test_a_key_that_is_missing_has_the_value_of_transformers(key):
    config = {name: value for name, value in DEBERTA.items() if name != key}
    with pytest.raises(InteropError, match=f"{key}: "):
        FAMILIES["deberta-v2"].read_model({**config, "pos_att_type": "p2c|c2p"})


@pytest.mark.parametrize(
    ("model_type", "config", "shape", "activation"),
    [
        ("albert", {}, (12, 4096, 64, 16384, 0.0, 1e-12), "gelu_approximate"),
        ("electra", {}, (12, 256, 4, 1024, 0.1, 1e-12), "gelu"),
        ("deberta-v2", {**DEBERTA, "pos_att_type": "p2c|c2p"}, (24, 1536, 24, 6144, 0.1, 1e-7), "gelu"),
    ],
)
def test_an_empty_configuration_is_that_of_transformers(model_type, config, shape, activation):
    model = FAMILIES[model_type].read_model(config)
    found = (model.layers, model.width, model.attention.heads, model.inner_width, model.dropout)
    assert (*found, model.norm.epsilon) == shape
    assert model.feed_forward.activation == activation


def test_blocks_of_barts_decoder_are_twelve_where_none_are_said():
    assert FAMILIES["bart"].read_model({"encoder_layers": 2}).blocks_of_decoder == 12


def test_rotary_positions_go_out_for_both_releases():
    new = references.made_with("llama_3_1")["config"]
    written = FAMILIES["llama"].write_config(FAMILIES["llama"].read_model(new))
    rope = written["rope_parameters"]
    assert written["rope_theta"] == rope["rope_theta"]
    assert written["rope_scaling"] == {key: rope[key] for key in rope if key != "rope_theta"}
    longest = rope["original_max_position_embeddings"] * rope["factor"]
    assert written["max_position_embeddings"] == longest
