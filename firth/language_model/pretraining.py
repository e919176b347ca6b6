"""Pre-training in this process: `firth.pretrain`."""

import os

from firth.language_model.model import LanguageModel
from firth.language_model.opening import (
    need_tensorflow,
    read_recipe_with,
    recipe_options,
    tokenizer_of,
    tokenizer_option,
)
from firth.language_model.other_names import own_keywords
from firth.language_model.texts import TEXT, is_path, list_texts
from firth.language_model.types import Overrides, Path, Texts, TokenizerSource
from firth.recipes.reading.raw_recipes import Option
from firth.recipes.run.recipe import Recipe

# Kinds of sources whose records have the column of the text, by the endings of files; others are plain text.
_RECORD_KINDS = {".jsonl": "jsonl", ".parquet": "parquet", ".csv": "csv"}


@own_keywords
def pretrain(
    recipe: Path | Recipe | None = None,
    texts: Texts | None = None,
    steps: int | None = None,
    text: str = TEXT,
    tokenizer: TokenizerSource = None,
    overrides: Overrides = (),
    folder: Path | None = None,
    verbose: bool = True,
    base: LanguageModel | Path | None = None,
) -> LanguageModel:
    """Trains a model on raw text in this process, without TFX: cleaning, tokenizer, rows, training.

    The weights are those that the pipeline of the same recipe trains.

    Args:
        recipe: Name of a preset, such as `bert_tiny`, path of a recipe file, or a recipe; None continues
            `base` with its own objective.
        texts: Documents: a list, a DataFrame, a `datasets.Dataset`, a `tf.data.Dataset`, or the path or
            pattern of files (`.txt`, `.jsonl`, `.csv`, `.parquet`); None for the sources of the recipe.
        steps: Number of steps instead of the recipe's `training.steps`.
        text: Column of the texts.
        tokenizer: Tokenizer to use, its folder, or a model whose tokenizer is taken; None trains one.
        overrides: Values of the recipe by key, such as `{"training.batch_size": 16}`.
        folder: Folder for rows and checkpoints, in which the same call resumes; None for a temporary one.
        verbose: True to show a progress bar.
        base: Model to continue from: a `LanguageModel`, the name of a run, or the path of a bundle or of
            another library's folder, which is imported once into `firth-runs` (or `FIRTH_ROOT`). Its
            tokenizer, shape and weights are taken, as by `firth run --base`.

    Returns:
        The trained model. After Ctrl-C it is the model as it is after the last step.

    Raises:
        firth.recipes.RecipeError: for an unknown preset or key, with the nearest. It is a ValueError.
        firth.corpus.CorpusError: if no text is left to train on, or to evaluate on.
        TypeError: for a value that is not a text.
        ValueError: if there is no text, or no such column, or neither a recipe nor a base.

    Example:

        model = firth.pretrain("bert_tiny", texts=my_texts, steps=500)
        model.save("my_bert")
    """
    if recipe is None and base is None:
        raise ValueError("give a recipe, such as 'bert_tiny', or base=MODEL to continue from a model")
    if recipe is not None and not isinstance(recipe, str | os.PathLike | Recipe):
        raise TypeError(
            f"recipe is of the type {type(recipe).__name__}; give the name of a preset first, and texts=..."
        )
    need_tensorflow("firth.pretrain")
    from firth.language_model.rows import SOURCE, RowFiles, corpus_rows, work_folder
    from firth.language_model.training import bundle_of, train_in_process

    options = recipe_options(overrides)
    given: list[str] | None = None
    if is_path(texts):
        options.append(_source_of(os.fspath(texts), text))
    elif texts is not None:
        given = list_texts(texts, text)
        source = {"kind": "jsonl", "name": SOURCE, "paths": [f"{SOURCE}.jsonl"]}
        options.append(Option("sources", [source], "texts"))
    if steps is not None:
        options.append(Option("training.steps", steps, "steps"))
    own = tokenizer_of(tokenizer)
    if own is not None:
        options.append(tokenizer_option(own))
    with work_folder(folder) as place:
        if base is not None:
            bundle = bundle_of(base, place) if isinstance(base, LanguageModel) else os.fspath(base)
            options.append(Option("base", bundle, "base"))
        read = read_recipe_with(recipe, options)
        files: RowFiles = corpus_rows(read, given, place, own)
        return train_in_process(read, files, place, verbose)


def _source_of(path: str, column: str) -> Option:
    """Returns the option of the recipe's sources for the path of some files."""
    name = path
    for ending in (".gz", ".bz2", ".xz", ".zst", ".lz4"):
        name = name.removesuffix(ending)
    kind = _RECORD_KINDS.get(os.path.splitext(name)[1])
    read = {"kind": "text"} if kind is None else {"kind": kind, "text_key": column}
    return Option("sources", [{**read, "paths": [path]}], f"texts={path!r}")
