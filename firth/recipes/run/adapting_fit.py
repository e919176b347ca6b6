"""Checks that the parts of a recipe that adapts a model fit together."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from firth.recipes.base.errors import suggest
from firth.recipes.run.devices_fit import device_conflicts
from firth.recipes.run.search import search_conflicts
from firth.recipes.run.slots import slot_conflicts

if TYPE_CHECKING:
    from firth.recipes.run.adapting import AdaptingRecipe


def task_conflicts(recipe: "AdaptingRecipe") -> Iterator[str]:
    """Yields a line for each pair of parts that cannot work together."""
    form, model = getattr(recipe.task, "form", None), recipe.model
    if form is not None and model.architecture not in form.architectures:
        yield (
            f"task.form.kind: {form.kind} is read by models of the architecture "
            f"{' or '.join(form.architectures)}, not by model.kind: {model.kind}, {model.architecture}"
        )
    if form is not None and form.tells_texts and model.reads_segments and not model.tells_segments:
        yield "task.form.segments: the base's model has one segment only, so it must be false"
    pooled = getattr(form, "pooling", "")
    pooling = recipe.task.served_poolings.get(pooled)
    if pooling is not None and recipe.export.pooling != pooling:
        yield (
            f"export.pooling: {recipe.export.pooling} does not give the vectors that task.form.pooling: "
            f"{pooled} trains; {pooling} does"
        )
    if recipe.export.long_texts == "windows" and not recipe.task.reads_windows:
        yield (
            f"export.long_texts: {recipe.export.long_texts} is of a class or a number for one text, not of "
            f"task.kind: {recipe.task.kind} with the texts {', '.join(recipe.task.roles)}; leave it out"
        )
    yield from _rows_too_long(recipe)
    known = recipe.task.metric_names
    for number, threshold in enumerate(recipe.evaluation.thresholds):
        if threshold.metric not in known:
            yield (
                f"evaluation.thresholds.{number}.metric: {threshold.metric} is not a metric of "
                f"task.kind: {recipe.task.kind} with task.scores: {list(recipe.task.scores)}; "
                f"{suggest(threshold.metric, known)}"
            )
    yield from recipe.method.conflicts(model)
    yield from recipe.method.task_conflicts(recipe.task)
    yield from recipe.method.steps_conflicts(recipe.training.steps)
    if recipe.method.one_text_in_a_row:
        yield from _texts_of_a_row(recipe)
    sources, is_mixed = recipe.data.source.split("+"), recipe.data.mixture is not None
    if problem := recipe.task.sources_conflict(sources, is_mixed):
        yield problem
    if recipe.method.adds and recipe.base.added:
        yield (
            f"base.added_words, base.added_count: method.kind: {recipe.method.kind} does not train the token "
            "table, so the rows of new pieces would stay as they are made; leave them out"
        )
    if problem := recipe.task.lengths_conflict(recipe.sequences):
        yield problem
    yield from device_conflicts(recipe)
    yield from slot_conflicts(recipe)
    yield from search_conflicts(recipe)
    if recipe.predictions is not None and not recipe.task.signature:
        yield f"predictions: a model of task.kind: {recipe.task.kind} has no signature to be asked with"
    yield from recipe.validation.conflicts(recipe.task.compared_features)


def _rows_too_long(recipe: "AdaptingRecipe") -> Iterator[str]:
    """Yields a line for each row that has, with what a method puts before it, more tokens than positions."""
    task, model, method, length = recipe.task, recipe.model, recipe.method, recipe.sequences.length
    before, of_decoder = method.virtual_tokens(model), method.decoder_virtual_tokens(model)
    written = task.target_length(recipe.sequences)
    reads_again = bool(getattr(getattr(task, "form", None), "decoder_start", ""))
    rows = []
    if written and getattr(task, "decoder_length", None) is not None:
        rows.append(("task.decoder_length", written, of_decoder))
    elif written or reads_again:
        before = max(before, of_decoder)
    for key, tokens, taken in [("sequences.length", length, before), *rows]:
        if model.longest is not None and tokens + taken > model.longest:
            after = f", and method.kind: {method.kind} takes {taken} of them" if taken else ""
            yield f"{key}: {tokens} tokens, but the base's model has positions for {model.longest}{after}"


def _texts_of_a_row(recipe: "AdaptingRecipe") -> Iterator[str]:
    """Yields a line if a row may hold several texts, and the method takes one."""
    documents, of_record = recipe.task.documents(recipe.sequences), recipe.task.documents_of_record
    before = f"but method.kind: {recipe.method.kind} puts virtual tokens before one"
    if of_record > 1:
        yield (
            f"task.kind: {recipe.task.kind} reads {of_record} texts of a record in a row, {before}; "
            "prefix_tuning and p_tuning_v2 put theirs before each"
        )
    elif documents > 1:
        yield (
            f"sequences.max_documents: a row may hold {documents} texts, {before}; "
            "say sequences.max_documents: 1"
        )
