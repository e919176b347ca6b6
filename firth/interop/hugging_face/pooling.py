"""How sentence-transformers makes one vector of a text, where a folder says it."""

import os
from collections.abc import Collection, Mapping
from typing import Any

from firth import storage
from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers.files import Folder
from firth.recipes.training.export import Pooling
from firth.tokenizers.storage import AnyTokenizer

_MODULES_FILE, _USUAL_PLACE, _CONFIG_FILE = "modules.json", "1_Pooling", "config.json"
_POOLING, _WEIGHTS = "Pooling", "WordWeights"
# Vectors of length one have the same direction.
_KNOWN_MODULES = ("Transformer", _POOLING, _WEIGHTS, "Normalize")
_MODE, _PREFIX = "pooling_mode", "pooling_mode_"
# Releases from 6 on name the mode, older ones have a key for each, which is what both read.
_KEYS = {"mean": f"{_PREFIX}mean_tokens", "cls": f"{_PREFIX}cls_token"}
_MODES: dict[str, Pooling] = {"mean": "mean_with_special", "cls": "first"}
# The roles of the special pieces around a text, which `mean` leaves out.
_AROUND = ("cls", "sep")


def read_pooling(path: str | os.PathLike[str], tokenizer: AnyTokenizer) -> Pooling:
    """Returns how a folder says that texts are pooled; `mean` if it does not say it.

    Args:
        path: Path of the folder.
        tokenizer: Its tokenizer.

    Raises:
        InteropError: for a module or a way of pooling that cannot be expressed here, or a damaged file.
    """
    folder = Folder(path)
    modules = _modules(folder)
    file = os.path.join(modules.get(_POOLING, _USUAL_PLACE), _CONFIG_FILE)
    if not folder.holds(file):
        return "mean"
    pooling = _MODES[_mode(folder, file)]
    if _WEIGHTS not in modules:
        return pooling
    _check_weights(folder, os.path.join(modules[_WEIGHTS], _CONFIG_FILE), pooling, tokenizer)
    return "mean"


def write_pooling(folder: str, pooling: Pooling, width: int, tokenizer: AnyTokenizer) -> list[str]:
    """Writes what sentence-transformers reads of pooling; nothing for a way that it does not have.

    Args:
        folder: Folder on this machine.
        pooling: Way in which an encoder makes one vector of a text.
        width: Width of its hidden states.
        tokenizer: Its tokenizer.

    Returns:
        Paths of the files, below the folder.
    """
    modes = {ours: mode for mode, ours in _MODES.items()} | {"mean": "mean"}
    if pooling not in modes:
        return []
    said = {key: mode == modes[pooling] for mode, key in _KEYS.items()}
    configs = {_POOLING: {"word_embedding_dimension": width, **said}}
    if pooling == "mean":
        configs = {_WEIGHTS: _weights_without(tokenizer), **configs}
    places = {"Transformer": ""} | {name: f"{index}_{name}" for index, name in enumerate(configs, 1)}
    modules = [
        {"idx": index, "name": str(index), "path": place, "type": f"sentence_transformers.models.{name}"}
        for index, (name, place) in enumerate(places.items())
    ]
    contents: dict[str, Any] = {_MODULES_FILE: modules}
    contents |= {os.path.join(places[name], _CONFIG_FILE): config for name, config in configs.items()}
    for name, content in contents.items():
        storage.write_json(os.path.join(folder, name), content, indent=2)
    return list(contents)


def _modules(folder: Folder) -> dict[str, str]:
    """Returns the modules of a folder by name, each with its place."""
    if not folder.holds(_MODULES_FILE):
        return {}
    place = folder.place(_MODULES_FILE)
    try:
        said = [(str(each["type"]), str(each["path"])) for each in folder.content(_MODULES_FILE)]
    except (KeyError, TypeError) as error:
        raise InteropError(f"{place}: a module without {error}") from None
    modules = {each.rpartition(".")[2]: path for each, path in said}
    for module in modules:
        if module not in _KNOWN_MODULES:
            raise InteropError(
                f"{place}: the module {module} cannot be expressed here, {', '.join(_KNOWN_MODULES)} can; "
                f"without this file, the model comes in without it"
            )
    return modules


def _mode(folder: Folder, file: str) -> str:
    said = folder.mapping(file)
    named = {key: mode for mode, key in _KEYS.items()}
    chosen = [named.get(key, key) for key, value in said.items() if key.startswith(_PREFIX) and value is True]
    if (mode := said.get(_MODE)) is not None:
        chosen = [mode] if isinstance(mode, str) else list(mode)
    chosen = chosen or ["mean"]
    for each in chosen:
        if each not in _MODES:
            known = " or ".join(_MODES)
            raise InteropError(f"{folder.place(file)}: {each} cannot be expressed here, {known} can")
    if len(chosen) > 1:
        raise InteropError(f"{folder.place(file)}: {' and '.join(chosen)} at once cannot be expressed here")
    return str(chosen[0])


def _around(tokenizer: AnyTokenizer) -> set[str]:
    by_role = tokenizer.specials.by_role
    return {by_role[role] for role in _AROUND if role in by_role}


def _weights_without(tokenizer: AnyTokenizer) -> dict[str, Any]:
    """Returns weights of pieces: nothing for those around a text, and one for all others."""
    around, pieces = _around(tokenizer), tokenizer.get_vocabulary()
    # A piece that is not listed has the weight of its lower-cased form.
    listed = [piece for piece in pieces if piece in around or piece.lower() in around]
    weights = {piece: float(piece not in around) for piece in listed}
    return {"vocab": pieces, "word_weights": weights, "unknown_word_weight": 1.0}


def _check_weights(folder: Folder, file: str, pooling: Pooling, tokenizer: AnyTokenizer) -> None:
    """Passes if the mean is that over all pieces but those around a text."""
    said = folder.mapping(file)
    ours = _weights_without(tokenizer)
    if pooling != "mean_with_special" or said.get("vocab") != ours["vocab"] or _listed(said) != _listed(ours):
        raise InteropError(
            f"{folder.place(file)}: {_WEIGHTS} cannot be expressed here, but for a mean over all tokens "
            f"except {' and '.join(sorted(_around(tokenizer)))}"
        )


def _listed(said: Mapping[str, Any]) -> tuple[Any, Collection[tuple[str, float]]]:
    weights = said.get("word_weights")
    return said.get("unknown_word_weight"), sorted(weights.items()) if isinstance(weights, dict) else ()
