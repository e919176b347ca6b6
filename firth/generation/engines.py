"""Engines that run a model, by name, and functions that open a bundle with one."""

import dataclasses
import importlib
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from firth import storage
from firth.recipes.base.errors import suggest

if TYPE_CHECKING:
    from firth.generation.text_generator import Requests, TextGenerator


@dataclasses.dataclass(frozen=True)
class Engine:
    """A library that runs models.

    Attributes:
        module: Module with `generator_of(folder, **options)`, which returns a generator, and
            `model_of(folder, **options)`, which returns a model with hidden states; loaded on first use.
        option: Name of the option for the type of the weights.
        file: Name of a file that only folders of this engine have; empty if it reads bundles alone.
        serves: True if `firth serve --engine` writes with it; Keras models are exported instead.
    """

    module: str
    option: str
    file: str = ""
    serves: bool = False


ENGINES = {
    "keras": Engine("firth.generation.generator", "dtype"),
    "ctranslate2": Engine("firth.interop.ctranslate2.generator", "quantization", "model.bin", serves=True),
}
"""The engines by their names; the first one reads bundles."""


def engine_of(folder: str | os.PathLike[str]) -> str:
    """Returns the default engine of a folder.

    Example:

    >>> engine_of("bundle")
    'keras'
    """
    own = {name: os.path.join(folder, each.file) for name, each in ENGINES.items() if each.file}
    return next((name for name, path in own.items() if storage.exists(path)), next(iter(ENGINES)))


def check_engine(engine: str) -> None:
    """Raises `ValueError` unless there is an engine of this name."""
    if engine not in ENGINES:
        raise ValueError(f"engine: there is no {engine!r}; {suggest(engine, ENGINES)}")


def check_serving(engine: str) -> None:
    """Raises `ValueError` unless a server writes texts with an engine of this name.

    Example:

    >>> check_serving("keras")
    Traceback (most recent call last):
        ...
    ValueError: engine: a server has no 'keras', as a run's export answers without one; one of: ctranslate2
    """
    check_engine(engine)
    if not ENGINES[engine].serves:
        served = [name for name, each in ENGINES.items() if each.serves]
        raise ValueError(
            f"engine: a server has no {engine!r}, as a run's export answers without one; one of: "
            f"{', '.join(served)}"
        )


def opened(making: str, engine: str, folder: str | os.PathLike[str], options: Mapping[str, Any]) -> Any:
    """Opens a folder with an engine and returns its generator or model."""
    check_engine(engine)
    said = {name: value for name, value in options.items() if value is not None}
    others = {each.option for each in ENGINES.values()} - {ENGINES[engine].option}
    if wrong := sorted(others & said.keys()):
        raise ValueError(f"{wrong[0]}: the engine {engine} has {ENGINES[engine].option} in its place")
    storage.check_whole(folder)
    with storage.local_copy(folder) as local:
        return getattr(importlib.import_module(ENGINES[engine].module), making)(local, **said)


def load_generator(
    folder: str | os.PathLike[str], dtype: Any = None, engine: str = "keras", **options: Any
) -> "TextGenerator":
    """Returns the generator of a bundle. Needs neither TFX nor Beam.

    Args:
        folder: Path of the folder that `firth.models.save_model` wrote. CTranslate2 also takes one that
            `firth export --format ctranslate2` wrote.
        dtype: A Keras dtype or policy instead of the recipe's `training.precision`; for Keras alone.
        engine: Library that runs the model: `keras` or `ctranslate2`.
        **options: Further options of the engine; `ctranslate2` has `quantization`, such as `int8`, and
            `cache`, the folder in which the model of a bundle is kept.

    Raises:
        firth.storage.NotWholeError: if there is no such folder, or it was not written to its end.
        firth.models.BundleError: if files are missing or damaged.
        firth.tokenizers.TokenizerMismatchError: if the tokenizer's files were changed.
        ValueError: if the model does not write, or there is no such engine, with the nearest.

    Example:

    >>> load_generator("bundle", engine="ctranslate")
    Traceback (most recent call last):
        ...
    ValueError: engine: there is no 'ctranslate'; did you mean ctranslate2?
    """
    return opened("generator_of", engine, folder, {"dtype": dtype, **options})


def generate(model: Any, prompts: Any, requests: "Requests" = None, **values: Any) -> Any:
    """Returns the text that a model writes after each prompt; see `Generator.generate`.

    For several calls, `load_generator` keeps the loaded and compiled model.

    Args:
        model: Path of a bundle, a generator of `load_generator`, or an object with `model`, `tokenizer` and
            `recipe`, such as `firth.serving.load_served` returns.
        prompts: A text, or a list of texts.
        requests: A `GenerationRequest`, or a mapping of its values; or one request for each prompt.
        **values: Values of a request by key, and of its sampler.
    """
    from firth.generation.generator import keras_generator
    from firth.generation.text_generator import TextGenerator

    if isinstance(model, str | os.PathLike):
        model = load_generator(model)
    elif not isinstance(model, TextGenerator):
        model = keras_generator(model.model, model.tokenizer, model.recipe)
    return model.generate(prompts, requests, **values)


def untrained_heads(folder: str | os.PathLike[str]) -> list[str]:
    """Returns the names of untrained heads, with which texts are random."""
    # Keras takes seconds to import, and the names of engines are known without it.
    from firth.models.bundle import open_weights, untrained_weights

    with open_weights(folder) as file:
        paths = [path for path in untrained_weights(file) if path.startswith("heads/")]
    return list(dict.fromkeys("/".join(path.split("/")[:2]) for path in paths))
