"""A misspelt key or kind in what a model takes is refused, and the nearest valid name is given."""

import pytest

from firth.models import BACKBONES, PretrainingModel
from tests.misspelt import check_refused
from tests.models.table import MODELS, OTHERS, TRAINED, VOCABULARY
from tests.repeating import often

ALL = {**MODELS, **OTHERS}


@pytest.mark.parametrize(
    "name", often(ALL, ["albert, groups", "deberta", "llama_3_1", "local", "factorised", "xlnet", "elmo"])
)
def test_misspelt_names_of_a_backbone(name):
    make = BACKBONES[ALL[name].kind]
    assert check_refused(lambda config: make(VOCABULARY, config), {"config": ALL[name].model_dump()}) >= 15


@pytest.mark.parametrize(
    "name",
    often(
        TRAINED,
        [
            "masked_lm, mask decoder",
            "replaced_token_detection",
            "permutation_lm",
            "denoising",
            "bidirectional_lm",
        ],
    ),
)
def test_misspelt_names_of_a_pretraining_model(name):
    model, objective = TRAINED[name]
    arguments = {"model": ALL[model].model_dump(), "objective": objective.model_dump()}
    assert check_refused(lambda **parts: PretrainingModel(vocabulary_size=VOCABULARY, **parts), arguments) > 5


def test_embeddings_take_no_positions():
    with pytest.raises(ValueError, match=r"embeddings\.lenght: .*: width, projected, segments, norm"):
        BACKBONES["masked_transformer"](VOCABULARY, {"embeddings": {"lenght": 4}})
