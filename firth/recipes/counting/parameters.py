"""Parameters of a recipe, by part."""

from firth.recipes.counting.heads import HEADS, heads_of
from firth.recipes.models.counts import dense
from firth.recipes.run.run_recipe import RunRecipe


def parameter_counts(recipe: RunRecipe) -> dict[str, int]:
    """Returns the numbers of trainable parameters, by part.

    The parts are those of the backbone (`embeddings`, `encoder`, `decoder`; of ELMo `characters` and `lstm`;
    see `parameter_counts` of each type of model) and of the objective's heads
    (`firth.recipes.counting.heads`).

    `total` is the number that papers and checkpoints quote for the family:

    - BERT, RoBERTa, SpanBERT, ALBERT, UniLM: embeddings, encoder and pooler, trained or not, without heads.
    - ELECTRA, DeBERTa-v3: the discriminator's embeddings and encoder.
    - XLNet: embeddings and encoder.
    - GPT, Llama, prefix LM, T5, BART: everything, the output projection too where it is not the token table.
    - ELMo: characters and LSTMs, without the softmax.

    `total_with_heads`: what the recipe's objective trains. Of a task there are the parts of the backbone and
    their `total`; `firth.tuning.trainable_parameters` says how many are trained, the head among them.

    Args:
        recipe: Recipe of the model.

    Example:

    >>> from firth.recipes.corpus.sources import TextSource
    >>> from firth.recipes.run.recipe import Recipe
    >>> recipe = Recipe(name="base", sources=(TextSource(kind="text", paths=("*.txt",)),))
    >>> parameter_counts(recipe)["total"]
    109482240
    """
    model, goal, vocabulary = recipe.model, recipe.goal, recipe.tokenizer.vocabulary_size
    backbone = model.parameter_counts(vocabulary)
    if goal.heads not in HEADS:
        return {**backbone, "total": sum(backbone.values())}
    # A projection that is the token table is not counted again; its bias is.
    on_top = heads_of(recipe).parameters()
    pooled = {"pooler": dense(model.width, model.width)} if goal.counts_pooler else {}
    inner = sum(backbone.values())
    output = on_top.get("language_model_head", 0)
    trained = inner + sum(on_top.values()) + (sum(pooled.values()) if goal.trains_pooler else 0)
    return {
        **backbone,
        **pooled,
        **on_top,
        "total": inner + sum(pooled.values()) + output,
        "total_with_heads": trained,
    }
