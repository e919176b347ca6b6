"""Checks that the parts of a recipe fit together."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from firth.recipes.base.errors import suggest
from firth.recipes.models.model import model_kinds
from firth.recipes.objectives.objective import objective_kinds
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.run.search import search_conflicts
from firth.recipes.run.stages import stages_of
from firth.recipes.tokenizers.tokenizer import Sequences, tokenizer_kinds
from firth.recipes.training.training import nearest_divisor, nearest_multiple

if TYPE_CHECKING:
    from firth.recipes.run.imported_recipe import ImportedRecipe
    from firth.recipes.run.recipe import Recipe

    AnyPretrained: TypeAlias = Recipe | ImportedRecipe


def conflicts(recipe: "Recipe") -> Iterator[str]:
    """Yields a line for each pair of parts that cannot work together."""
    yield from model_conflicts(recipe)
    yield from _stages(recipe)
    yield from _names(recipe)
    yield from _named_sources(recipe)
    features = [name for source in recipe.sources for name in source.compared_features]
    yield from recipe.validation.conflicts(features)
    if recipe.warm_start and recipe.base is not None:
        yield "warm_start: the run starts from its base; leave one of the two out"
    yield from search_conflicts(recipe)
    yield from recipe.mixture.conflicts([source.name for source in recipe.sources])


def model_conflicts(recipe: "AnyPretrained") -> Iterator[str]:
    """Yields a line for each pair of parts that cannot work together, data and stages aside."""
    yield from _model_and_objective(recipe)
    yield from _lengths(recipe)
    yield from _tokenizer(recipe)
    yield from _export(recipe)
    yield from _objective(recipe)
    yield from _carried_state(recipe)
    yield from device_conflicts(recipe)
    yield from export_conflicts(recipe)


def _model_and_objective(recipe: "AnyPretrained") -> Iterator[str]:
    model, objective = recipe.model, recipe.objective
    if model.architecture != objective.model_architecture:
        needed = " or ".join(model_kinds(objective.model_architecture))
        fitting = ", ".join(f"objective.kind: {kind}" for kind in objective_kinds(model.architecture))
        yield (
            f"objective.kind: {objective.kind} needs model.kind: {needed}, not {model.kind}, which "
            f"{fitting} can train"
        )


def _lengths(recipe: "AnyPretrained") -> Iterator[str]:
    objective, sequences, longest = recipe.objective, recipe.sequences, recipe.model.longest
    length = max(objective.input_length(sequences), objective.target_length(sequences))
    if longest is not None and length > longest:
        if length == sequences.length:
            yield f"sequences.length: {length} is above model.positions.length: {longest}"
        else:
            yield f"{objective.kind} makes rows of {length}, which is above model.positions.length: {longest}"
    if objective.predictions > sequences.length:
        yield (
            f"objective.max_predictions: {objective.predictions} is above "
            f"sequences.length: {sequences.length}"
        )


def _tokenizer(recipe: "AnyPretrained") -> Iterator[str]:
    objective, tokenizer = recipe.objective, recipe.tokenizer
    if objective.reads_words != tokenizer.of_words:
        *others, last = tokenizer_kinds(of_words=objective.reads_words)
        needed = f"{', '.join(others)} or {last}" if others else last
        yield f"objective.kind: {objective.kind} needs tokenizer.kind: {needed}"
    elif (sentinels := objective.sentinels_needed(recipe.sequences)) > tokenizer.sentinels:
        yield (
            f"objective.kind: {objective.kind} needs up to {sentinels} sentinels for a document of full "
            f"length; set tokenizer.sentinels: {sentinels} or more"
        )
    if objective.needs_case and tokenizer.lowercase:
        yield f"objective.kind: {objective.kind} needs tokenizer.lowercase: false"
    read, given = recipe.model.max_characters, tokenizer.max_characters
    if read and given and read != given:
        yield f"tokenizer.max_characters: {given} is not model.characters.max_characters: {read}"


def _export(recipe: "AnyPretrained") -> Iterator[str]:
    asked, pieces = recipe.export.top_k, recipe.tokenizer.vocabulary_size
    if asked > pieces:
        yield f"export.top_k: {asked} is above tokenizer.vocabulary_size: {pieces}"
    if not recipe.objective.trains_pooler and recipe.export.pooling == "cls":
        yield "export.pooling: cls needs objective.next_sentence: true or objective.sentence_order: true"


def _objective(recipe: "AnyPretrained") -> Iterator[str]:
    if recipe.model.architecture == recipe.objective.model_architecture:
        yield from recipe.objective.conflicts(recipe.model, recipe.sequences)


def _carried_state(recipe: "AnyPretrained") -> Iterator[str]:
    if recipe.model.carries_state and recipe.training.strategy != "none":
        yield (
            f"training.strategy: {recipe.training.strategy} does not work with model.carry_state: true, "
            "whose state belongs to the rows of one device"
        )
    if recipe.model.carries_state and (parts := recipe.training.gradient_accumulation_steps) > 1:
        yield (
            f"training.gradient_accumulation_steps: {parts} does not work with model.carry_state: true, "
            "whose state belongs to the rows of a whole batch"
        )


def _stages(recipe: "Recipe") -> Iterator[str]:
    known = set(_on_length(recipe))
    earlier = recipe.training.earlier_stages
    for number, stage in enumerate(earlier):
        if stage.max_predictions and not recipe.objective.predictions:
            yield f"training.earlier_stages.{number}.max_predictions: {recipe.objective.kind} has no such key"
    for number, (_, _, changed) in enumerate(stages_of(recipe)[:-1]):
        for line in _on_length(changed):
            if line not in known:
                yield f"training.earlier_stages.{number}: {line}"
    if earlier and recipe.model.carries_state:
        yield "training.earlier_stages: they do not work with model.carry_state: true, as batches differ"


def _on_length(recipe: "Recipe") -> Iterator[str]:
    """Yields what may differ from stage to stage."""
    yield from _lengths(recipe)
    yield from _tokenizer(recipe)
    yield from _objective(recipe)


def _names(recipe: "Recipe") -> Iterator[str]:
    names = [source.name for source in recipe.sources]
    for name in names:
        if names.count(name) > 1:
            yield f"sources: two are named {name!r}; give each a name of its own"
    known = recipe.objective.metric_names
    for number, threshold in enumerate(recipe.evaluation.thresholds):
        if threshold.metric not in known:
            yield (
                f"evaluation.thresholds.{number}.metric: {threshold.metric} is not a metric of "
                f"objective.kind: {recipe.objective.kind}; {suggest(threshold.metric, known)}"
            )


def _named_sources(recipe: "Recipe") -> Iterator[str]:
    names = [source.name for source in recipe.sources]
    for number, step in enumerate(recipe.cleaning.steps):
        for key, problem in step.conflicts(names):
            yield f"cleaning.steps.{number}.{key}: {problem}"


_ROWS = "tokenizer.vocabulary_size"


def device_conflicts(recipe: RunRecipe) -> Iterator[str]:
    """Yields a line for each choice of the training that does not work with the model or the goal."""
    if recipe.training.flash_attention and (reason := recipe.model.not_fused):
        yield f"training.flash_attention: true does not work: {reason}"
    mesh = recipe.training.mesh
    if mesh is None or mesh.model == 1:
        return
    of_model = {f"model.{key}": size for key, size in recipe.model.divided_sizes.items()}
    sizes = of_model | recipe.goal.divided_sizes(recipe.model)
    nearest = nearest_divisor(mesh.model, *sizes.values()) if sizes else mesh.model
    for key, size in sizes.items():
        if size % mesh.model:
            yield (
                f"training.mesh.model: {mesh.model} does not divide {key}: {size}; the nearest number that "
                f"divides all parts of the model is {nearest}"
            )
    rows = recipe.tokenizer.vocabulary_size
    if rows % nearest:
        yield (
            f"training.mesh.model: {nearest} does not divide {_ROWS}: {rows}; the nearest size that it "
            f"divides is {nearest_multiple(rows, nearest)}"
        )


# Tokens of a row; the answer to one text is then 4 MiB.
_LONGEST_ATTENTION = 1_024


def export_conflicts(recipe: RunRecipe) -> Iterator[str]:
    """Yields a line for each reason why the model has no slots or no attention, where they are asked for."""
    export = recipe.export
    if export.attention and not recipe.model.gives_attention:
        yield (
            f"export.attention: true does not work for model.kind: {recipe.model.kind}, whose layers give no "
            "attention probabilities; leave it out"
        )
    elif export.attention and (length := recipe.sequences.length) > _LONGEST_ATTENTION:
        yield (
            f"export.attention: true does not work for sequences.length: {length:,}, since an answer has a "
            f"number for each pair of tokens; at most {_LONGEST_ATTENTION:,}, or leave it out"
        )
    if not export.slots:
        if export.slot_length is not None:
            yield "export.slot_length: it needs export.slots: 1 or more"
    elif reason := _reason(recipe):
        yield f"export.slots: {reason}; leave it out"
    else:
        yield from _lengths_slots(recipe)
        if (likeliest := export.top_log_probabilities) > (pieces := recipe.tokenizer.vocabulary_size):
            yield f"export.top_log_probabilities: {likeliest} is above tokenizer.vocabulary_size: {pieces}"


def _reason(recipe: RunRecipe) -> str:
    """Returns why the model does not write in slots; empty if it does."""
    goal = recipe.goal
    if not goal.text_end:
        return f"a model that is trained for {goal.kind} writes no text"
    if recipe.model.max_characters:
        return "a model that reads words by their characters does not write in slots"
    if getattr(goal, "pair", False) or recipe.trained_by.reads_task_numbers:
        return f"slots are for models that write after one text, which one of {goal.kind} does not"
    return ""


def _lengths_slots(recipe: RunRecipe) -> Iterator[str]:
    length, longest, frame = recipe.export.slot_length, recipe.sequences.length, recipe.goal.prompt_frame
    if length is not None and length > longest:
        yield f"export.slot_length: {length} is above sequences.length: {longest}"
    elif recipe.goal.prompt_places(slot_sequences(recipe)) <= len(frame.before) + len(frame.after):
        yield f"export.slot_length: {length} leaves no place for a prompt"


def slot_sequences(recipe: RunRecipe) -> Sequences:
    """Returns the rows of the recipe's slots."""
    length = recipe.export.slot_length or recipe.sequences.length
    return recipe.sequences.model_copy(update={"length": length})
