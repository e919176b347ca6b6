"""Checkpoints that broke older converters: of training runs, tasks and other machines, and bad ones."""

import json

import numpy as np
import pytest

from firth.interop.errors import InteropError
from firth.interop.formats import FORMATS
from firth.interop.tensorflow import export_model, import_model, model_garden_exporting
from firth.interop.tensorflow.checkpoint import write_checkpoint
from firth.models.bundle import open_weights, read_recipe
from firth.storage.tensor_files import spec_of
from tests.interop.tensorflow import originals

TENSORS = originals.random(originals.bert())
KERNEL = "bert/encoder/layer_0/output/dense/kernel"
TABLE = "backbone/token_embedding/table"


def bring(tmp_path, tensors, **options):
    """Imports a folder of a BERT with these tensors, and returns the report and the bundle."""
    folder = originals.write(tmp_path / "in", tensors)
    return import_model(folder, tmp_path / "bundle", "bert", **options), tmp_path / "bundle"


def weights_of(bundle):
    with open_weights(bundle) as weights:
        return {path: np.array(weights[path]) for path in weights}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The weights of the bundle of the tensors as google-research names them."""
    return weights_of(bring(tmp_path_factory.mktemp("bert"), TENSORS)[1])


@pytest.mark.parametrize(
    "endings",
    [
        ["/adam_m", "/adam_v"],
        pytest.param(["/Adam", "/Adam_1"], marks=pytest.mark.repeated),
        pytest.param(["/lamb_m", "/lamb_v"], marks=pytest.mark.repeated),
        pytest.param(["_slot_v"], marks=pytest.mark.repeated),
        ["_slot_vr", "_slot_vc"],
    ],
)
def test_the_state_of_an_optimizer_is_counted_and_left_out(tmp_path, expected, endings):
    slots = {name + ending: tensor for name, tensor in TENSORS.items() for ending in endings}
    read, bundle = bring(tmp_path, {**TENSORS, **slots, "global_step": np.int64(7)})
    assert read.surplus == () and f" {len(slots) + 1} tensors" in read.notes[-1]
    assert all(np.array_equal(weight, expected[path]) for path, weight in weights_of(bundle).items())


def renamed(change):
    return {change(name): tensor for name, tensor in TENSORS.items()}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda name: f"module/{name}", marks=pytest.mark.repeated),
        pytest.param(lambda name: f"model/{name}", marks=pytest.mark.repeated),
        pytest.param(lambda name: f"bert_model/{name}", marks=pytest.mark.repeated),
        pytest.param(lambda name: name.replace("bert/", "bert_model/"), marks=pytest.mark.repeated),
        lambda name: name.replace("bert/", "a/b/bert/"),
        lambda name: name.replace("bert/", ""),
        lambda name: name.replace("LayerNorm/gamma", "LayerNorm/weight").replace("Norm/beta", "Norm/bias"),
    ],
    ids=["module", "model", "bert_model", "called otherwise", "two scopes", "none", "weight and bias"],
)
def test_scopes_and_other_names_of_norms(tmp_path, expected, change):
    read, bundle = bring(tmp_path, renamed(change))
    assert read.fresh == read.surplus == ()
    assert all(np.array_equal(weight, expected[path]) for path, weight in weights_of(bundle).items())


def test_a_head_of_an_unknown_name_is_left_out(tmp_path, expected):
    tensors = {name: tensor for name, tensor in TENSORS.items() if not name.startswith("cls/")}
    own = {"loss/weights": np.ones((2, originals.WIDTH), "float32"), "loss/bias": np.ones(2, "float32")}
    read, bundle = bring(tmp_path, {**tensors, **own})
    assert {*own} <= {*read.surplus} and read.has_fresh_heads
    assert np.array_equal(weights_of(bundle)[TABLE], expected[TABLE])


def test_the_configuration_may_be_in_another_folder(tmp_path):
    folder = originals.write(tmp_path / "in", TENSORS)
    there = (folder / "bert_config.json").rename(tmp_path / "mine.txt")
    with pytest.raises(InteropError, match=r"holds no \*config.json.*--config names it"):
        import_model(folder, tmp_path / "bundle", "bert")
    import_model(folder, tmp_path / "bundle", "bert", config=str(there))
    assert read_recipe(tmp_path / "bundle").model.feed_forward.activation == "gelu_approximate"


@pytest.mark.parametrize(
    ("piece", "is_small"),
    [
        ("fox", True),
        pytest.param("Fox", False, marks=pytest.mark.repeated),
        ("é", False),
        pytest.param("कु", False, marks=pytest.mark.repeated),
        pytest.param("कि", True, marks=pytest.mark.repeated),
    ],
)
def test_a_vocabulary_says_whether_letters_are_made_small(tmp_path, piece, is_small):
    pieces = [*originals.PIECES[:-1], piece]
    folder = originals.write(tmp_path / "in", TENSORS, pieces=pieces)
    read = import_model(folder, tmp_path / "bundle", "bert")
    assert read_recipe(tmp_path / "bundle").tokenizer.lowercase is is_small
    assert read.notes
    settings = {"do_lower_case": not is_small}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    import_model(folder, tmp_path / "again", "bert")
    assert read_recipe(tmp_path / "again").tokenizer.lowercase is not is_small


def test_an_encoder_of_model_garden_may_have_the_configuration_of_bert(tmp_path):
    _, bundle = bring(tmp_path, TENSORS)
    folder = tmp_path / "out"
    model_garden_exporting.export_model(bundle, folder)
    (folder / "vocab.txt").write_text((tmp_path / "in" / "vocab.txt").read_text())
    place = folder / "bert_config.json"
    place.write_text(json.dumps({**originals.BERT, "hidden_act": "relu", "hidden_dropout_prob": 0.25}))
    # As of a training run.
    whole = (folder / "params.yaml").read_text().replace("dropout_rate: 0.1", "dropout_rate: 0.125")
    (folder / "params.yaml").write_text(f"{whole}  train_data:\n    dropout_rate: 0.5\n    vocab_size: 3\n")
    read = import_model(folder, tmp_path / "of_yaml", "bert")
    model = read_recipe(tmp_path / "of_yaml").model
    assert (model.feed_forward.activation, model.dropout) == ("gelu_approximate", 0.125)
    assert not [note for note in read.notes if "optimizer" in note]
    (folder / "params.yaml").unlink()
    import_model(folder, tmp_path / "of_json", "bert")
    model = read_recipe(tmp_path / "of_json").model
    assert (model.feed_forward.activation, model.dropout) == ("relu", 0.25)
    place.write_text(json.dumps({**originals.BERT, "num_hidden_layers": 3}))
    with pytest.raises(InteropError, match=r"bert_config.json: num_layers: 3 is not that of the tensors, 2"):
        import_model(folder, tmp_path / "other", "bert")


@pytest.mark.parametrize(
    "given", ["", pytest.param("bert_model.ckpt", marks=pytest.mark.repeated), "bert_model.ckpt.index"]
)
def test_shards_and_paths_of_a_checkpoint(tmp_path, expected, given):
    folder = originals.write(tmp_path / "in", {"other": np.ones(3, "float32")}, name="model.ckpt-3")
    specs = {name: spec_of(tensor) for name, tensor in TENSORS.items()}
    files = write_checkpoint(
        str(folder / "bert_model.ckpt"), specs, lambda names: [(name, TENSORS[name]) for name in names], 4000
    )
    assert len(files) > 3
    state = (
        'model_checkpoint_path: "/tpu/run_7/bert_model.ckpt"\nall_model_checkpoint_paths: "model.ckpt-3"\n'
    )
    (folder / "checkpoint").write_text(state)
    path = folder / given
    FORMATS["tensorflow"].check_folder(path)
    FORMATS["tensorflow"].import_model(path, tmp_path / "bundle", "bert")
    assert all(np.array_equal(each, expected[key]) for key, each in weights_of(tmp_path / "bundle").items())
    (folder / files[2]).unlink()
    with pytest.raises(InteropError, match=rf"without its shard .*{files[2]}"):
        import_model(path, tmp_path / "again", "bert")


def test_the_parts_of_an_electra(tmp_path):
    folder, tensors = originals.write_family(tmp_path / "in", "electra")
    read = import_model(folder, tmp_path / "whole", "electra")
    recipe = read_recipe(tmp_path / "whole")
    assert read.fresh == read.surplus == () and recipe.objective.kind == "replaced_token_detection"
    assert recipe.objective.generator_width_fraction == pytest.approx(1 / 3)
    import_model(folder, tmp_path / "generator", "electra", part="generator")
    small = read_recipe(tmp_path / "generator")
    assert (small.model.width, small.model.embedding_width, small.objective.kind) == (4, 8, "masked_lm")
    np.testing.assert_array_equal(
        weights_of(tmp_path / "generator")["backbone/projection/kernel"],
        tensors["generator/embeddings_project/kernel"],
    )
    assert export_model(tmp_path / "generator", tmp_path / "out").notes == ()
    # Left out: a generator whose shape is not the discriminator's, made smaller, and one with own embeddings.
    wide = originals.random(originals.electra(inner=9))
    shared = {name: tensor for name, tensor in tensors.items() if name.startswith("electra/embeddings/")}
    own = {name.replace("electra/", "generator/"): tensor + 1 for name, tensor in shared.items()}
    for name, each in (("wide", wide), ("own", {**tensors, **own})):
        folder, _ = originals.write_family(tmp_path / name, "electra", each)
        read = import_model(folder, tmp_path / f"{name}_alone", "electra")
        assert "generator/encoder/layer_0/intermediate/dense/kernel" in read.surplus
        assert "heads/generator/block_0/attention/kernel" in read.fresh
    with pytest.raises(InteropError, match=r"part: 'other' is not in .*discriminator and generator"):
        import_model(folder, tmp_path / "other", "electra", part="other")


def test_an_electra_as_published_has_no_predictions_and_no_configuration(tmp_path):
    tensors = {
        name: tensor
        for name, tensor in originals.random(originals.electra()).items()
        if name.startswith("electra/")
    }
    folder, _ = originals.write_family(tmp_path / "in", "electra", tensors)
    (folder / "electra_config.json").unlink()
    read = import_model(folder, tmp_path / "bundle", "electra")
    model = read_recipe(tmp_path / "bundle").model
    assert {path.split("/")[1] for path in read.fresh} >= {"dense", "decision", "generator"}
    assert (model.width, model.embedding_width, model.inner_width, model.layers) == (12, 8, 20, 2)


def test_a_fine_tuned_xlnet_has_no_vector_of_masked_tokens(tmp_path):
    tensors = originals.random(originals.xlnet())
    del tensors["model/transformer/mask_emb/mask_emb"], tensors["model/lm_loss/bias"]
    folder, _ = originals.write_family(tmp_path / "in", "xlnet", tensors)
    read = import_model(folder, tmp_path / "bundle", "xlnet")
    assert {*read.fresh} == {"backbone/mask_embedding/table", "heads/bias"}


def test_the_stacks_of_a_t5_may_have_other_numbers_than_its_macros(tmp_path):
    """As of the T5s whose encoders are deeper: the macro is of both stacks, and one has another number."""
    tensors = {
        name: tensor
        for name, tensor in originals.random(originals.t5()).items()
        if not name.startswith("decoder/block_001")
    }
    folder, _ = originals.write_family(tmp_path / "in", "t5", tensors)
    place = folder / "operative_config.gin"
    layers = "encoder/make_layer_stack.num_layers = 2\ndecoder/make_layer_stack.num_layers = %num_layers\n"
    place.write_text(place.read_text().replace("num_layers = 2", "num_layers = 1") + layers)
    assert import_model(folder, tmp_path / "bundle", "t5").surplus == ()
    model = read_recipe(tmp_path / "bundle").model
    assert (model.layers, model.blocks_of_decoder) == (2, 1)


def test_an_mt5_has_its_sentinels_in_its_model(tmp_path):
    """As of mT5: gates, an output of its own, activations in round brackets, and no further pieces."""
    folder, tensors = originals.write_family(tmp_path / "in", "t5_1_1")
    place = folder / "operative_config.gin"
    own = "sentencepiece_vocabulary.SentencePieceVocabulary.extra_ids = 0\n"
    place.write_text(place.read_text().replace("['gelu', 'linear']", "('gelu', 'linear')") + own)
    pieces = [*originals.T5_PIECES, *(f"<extra_id_{number}>" for number in reversed(range(100)))]
    (folder / "sentencepiece.model").write_bytes(originals.sentence_piece(pieces))
    read = import_model(folder, tmp_path / "bundle", "mt5")
    recipe = read_recipe(tmp_path / "bundle")
    inner = recipe.model.feed_forward
    assert read.fresh == read.surplus == () and recipe.tokenizer.sentinels == 100
    assert (inner.gated, inner.activation, recipe.model.tied_output) == (True, "gelu_approximate", False)
    np.testing.assert_array_equal(
        weights_of(tmp_path / "bundle")["heads/table"], tensors["decoder/logits/kernel"].T
    )


def test_tables_of_t5_are_one_if_they_are_the_same(tmp_path):
    tensors = originals.random(originals.t5())
    table = tensors.pop("shared/embedding")
    both = {"encoder/embedding": table, "decoder/embedding": table}
    folder, _ = originals.write_family(tmp_path / "same", "t5", {**tensors, **both})
    assert import_model(folder, tmp_path / "bundle", "t5").surplus == ()
    recipe = read_recipe(tmp_path / "bundle")
    # The end that its tokenizer does not add by itself.
    assert recipe.objective.text_frame.after == ("sep",) and recipe.tokenizer.sentinels == 100
    apart = {**tensors, **both, "decoder/embedding": table + 1}
    folder, _ = originals.write_family(tmp_path / "apart", "t5", apart)
    with pytest.raises(InteropError, match="encoder/embedding and decoder/embedding differ"):
        import_model(folder, tmp_path / "other", "t5")
    again = "encoder/block_001/layer_000/SelfAttention/relative_attention_bias"
    more = {"shared/embedding": table, again: np.ones((3, 8), "float32")}
    folder, _ = originals.write_family(tmp_path / "more", "t5", {**tensors, **more})
    with pytest.raises(InteropError, match=f"{again} is of a model that"):
        import_model(folder, tmp_path / "other", "t5")


def _remove(*files):
    return lambda folder: [(folder / file).unlink() for file in files]


def _config(**changed):
    def change(folder):
        (place,) = [*folder.glob("*config.json"), *folder.glob("hparams.json")]
        config = {**json.loads(place.read_text()), **changed}
        place.write_text(json.dumps({key: value for key, value in config.items() if value is not None}))

    return change


def _replace(file, old, new):
    return lambda folder: (folder / file).write_text((folder / file).read_text().replace(old, new))


def _tensors(change):
    return lambda folder: originals.save(folder / "bert_model.ckpt", change(dict(TENSORS)))


UNKNOWN = {f"layer{index:02}/w": np.ones(2, "float32") for index in range(20)}
REFUSED = {
    "no data": (
        "bert",
        _remove("bert_model.ckpt.data-00000-of-00001"),
        r"without its data.*data-00000-of-00001",
    ),
    "no index": ("bert", _remove("bert_model.ckpt.index"), r"holds no checkpoint, which is files \*.index"),
    "cut short": (
        "bert",
        lambda folder: (folder / "bert_model.ckpt.index").write_bytes(b"x" * 60),
        "cannot be read",
    ),
    "data cut short": (
        "bert",
        lambda folder: (folder / "bert_model.ckpt.data-00000-of-00001").write_bytes(b"x" * 800),
        "bert_model.ckpt: .* cannot be read",
    ),
    "slots alone": (
        "bert",
        _tensors(lambda found: {f"{name}/adam_m": each for name, each in found.items()}),
        "holds no weights, only the state of a training run: bert/.*/adam_m",
    ),
    "no key": ("bert", _config(hidden_size=None), "bert_config.json: hidden_size: required"),
    "an unknown key": ("bert", _config(rotary=True), "rotary: True is not known"),
    "another activation": (
        "bert",
        _config(hidden_act="tanh"),
        "hidden_act: the activation 'tanh' is not known",
    ),
    "another size": ("bert", _config(intermediate_size=24), "layer_0/intermediate/dense/.* gives"),
    "another family": (
        "bert",
        _config(embedding_size=8, num_hidden_groups=1, inner_group_num=1),
        "describes ALBERT.*of BERT.*bert/encoder/layer_0/attention/self/query/kernel does not fit",
    ),
    "a missing tensor": ("bert", _tensors(lambda found: found | {KERNEL: None}), f"no tensor {KERNEL}"),
    "not finite": (
        "bert",
        _tensors(lambda found: found | {KERNEL: found[KERNEL] * np.nan}),
        f"{KERNEL} holds a number that is not finite",
    ),
    "no vocabulary": ("bert", _remove("vocab.txt"), r"holds no \*vocab\*.txt"),
    "unknown": (
        "bert",
        _tensors(lambda found: UNKNOWN),
        "of no system that is known: .*layer11/w and 8 more, and would have: .*h0/attn/c_attn/w",
    ),
    "a part that it has not": (
        "bert",
        lambda folder: "generator",
        "part: 'generator' is not in .*has no parts",
    ),
    "no merges": ("gpt2", _remove("vocab.bpe"), "holds no vocab.bpe"),
    "other heads": ("gpt2", _config(n_head=5), "5"),
    "tied biases": ("xlnet", _config(untie_r=False), "untie_r: False cannot be expressed here"),
    "a width of heads": ("xlnet", _config(d_head=3), "d_head: 3"),
    "another model": (
        "t5",
        _replace("operative_config.gin", "'bitransformer'", "'lm'"),
        "operative_config.gin: run.model_type: 'lm' cannot be expressed here, bitransformer can",
    ),
    "another layer": (
        "t5",
        _replace("operative_config.gin", "transformer_layers.DenseReluDense]", "moe.MoE1D]"),
        "make_layer_stack.layers: mesh_tensorflow.transformer.moe.MoE1D cannot be expressed",
    ),
    "other numbers": (
        "t5",
        _replace("operative_config.gin", "d_ff = 20", "d_ff = 24"),
        "encoder/DenseReluDense.hidden_size: 24 is not that",
    ),
    "another order of sublayers": (
        "t5",
        _replace(
            "operative_config.gin",
            "# Macros:",
            "encoder/LayerStack.sublayers_per_layer = \\\n[@transformer.sublayer_call_layer,\n"
            "@transformer.sublayer_residual,\n@transformer.sublayer_rms_norm]",
        ),
        "encoder/LayerStack.sublayers_per_layer: .* cannot be expressed here",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_one_sentence_and_leaves_nothing(tmp_path, name):
    family, change, sentence = REFUSED[name]
    folder, _ = originals.write_family(tmp_path / "in", family)
    part = change(folder)
    options = {"part": part} if isinstance(part, str) and part == "generator" else {}
    with pytest.raises(InteropError, match=sentence) as caught:
        import_model(folder, tmp_path / "bundle", family, **options)
    assert "\n" not in str(caught.value) and not (tmp_path / "bundle").exists()
