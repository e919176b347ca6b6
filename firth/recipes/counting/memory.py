"""Parameters of a recipe by part, and the memory that its training needs."""

from collections.abc import Mapping

from firth.recipes.counting.heads import HEADS, heads_of, lengths_of
from firth.recipes.models.facts import FLOAT32, dense
from firth.recipes.run.recipe import Recipe
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.run.stages import stages_of

_BFLOAT16 = 2


def memory_bytes(recipe: Recipe, last_stage: bool = False) -> dict[str, int]:
    """Returns the bytes that a step of the training holds at its peak, by what they hold.

    `weights` and `gradients` are float32 under either precision, `moments` what the optimizer keeps them in;
    all are exact, of Muon an upper bound: AdamW, LAMB and Muon keep two moments of each weight, Muon only one
    of a matrix, and Adagrad one. Adafactor keeps those of rows, columns and vectors, less than a hundredth of
    the weights, which are not counted. `activations` are those of the largest batch when the backward
    pass begins, see `activation_bytes`, and `update` the numbers that the update of the largest weight holds
    next to all gradients. With accumulation, both are of a part of a batch, and `accumulated`
    is the sum of the gradients so far. `activations` counts all replicas together; the others count one.

    `checkpoint` is the copy of weights and moments that is written while training continues, in the memory of
    the host.

    `total` is what is held at once, as `total_bytes` says, of tensors as TensorFlow makes them, one operation
    at a time.

    Args:
        recipe: Recipe of the whole run.
        last_stage: Whether `activations` are those of the last stage.

    Example:

    >>> from firth.recipes.corpus.sources import TextSource
    >>> recipe = Recipe(name="base", sources=(TextSource(kind="text", paths=("*.txt",)),))
    >>> memory_bytes(recipe)["moments"]
    880851424
    """
    parameters = parameter_counts(recipe)["total_with_heads"]
    stages = [stage for _, _, stage in stages_of(recipe)[-1 if last_stage else 0 :]]
    largest = recipe.model.largest_weight(recipe.tokenizer.vocabulary_size)
    counts = {
        "weights": FLOAT32 * parameters,
        "gradients": FLOAT32 * parameters,
        "moments": recipe.training.optimizer.bytes_kept * parameters,
        "activations": max(map(activation_bytes, stages)),
        "update": recipe.training.optimizer.bytes_working * largest,
    }
    if recipe.training.gradient_accumulation_steps > 1:
        counts["accumulated"] = FLOAT32 * parameters
    counts["checkpoint"] = counts["weights"] + counts["moments"]
    return {**counts, "total": total_bytes(counts)}


def total_bytes(counts: Mapping[str, int]) -> int:
    """Returns the bytes that are held at once, of those that `memory_bytes` counts.

    They are not the sum: activations go as gradients come. Next to the others, the larger counts of the
    activations on the one side, and of the gradients with what the update needs on the other.

    Args:
        counts: Bytes by what they hold; a total among them does not matter.

    Example:

    >>> total_bytes({"weights": 4, "moments": 8, "gradients": 4, "update": 1, "activations": 3})
    17
    """
    one_or_other = max(counts["activations"], counts["gradients"] + counts["update"])
    always = ("weights", "moments", "accumulated", "checkpoint")
    return one_or_other + sum(counts.get(name, 0) for name in always)


def _rows_at_once(recipe: Recipe) -> int:
    return recipe.training.batch_size // recipe.training.gradient_accumulation_steps


def activation_bytes(recipe: Recipe) -> int:
    """Returns the bytes that the forward pass keeps when the backward pass begins.

    All blocks keep what they compute; with rematerialisation they keep their inputs, and one block at a time
    keeps what it computes again. Next to it are the logits first, and then the gradients of a block; the
    larger of both counts. In bfloat16, products read a copy of the weights.
    """
    heads, rows, number = heads_of(recipe), _rows_at_once(recipe), _number(recipe)
    own, further = recipe.model.activations(lengths_of(recipe), number), heads.activations(number)
    if recipe.training.rematerialisation == "blocks":
        kept, again = own.inputs + further.inputs, own.block
    else:
        kept, again = own.blocks + further.blocks, 0
    copies = 0 if number == FLOAT32 else number * parameter_counts(recipe)["total_with_heads"]
    return copies + rows * kept + max(FLOAT32 * heads.logits(rows), rows * (again + own.gradients))


def written_bytes(recipe: Recipe) -> int:
    """Returns the bytes that a batch's forward pass keeps for its backward pass, and the logits."""
    heads, rows, number = heads_of(recipe), recipe.training.batch_size, _number(recipe)
    kept = recipe.model.activations(lengths_of(recipe), number).blocks + heads.activations(number).blocks
    return rows * kept + FLOAT32 * heads.logits_made(rows)


def _number(recipe: Recipe) -> int:
    """Returns the bytes of a number that products are computed with."""
    return FLOAT32 if recipe.training.precision == "float32" else _BFLOAT16


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
