"""Parameters, FLOPs and memory of a recipe, from its types alone, so that no model need be built to count."""

from firth.recipes.model import Bert
from firth.recipes.recipe import Recipe

_FLOAT32 = 4
_BFLOAT16 = 2


def parameter_counts(recipe: Recipe) -> dict[str, int]:
    """Returns the numbers of trainable parameters, by part.

    `embeddings`: the token, segment and position tables, and their norm. `encoder`: all blocks. `pooler`,
    `masked_lm_head` (its projection is the token table's and not counted again) and `next_sentence_head`;
    pooler and next sentence head are counted also where the objective does not use them, as published counts
    do. `total`: embeddings, encoder and pooler, the number that papers quote. `total_with_heads`: what the
    recipe's objective trains.

    Example:

    >>> from firth.recipes.sources import TextSource
    >>> recipe = Recipe(name="base", sources=(TextSource(kind="text", paths=("*.txt",)),))
    >>> parameter_counts(recipe)["total"]
    109482240
    """
    model, vocabulary = recipe.model, recipe.tokenizer.vocabulary_size
    norm = 2 * model.width
    counts = {
        "embeddings": (vocabulary + model.segments + model.positions) * model.width + norm,
        "encoder": model.layers * _block_parameters(model),
        "pooler": _dense(model.width, model.width),
        "masked_lm_head": _dense(model.width, model.width) + norm + vocabulary,
        "next_sentence_head": _dense(model.width, 2),
    }
    backbone = counts["embeddings"] + counts["encoder"]
    trained = backbone + counts["masked_lm_head"]
    if recipe.objective.next_sentence:
        trained += counts["pooler"] + counts["next_sentence_head"]
    return {**counts, "total": backbone + counts["pooler"], "total_with_heads": trained}


def _dense(inputs: int, outputs: int) -> int:
    return inputs * outputs + outputs


def _block_parameters(model: Bert) -> int:
    attention = _dense(model.width, 3 * model.width) + _dense(model.width, model.width)
    feed_forward = _dense(model.width, model.inner_width) + _dense(model.inner_width, model.width)
    return attention + feed_forward + 2 * 2 * model.width


def training_flops_per_step(recipe: Recipe) -> int:
    """Returns the floating point operations of one optimizer step over the whole batch.

    Counted are the matmuls, a multiply and an add as two, forward once and backward twice: attention over
    whole rows (a packed row's masked scores are computed all the same), the vocabulary projection at
    `max_predictions` positions of each row. Norms, activations, look-ups and the optimizer are left out,
    some 2% of the operations.

    Example:

    >>> from firth.recipes.sources import TextSource
    >>> recipe = Recipe(name="base", sources=(TextSource(kind="text", paths=("*.txt",)),))
    >>> f"{training_flops_per_step(recipe):.3e}"
    '1.791e+13'
    """
    model, batch = recipe.model, recipe.training.batch_size
    width, length = model.width, recipe.sequences.length
    token = model.layers * width * (4 * width + 2 * length + 2 * model.inner_width)
    prediction = width * (width + recipe.tokenizer.vocabulary_size)
    pair = width * (width + 2) if recipe.objective.next_sentence else 0
    row = length * token + recipe.objective.max_predictions * prediction
    row += recipe.sequences.max_documents * pair
    return 3 * 2 * batch * row


def memory_bytes(recipe: Recipe) -> dict[str, int]:
    """Returns the bytes that training holds at once, by what they hold.

    `weights`, `gradients` and `moments` (AdamW keeps two of each weight) are float32 under either precision,
    and exact. `activations` is an estimate of what the forward pass keeps for the backward pass over one
    batch, in the compute dtype: for each token and block 9 tensors as wide as the hidden states, 3 as wide
    as the feed-forward layer, and 3 rows of attention probabilities a head (scores' softmax, the dropout
    mask, their product); for each prediction the logits and their probabilities in float32. The peak lies
    above the sum by what the largest single operation needs. All replicas are counted together for
    activations, one for the rest.

    Example:

    >>> from firth.recipes.sources import TextSource
    >>> recipe = Recipe(name="base", sources=(TextSource(kind="text", paths=("*.txt",)),))
    >>> memory_bytes(recipe)["moments"]
    880851424
    """
    parameters = parameter_counts(recipe)["total_with_heads"]
    counts = {
        "weights": _FLOAT32 * parameters,
        "gradients": _FLOAT32 * parameters,
        "moments": 2 * _FLOAT32 * parameters,
        "activations": recipe.training.batch_size * _row_activation_bytes(recipe),
    }
    return {**counts, "total": sum(counts.values())}


def _row_activation_bytes(recipe: Recipe) -> int:
    model, length = recipe.model, recipe.sequences.length
    element = _FLOAT32 if recipe.training.precision == "float32" else _BFLOAT16
    token = 9 * model.width + 3 * model.inner_width + 3 * model.heads * length
    logits = 2 * _FLOAT32 * recipe.objective.max_predictions * recipe.tokenizer.vocabulary_size
    return element * length * (model.layers * token + model.width) + logits
