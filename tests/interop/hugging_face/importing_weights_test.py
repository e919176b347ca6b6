"""Tensors of a checkpoint: those that a model cannot take, that it does not need, and that are missing."""

import json

import numpy as np
import pytest

from firth.interop.errors import InteropError
from firth.interop.hugging_face import import_model
from firth.interop.hugging_face.checkpoint_folder import Directory
from firth.models.bundle import open_weights, untrained_weights
from tests.interop.hugging_face.checkpoints import checkpoint, tensors_of

TABLE = "bert.embeddings.word_embeddings.weight"
NORM = "bert.embeddings.LayerNorm"


def bring_in(tmp_path, name="bert", changed=(), **config):
    tmp_path.joinpath("in").mkdir()
    return import_model(checkpoint(tmp_path / "in", changed, name, **config), tmp_path / "bundle", name)


@pytest.mark.parametrize(
    ("name", "changed", "message"),
    [
        ("bert", {NORM + ".bias": np.full(16, np.nan, "float32")}, "bias holds a number that is not finite"),
        pytest.param(
            "bert",
            {NORM + ".bias": np.full(16, np.inf, "float16")},
            "bias holds a number that is not finite",
            marks=pytest.mark.repeated,
        ),
        ("bert", {NORM + ".bias": np.ones(16, "int8")}, "bias holds no floating-point numbers"),
        ("bert", {NORM + ".bias": np.full(16, 0.1)}, "bias of float64 would be rounded to float32"),
        ("bert", {NORM + ".bias": np.zeros((16, 2), "float32")}, r"bias \[16, 2\] gives \[16, 2\], .*\[16\]"),
        ("bert", {NORM + ".bias": None}, "no tensor bert.embeddings.LayerNorm.bias, which backbone/"),
        (
            "bert",
            {"cls.predictions.decoder.weight": np.ones((40, 16), "float32")},
            f"cls.predictions.decoder.weight is not {TABLE}, to which it is tied here",
        ),
        ("bart", {"final_logits_bias": np.ones((1, 40), "float32")}, "final_logits_bias is not zero"),
    ],
)
def test_what_cannot_be_taken_is_named(name, changed, message, tmp_path):
    with pytest.raises(InteropError, match=message):
        bring_in(tmp_path, name, changed)
    assert not (tmp_path / "bundle").exists()


def test_repeated_tensors_and_ids_of_positions_are_no_surplus(tmp_path):
    table = tensors_of("bert")[TABLE]
    more = {"cls.predictions.decoder.weight": table, "bert.embeddings.position_ids": np.arange(14)}
    assert bring_in(tmp_path, changed=more).surplus == ()


def test_another_head_is_surplus_and_ours_are_fresh(tmp_path):
    heads = {name: None for name in tensors_of("bert") if name.startswith("cls.")}
    classifier = {"classifier.weight": np.ones((3, 16), "float32"), "classifier.bias": np.ones(3, "float32")}
    read = bring_in(tmp_path, changed={**heads, **classifier})
    pooler = {"bert.pooler.dense.weight", "bert.pooler.dense.bias"}
    assert set(read.surplus) == {*classifier, *pooler}
    assert read.fresh and all(path.startswith("heads/masked_lm_head/") for path in read.fresh)
    with open_weights(tmp_path / "bundle") as weights:
        assert untrained_weights(weights) == read.fresh


def test_fresh_heads_follow_from_the_seed(tmp_path):
    heads = {name: None for name in tensors_of("bert") if name.startswith("cls.")}
    made = []
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        bring_in(tmp_path / place, changed=heads)
        with open_weights(tmp_path / place / "bundle") as weights:
            made.append(weights["heads/masked_lm_head/dense/kernel"])
    assert np.ptp(made[0]) > 0
    np.testing.assert_array_equal(*made)


def test_older_names_of_norms_are_known(tmp_path):
    tensors = tensors_of("bert")
    older = {NORM + ".weight": None, NORM + ".bias": None}
    older |= {NORM + ".gamma": tensors[NORM + ".weight"], NORM + ".beta": tensors[NORM + ".bias"]}
    assert bring_in(tmp_path, changed=older).fresh == ()


def test_a_tied_table_may_have_the_name_of_a_copy(tmp_path):
    table = tensors_of("t5")["shared.weight"]
    read = bring_in(tmp_path, "t5", {"shared.weight": None, "encoder.embed_tokens.weight": table})
    assert read.fresh == read.surplus == ()


