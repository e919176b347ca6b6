"""A misspelt key or kind in what a model takes is refused, and the nearest valid name is given."""

import pytest

from firth.models import BACKBONES, PretrainingModel
from tests.misspelt import check_refused
from tests.models.table import MODELS, OTHERS, TRAINED, VOCABULARY

ALL = {**MODELS, **OTHERS}


@pytest.mark.parametrize("name", ALL)
def test_misspelt_names_of_a_backbone(name):
    shape = ALL[name].model_dump(exclude={"kind"})
    make = BACKBONES[ALL[name].kind]
    assert check_refused(lambda **parts: make(VOCABULARY, **parts), shape) >= 5


@pytest.mark.parametrize("name", TRAINED)
def test_misspelt_names_of_a_pretraining_model(name):
    model, objective = TRAINED[name]
    arguments = {"model": ALL[model].model_dump(), "objective": objective.model_dump()}
    assert check_refused(lambda **parts: PretrainingModel(vocabulary_size=VOCABULARY, **parts), arguments) > 5


def test_embeddings_take_no_positions():
    with pytest.raises(ValueError, match="MaskedTransformerBackbone: `embeddings` has no key 'lenght'"):
        BACKBONES["masked_transformer"](
            VOCABULARY, layers=1, width=8, attention={"heads": 2}, embeddings={"lenght": 4}
        )
