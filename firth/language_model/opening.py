"""Opens models wherever they are kept, makes new ones, and writes bundles."""

import dataclasses
import importlib.util
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from firth import storage
from firth.generation.engines import ENGINES, check_engine, engine_of
from firth.interop.bases import imported_base
from firth.interop.formats import Format, format_of
from firth.language_model.answers import TextAnswers
from firth.language_model.model import LanguageModel
from firth.language_model.other_names import own_keywords
from firth.language_model.types import DType, Overrides, Path, TokenizerSource
from firth.models.bundle import load_model, read_recipe, save_model
from firth.recipes.reading.bundles import NoBundleError, locate_bundle, runs_root
from firth.recipes.reading.families import preset_names
from firth.recipes.reading.loading import load_recipe, recipe_to_yaml
from firth.recipes.reading.method_sources import is_adapter
from firth.recipes.reading.raw_recipes import Option
from firth.recipes.run.base import TOKENIZER_FOLDER
from firth.recipes.run.recipe import Recipe
from firth.recipes.run.run_recipe import RunRecipe

if TYPE_CHECKING:
    from firth.tokenizers.storage import AnyTokenizer

_SHOWN = 6
KERAS = next(iter(ENGINES))


@own_keywords
def load(
    where: Path,
    dtype: DType = None,
    engine: str = KERAS,
    quantization: str | None = None,
    cache: Path | None = None,
) -> LanguageModel:
    """Opens a language model with its tokenizer.

    Args:
        where: Name of a run or of an imported model in `firth-runs` (or `FIRTH_ROOT`); the folder of a run or
            of a bundle, also in a bucket (`gs://`, `s3://`); a folder of Hugging Face, KerasHub, ELMo or a
            TensorFlow checkpoint of BERT and its like; or a `.keras` file.
        dtype: A Keras dtype or policy instead of the recipe's `training.precision`.
        engine: Library that answers: `keras`, or `ctranslate2`, which writes (`generate`, `stream`, `reply`)
            and embeds, for a run or a bundle.
        quantization: Type of the engine's weights, such as `int8`, for CTranslate2.
        cache: Folder in which CTranslate2's model is kept instead of the user's.

    Raises:
        NoBundleError: if there is no model, with what was found instead, or the nearest name. It is a
            ValueError.
        ValueError: for an unknown engine, with the nearest, and for one that does not run such a model.
        firth.models.BundleError: if the files are damaged.
        firth.interop.errors.InteropError: if a model of another library cannot be expressed here.

    Example:

        model = firth.load("firth-runs/demo")
        model.fill_mask("Return the [MASK] of the array.")
    """
    given = os.fspath(where)
    check_engine(engine)
    if engine == KERAS and quantization is not None:
        raise ValueError(f"quantization: the engine {KERAS} has dtype instead")
    options = {"quantization": quantization, "cache": cache}
    if given.endswith(".keras"):
        check_bundle_alone(given, engine)
        return _load_keras(given)
    need_tensorflow("firth.load")
    try:
        bundle = locate_bundle(given, runs_root())
    except NoBundleError as error:
        if not storage.is_folder(given):
            if given in preset_names():
                raise NoBundleError(
                    f"{error}; {given} is a preset, of which firth.create makes a model with random weights, "
                    "and firth.pretrain a trained one"
                ) from None
            if str(error).endswith("?"):
                # A name that is there is near.
                raise
            # A name of the hub has one slash; the error for a path speaks of downloads too.
            is_path = "/" in given
            published = given if given.count("/") <= 1 and given[0] not in "./~" else "OWNER/NAME"
            raise NoBundleError(
                f"{f'there is no folder {given}' if is_path else error}; firth downloads nothing: give the "
                f"folder of a published model, as `hf download {published} --local-dir DIR` writes one"
            ) from None
        if (found := format_of(given)) is None:
            raise NoBundleError(f"{error}; {_contents(given)}") from None
        check_bundle_alone(given, engine)
        return _load_format(found, given, dtype)
    model = _load_bundle(bundle, dtype)
    model.run_by(engine, options)
    return model


@own_keywords
def create(
    recipe: Path | Recipe,
    tokenizer: TokenizerSource = None,
    overrides: Overrides = (),
    dtype: DType = None,
) -> LanguageModel:
    """Makes a model of a preset with random weights, drawn from the recipe's seed.

    Args:
        recipe: Name of a preset, such as `gpt2_tiny`, path of a recipe file, or a recipe.
        tokenizer: Tokenizer of `firth.tokenizers`, its folder, or a model whose tokenizer is taken; the
            recipe's `vocabulary_size` becomes that of the tokenizer. None for a model of features alone.
        overrides: Values of the recipe by key, such as `{"model.layers": 2}`, or texts as of `--set`.
        dtype: A Keras dtype or policy instead of the recipe's `training.precision`.

    Raises:
        firth.recipes.RecipeError: for an unknown preset or key, with the nearest. It is a ValueError.

    Example:

    >>> import firth
    >>> firth.create("bert_tiny", overrides={"tokenizer.vocabulary_size": 100}).backbone.width
    128
    """
    if tokenizer is not None:
        need_tensorflow("a tokenizer")
    found = tokenizer_of(tokenizer)
    options = recipe_options(overrides)
    if found is not None:
        options = [tokenizer_option(found), *options]
    return LanguageModel(read_recipe_with(recipe, options), found, dtype=dtype)