@pytest.mark.parametrize("said", [{"scale_decoder_outputs": False}, {"tie_word_embeddings": False}])
def test_an_output_that_t5_1_1_computes_from_the_token_table_is_not_fresh(said, tmp_path):
    from firth.interop.hugging_face import export_model
    from firth.models.bundle import read_recipe

    read = bring_in(tmp_path, "t5", **{"tie_word_embeddings": True, **said})
    assert read.fresh == read.surplus == ()
    model = read_recipe(tmp_path / "bundle").model
    assert (model.tied_output, model.scaled_output) == (True, False)
    export_model(tmp_path / "bundle", tmp_path / "out")
    assert Directory(tmp_path / "out").config["scale_decoder_outputs"] is False


def test_an_output_of_its_own_next_to_a_scale_is_refused(tmp_path):
    own = np.full((64, 16), 0.5, "float32")
    with pytest.raises(InteropError, match="scale_decoder_outputs: True cannot be expressed here"):
        bring_in(tmp_path, "t5", {"lm_head.weight": own})


def test_a_head_of_which_a_part_is_missing_is_refused(tmp_path):
    with pytest.raises(
        InteropError, match=r"no tensor cls\.predictions\.bias, which heads/masked_lm_head/bias"
    ):
        bring_in(tmp_path, changed={"cls.predictions.bias": None})


def test_an_output_of_its_own_is_read_where_the_configuration_says_so(tmp_path):
    own = np.full((40, 16), 0.5, "float32")
    bring_in(tmp_path, "gpt2", {"lm_head.weight": own}, tie_word_embeddings=False)
    with open_weights(tmp_path / "bundle") as weights:
        np.testing.assert_array_equal(weights["heads/table"], own)


def test_distilbert_comes_in_and_goes_out(tmp_path):
    """Its tensors are BERT's under names of its own."""
    from firth.interop.hugging_face import export_model
    from firth.interop.hugging_face.families import FAMILIES
    from firth.recipes import MaskedLM
    from tests.models.references import REFERENCES

    config = {"dim": 16, "n_layers": 2, "n_heads": 4, "hidden_dim": 24, "max_position_embeddings": 14}
    model, goal = FAMILIES["distilbert"].read_model(config), MaskedLM(next_sentence=False)
    names = {rule.ours: rule.theirs for rule in FAMILIES["distilbert"].rules(model, goal)}
    given = tensors_of("bert")
    tensors = {
        theirs: given[bert]
        for rule in FAMILIES["bert"].rules(REFERENCES["bert"].model, goal)
        for theirs, bert in zip(names.get(rule.ours, ()), rule.theirs)
    }
    assert {"distilbert.transformer.layer.1.attention.q_lin.weight", "vocab_projector.bias"} <= set(tensors)
    path = checkpoint(tmp_path, {**dict.fromkeys(given), **tensors})
    said = {"model_type": "distilbert", "vocab_size": 40, **config}
    (tmp_path / "config.json").write_text(json.dumps(said))
    read = import_model(path, tmp_path / "bundle", "small")
    assert read.fresh == read.surplus == ()
    export_model(tmp_path / "bundle", tmp_path / "out")
    with Directory(tmp_path / "out").tensors() as found:
        assert set(found) == set(tensors)
        assert all(found[name].tobytes() == each.tobytes() for name, each in tensors.items())
    assert Directory(tmp_path / "out").config["architectures"] == ["DistilBertForMaskedLM"]


def test_an_output_of_its_own_is_not_the_token_table(tmp_path):
    own = np.full((40, 16), 0.5, "float32")
    changed = {"lm_head.weight": own, "transformer.wte.weight": None}
    with pytest.raises(InteropError, match=r"no tensor transformer\.wte\.weight"):
        bring_in(tmp_path, "gpt2", changed, tie_word_embeddings=False)


@pytest.mark.parametrize("name", ["roberta"])
def test_a_head_with_another_activation_than_theirs_is_fresh(name, tmp_path):
    """RoBERTa's head has exact gelu there, whatever its backbone has."""
    read = bring_in(tmp_path, name, hidden_act="gelu_new")
    assert "heads/masked_lm_head/dense/kernel" in read.fresh and "lm_head.dense.weight" in read.surplus
    assert read.sentences(1)[0].startswith(
        "fresh, and random until trained, since RobertaForMaskedLM has exact"
    )
