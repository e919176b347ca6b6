"""Properties of the stages of every backbone."""

import pytest

from firth.models import build_backbone
from firth.models.model_kinds import BACKBONES
from tests.models.table import MODELS, OTHERS, VOCABULARY
from tests.repeating import often

ALL = {**MODELS, **OTHERS}


def test_every_kind_of_backbone_is_among_them():
    assert {model.kind for model in ALL.values()} == set(BACKBONES)


# Layers that are shared or not, of one stack, two and two directions; those of the others are like these.
FEW = {"albert, groups", "modernbert", "llama", "t5_1_1", "shared t5", "factorised", "elmo"}


@pytest.mark.parametrize("name", often(ALL, FEW))
def test_each_weight_is_in_one_stage_and_each_layer_is_a_stage(name):
    backbone = build_backbone(ALL[name], VOCABULARY, seed=1)
    stages = backbone.stages
    assert len(stages) == 1 + ALL[name].own_layers
    prefixes = [prefix for stage in stages for prefix in stage]
    assert len(set(prefixes)) == len(prefixes)
    paths = [weight.path.split("/", 1)[1] for weight in backbone.weights]
    for path in paths:
        assert len([each for each in prefixes if path.startswith(f"{each}/")]) == 1, path
    # Every layer has weights, and a norm after the last block is with it.
    for stage in stages:
        assert any(path.startswith(f"{stage[0]}/") for path in paths)
    assert all(("final_norm" in prefix) <= (stage is stages[-1]) for stage in stages for prefix in stage)


@pytest.mark.parametrize(
    "name, expected",
    [
        ("bert", (("token_embedding", "embeddings"), ("encoder/block_0",), ("encoder/block_1",))),
        pytest.param(
            "deberta",
            (
                ("token_embedding", "embeddings", "encoder/positions"),
                ("encoder/block_0",),
                ("encoder/block_1",),
            ),
            marks=pytest.mark.repeated,
        ),
        pytest.param(
            "albert",
            (("token_embedding", "embeddings", "projection"), ("encoder/block_0",)),
            marks=pytest.mark.repeated,
        ),
        (
            "t5_1_1",
            (
                (
                    "token_embedding",
                    "decoder_embeddings",
                    "encoder_embeddings",
                    "encoder/positions",
                    "decoder/positions",
                ),
                ("encoder/block_0",),
                ("encoder/block_1", "encoder/final_norm", "decoder/block_0", "decoder/final_norm"),
            ),
        ),
    ],
)
def test_the_stages_of_some_backbones(name, expected):
    assert build_backbone(ALL[name], VOCABULARY, seed=1).stages == expected
