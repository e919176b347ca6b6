"""How sentence-transformers makes one vector of a text, where a folder says it."""

import os

from firth import storage
from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers.files import Folder
from firth.recipes.training.export import Pooling

_MODULES_FILE, _USUAL_PLACE = "modules.json", "1_Pooling"
# Vectors of length one have the same direction.
_KNOWN_MODULES = ("Transformer", "Pooling", "Normalize")
_PREFIX = "pooling_mode_"
_POOLINGS: dict[str, Pooling] = {
    f"{_PREFIX}mean_tokens": "mean_with_special",
    f"{_PREFIX}cls_token": "first",
}


def read_pooling(path: str | os.PathLike[str]) -> Pooling:
    """Returns how a folder says that texts are pooled; `mean` if it does not say it.

    Args:
        path: Path of the folder.

    Raises:
        InteropError: for a module or a way of pooling that cannot be expressed here, or a damaged file.
    """
    folder = Folder(path)
    file = os.path.join(_pooling_place(folder), "config.json")
    said = folder.optional(file)
    chosen = [key for key, value in said.items() if key.startswith(_PREFIX) and value is True]
    if not chosen:
        return "mean"
    for key in chosen:
        if key not in _POOLINGS:
            known = " or ".join(_POOLINGS)
            raise InteropError(f"{folder.place(file)}: {key} cannot be expressed here, {known} can")
    if len(chosen) > 1:
        raise InteropError(f"{folder.place(file)}: {' and '.join(chosen)} at once cannot be expressed here")
    return _POOLINGS[chosen[0]]


def write_pooling(folder: str, pooling: Pooling, width: int) -> list[str]:
    """Writes what sentence-transformers reads of pooling; nothing for a way that it does not have.

    Args:
        folder: Folder on this machine.
        pooling: Way in which the model makes one vector of a text.
        width: Width of its hidden states.

    Returns:
        Paths of the files, below the folder.
    """
    if pooling not in _POOLINGS.values():
        return []
    said = {key: pooling == each for key, each in _POOLINGS.items()}
    modules = [
        {"idx": index, "name": str(index), "path": path, "type": f"sentence_transformers.models.{module}"}
        for index, (module, path) in enumerate((("Transformer", ""), ("Pooling", _USUAL_PLACE)))
    ]
    contents = {
        _MODULES_FILE: modules,
        os.path.join(_USUAL_PLACE, "config.json"): {"word_embedding_dimension": width, **said},
    }
    for name, content in contents.items():
        storage.write_json(os.path.join(folder, name), content, indent=2)
    return list(contents)


def _pooling_place(folder: Folder) -> str:
    """Returns the folder of the module that pools."""
    if not folder.holds(_MODULES_FILE):
        return _USUAL_PLACE
    place = folder.place(_MODULES_FILE)
    try:
        said = [(str(each["type"]), str(each["path"])) for each in folder.content(_MODULES_FILE)]
    except (KeyError, TypeError) as error:
        raise InteropError(f"{place}: a module without {error}") from None
    modules = [(each.rpartition(".")[2], path) for each, path in said]
    for module, _ in modules:
        if module not in _KNOWN_MODULES:
            raise InteropError(
                f"{place}: the module {module} cannot be expressed here, {', '.join(_KNOWN_MODULES)} can; "
                f"without this file, the model comes in without it"
            )
    return next((path for module, path in modules if module == "Pooling"), _USUAL_PLACE)
