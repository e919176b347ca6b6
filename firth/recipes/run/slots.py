"""Checks that a model can write in the slots that its export is to have."""

from collections.abc import Iterator

from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.tokenizers.tokenizer import Sequences


def slot_conflicts(recipe: RunRecipe) -> Iterator[str]:
    """Yields a line for each reason why the model does not write in slots, if any are asked for."""
    export = recipe.export
    if not export.slots:
        if export.slot_length is not None:
            yield "export.slot_length: it needs export.slots: 1 or more"
    elif reason := _reason(recipe):
        yield f"export.slots: {reason}; leave it out"
    else:
        yield from _lengths(recipe)


def _reason(recipe: RunRecipe) -> str:
    """Returns why the model does not write in slots; empty if it does."""
    goal = recipe.goal
    if not goal.text_end:
        return f"a model that is trained for {goal.kind} writes no text"
    if recipe.model.max_characters:
        return "a model that reads words by their characters does not write in slots"
    if goal.prompted_with != "text" or getattr(goal, "pair", False) or recipe.trained_by.tells_tasks_apart:
        return f"slots are for models that write after one text, which one of {goal.kind} does not"
    return ""


def _lengths(recipe: RunRecipe) -> Iterator[str]:
    length, longest, frame = recipe.export.slot_length, recipe.sequences.length, recipe.goal.prompt_frame
    if length is not None and length > longest:
        yield f"export.slot_length: {length} is above sequences.length: {longest}"
    elif recipe.goal.prompt_places(slot_sequences(recipe)) <= len(frame.before) + len(frame.after):
        yield f"export.slot_length: {length} leaves no place for a prompt"


def slot_sequences(recipe: RunRecipe) -> Sequences:
    """Returns the rows of the recipe's slots."""
    length = recipe.export.slot_length or recipe.sequences.length
    return recipe.sequences.model_copy(update={"length": length})
