"""A model whose weights are mostly kernels, exported once with its weights in 8 bits."""

from firth.serving.saved_model import export
from tests.exported_model import RECIPE, UNIGRAM_COUNTS, exported_rows, make_served

WIDE = RECIPE.model_copy(update={"model": RECIPE.model.model_copy(update={"width": 64})})


def stored_as(recipe, kind):
    """Returns a recipe whose export stores weights in a type."""
    return recipe.model_copy(update={"export": recipe.export.model_copy(update={"weights": kind})})


def exported_in_8_bits(made_once) -> str:
    """Returns the folder of the SavedModel, with its loss on `exported_rows()`.

    Args:
        made_once: The fixture of this name.
    """

    def make(folder):
        served = make_served(stored_as(WIDE, "int8"))
        rows, _ = exported_rows()
        export(served.model, served.tokenizer, served.recipe, UNIGRAM_COUNTS, str(folder), rows)

    return str(made_once("masked_lm_in_8_bits", make))
