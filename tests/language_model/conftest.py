"""Small language models. Fixtures import what needs TensorFlow, which tests on JAX have not."""

import pytest

from firth.language_model import LanguageModel


def _bert():
    from tests.exported_model import RECIPE, make_served

    served = make_served(RECIPE)
    return LanguageModel(served.recipe, served.tokenizer, served.model)


@pytest.fixture(scope="module")
def bert():
    return _bert()


@pytest.fixture
def fresh():
    return _bert()


@pytest.fixture(scope="module")
def gpt2():
    from tests.generation.cases import generator_of

    made = generator_of("causal_lm")
    return LanguageModel(made.recipe, made.tokenizer, made.model)
