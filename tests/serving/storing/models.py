"""A model whose weights are mostly kernels, exported once with its weights in 8 bits."""

from unittest import mock

from firth.serving.saved_model import export
from firth.serving.signatures import text_signatures
from tests.exported_model import RECIPE, UNIGRAM_COUNTS, exported_rows, make_served
from tests.generation.cases import eagerly

# The loss is measured on so many.
ROWS = 4
WIDE = RECIPE.model_copy(update={"model": RECIPE.model.model_copy(update={"width": 64})})


def stored_as(recipe, kind):
    """Returns a recipe whose export stores weights in a type."""
    return recipe.model_copy(update={"export": recipe.export.model_copy(update={"weights": kind})})


def exported_in_8_bits(made_once) -> str:
    """Returns the folder of the SavedModel of `embed` and `evaluate`, with its loss on the first `ROWS` rows.

    Args:
        made_once: The fixture of this name.
    """

    def make(folder):
        served = make_served(stored_as(WIDE, "int8"))
        rows = exported_rows()[0][:ROWS]
        # Tracing takes most of an export's time: that of other signatures, and of the loss by both types.
        offered = {"embed": text_signatures(served.recipe)["embed"]}
        with mock.patch("firth.serving.saved_model.text_signatures", lambda *_: offered), eagerly():
            export(served.model, served.tokenizer, served.recipe, UNIGRAM_COUNTS, str(folder), rows)

    return str(made_once("masked_lm_in_8_bits", make))