def check_bundle_alone(path: str, engine: str) -> None:
    """Raises ValueError for an engine other than Keras, which reads bundles alone."""
    if engine != KERAS:
        raise ValueError(f"engine: {engine} runs a bundle, which model.save(folder) makes of {path}")


def need_tensorflow(name: str) -> None:
    """Raises ImportError if TensorFlow is not installed, which splits texts into tokens."""
    if importlib.util.find_spec("tensorflow") is None:
        raise ImportError(
            f"{name} needs TensorFlow, which reads texts; without it firth.create makes a model that is "
            "trained and evaluated on features and writes token ids, and firth.load opens its .keras file"
        )


def recipe_options(overrides: Overrides) -> list[Option | str]:
    """Returns overrides of a recipe's values as `load_recipe` takes them.

    Example:

    >>> recipe_options({"training.steps": 5})
    [Option(key='training.steps', value=5, place='overrides')]
    """
    if isinstance(overrides, Mapping):
        return [Option(key, value, "overrides") for key, value in overrides.items()]
    return list(overrides)


def tokenizer_option(tokenizer: "AnyTokenizer") -> Option:
    """Returns the option of a recipe's tokenizer that says which one is used."""
    config = {"kind": tokenizer.kind, **tokenizer.recipe_settings}
    return Option("tokenizer", {**config, "vocabulary_size": tokenizer.vocabulary_size()}, "tokenizer")


def write_bundle_of(model: TextAnswers, folder: str | os.PathLike[str]) -> None:
    """Writes the bundle of a model: recipe, weights and tokenizer.

    Raises:
        FileExistsError: if there is a bundle already.
        ValueError: if the model has no tokenizer, or additions that were not merged.
    """
    check_merged(model)
    from firth.tokenizers import save_tokenizer

    with storage.scratch_folder() as scratch:
        kept = os.path.join(scratch, TOKENIZER_FOLDER)
        save_tokenizer(model.tokenizer, kept)
        save_model(model.network, model.recipe, kept, folder)


def check_merged(model: TextAnswers) -> None:
    """Raises ValueError if a model has additions that are not in its recipe, and would be lost in a file."""
    if model.network.additions and not model.recipe.trained_by.extends_model:
        raise ValueError(f"{model.recipe.name} has an adapter: call merge() first, or save_adapter()")


def read_recipe_with(recipe: Path | Recipe | None, options: Sequence[Option | str]) -> Recipe:
    """Returns the recipe of a preset, of a file, or a recipe itself, with options; None for options alone."""
    if not isinstance(recipe, Recipe):
        return load_recipe(recipe, options, import_base=imported_base)
    if not options:
        return recipe
    with storage.scratch_folder() as scratch:
        path = os.path.join(scratch, f"{recipe.name}.yaml")
        storage.write_text(path, recipe_to_yaml(recipe))
        return load_recipe(path, options, import_base=imported_base)


def tokenizer_of(tokenizer: TokenizerSource) -> "AnyTokenizer | None":
    """Returns a tokenizer, or that of a folder or of a model."""
    if isinstance(tokenizer, LanguageModel):
        return tokenizer.tokenizer
    if not isinstance(tokenizer, str | os.PathLike):
        return tokenizer
    from firth.tokenizers import load_tokenizer

    return load_tokenizer(tokenizer)


def _load_bundle(bundle: str, dtype: DType) -> LanguageModel:
    from firth.tokenizers import load_tokenizer

    with storage.local_copy(bundle) as local:
        recipe: RunRecipe = read_recipe(local)
        tokenizer = load_tokenizer(os.path.join(local, TOKENIZER_FOLDER))
        model = LanguageModel(recipe, tokenizer, load_model(local, dtype))
    model.source = bundle
    return model


def _load_format(found: Format, folder: str, dtype: DType) -> LanguageModel:
    name = os.path.basename(os.path.abspath(folder))
    with storage.scratch_folder() as scratch:
        bundle = os.path.join(scratch, "bundle")
        read = found.import_model(folder, bundle, name)
        model = _load_bundle(bundle, dtype)
    model.source = None
    for sentence in dataclasses.replace(read, notes=(), length=None).sentences(_SHOWN):
        warnings.warn(f"{folder}: {sentence}", stacklevel=4)
    return model


def _load_keras(path: str) -> LanguageModel:
    import keras

    with storage.local_copy(path) as local:
        model = keras.saving.load_model(local)
    if not isinstance(model, LanguageModel):
        raise NoBundleError(f"{path} holds a {type(model).__name__} of Keras, and no language model of firth")
    return model


def _contents(folder: str) -> str:
    if is_adapter(folder):
        return "it holds an adapter: open its base, and then `model.load_adapter`"
    names = sorted(storage.list_folder(folder))
    if "saved_model.pb" in names:
        return "it holds a SavedModel, which `firth.serving.Client` asks; the bundle is next to it"
    if (engine := engine_of(folder)) != KERAS:
        return f"it holds a model of {engine}, which `firth.generation.load_generator` opens"
    if not names:
        return "it is empty"
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"it holds {', '.join(names[:_SHOWN])}{more}"
