"""Memory that a recipe's training needs."""

from firth.recipes.counting.heads import heads_of
from firth.recipes.counting.lengths import lengths_of
from firth.recipes.counting.parameters import parameter_counts
from firth.recipes.run.recipe import Recipe
from firth.recipes.run.stages import stages_of

_FLOAT32 = 4
_BFLOAT16 = 2


def memory_bytes(recipe: Recipe, last_stage: bool = False) -> dict[str, int]:
    """Returns the bytes that training holds at once, by what they hold.

    `weights` and `gradients` are float32 under either precision, `moments` what the optimizer keeps them in;
    all are exact, of Muon an upper bound: AdamW, LAMB and Muon keep two moments of each weight, Muon only one
    of a matrix, Adafactor and Adagrad one. `activations` is an estimate of what the forward pass keeps for
    the backward pass over one batch, in the compute dtype, in the stage that needs most; see
    `activation_bytes`. With accumulation it is that of a part of a batch, and `accumulated` is the sum of the
    gradients so far. The peak is above the sum by what the largest single operation needs. `activations`
    counts all replicas together; the others count one.

    `checkpoint` is the copy of weights and moments that is written while training goes on, in the memory of
    the host.

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
    counts = {
        "weights": _FLOAT32 * parameters,
        "gradients": _FLOAT32 * parameters,
        "moments": recipe.training.optimizer.bytes_kept * parameters,
        "activations": max(
            _rows_at_once(stage) * activation_bytes(stage)
            for _, _, stage in stages_of(recipe)[-1 if last_stage else 0 :]
        ),
    }
    if recipe.training.gradient_accumulation_steps > 1:
        counts["accumulated"] = _FLOAT32 * parameters
    counts["checkpoint"] = counts["weights"] + counts["moments"]
    return {**counts, "total": sum(counts.values())}


def _rows_at_once(recipe: Recipe) -> int:
    return recipe.training.batch_size // recipe.training.gradient_accumulation_steps


def activation_bytes(recipe: Recipe) -> int:
    """Returns the bytes that the forward pass of one row keeps for its backward pass: an estimate.

    For each token and block of a transformer, these are 9 tensors as wide as the hidden states (4 more for
    attention to an encoder), 3 as wide as the feed-forward layer (5 with a gate), and 3 rows of attention
    probabilities a head (scores' softmax, the dropout mask, their product), except of rows so long that they
    are made for some queries at a time. For each word and LSTM, they are
    6 tensors as wide as its cells and 3 as its output; for each word also what the convolutions make of its
    characters. For each selected prediction, they are the logits and their probabilities in float32. If every
    token is predicted, logits are made in chunks and not kept, except those of ELMo's drawn words. With
    rematerialisation all this is kept of one block, and of each of the others what goes into it.

    Args:
        recipe: Recipe of one stage.
    """
    element = _FLOAT32 if recipe.training.precision == "float32" else _BFLOAT16
    heads = heads_of(recipe)
    model, lengths = recipe.model, lengths_of(recipe)
    again = recipe.training.rematerialisation == "blocks"
    kept = model.kept_by_block(lengths) if again else model.kept(lengths)
    kept += heads.kept_by_block() if again else heads.kept()
    return element * kept + 2 * _FLOAT32 * heads.logits()
