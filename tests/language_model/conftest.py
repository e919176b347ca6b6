"""Small language models."""

import pytest

from firth.language_model import LanguageModel
from tests.exported_model import RECIPE, make_served
from tests.generation.cases import generator_of


@pytest.fixture(scope="module")
def bert():
    served = make_served(RECIPE)
    return LanguageModel(served.recipe, served.tokenizer, served.model)


@pytest.fixture
def fresh():
    served = make_served(RECIPE)
    return LanguageModel(served.recipe, served.tokenizer, served.model)


@pytest.fixture(scope="module")
def gpt2():
    made = generator_of("causal_lm")
    return LanguageModel(made.recipe, made.tokenizer, made.model)
