"""The model of CTranslate2 that a bundle's becomes, kept so that it is made once."""

import contextlib
import os

from firth import storage
from firth.interop.ctranslate2.exporting import export_model
from firth.interop.errors import InteropError
from firth.interop.extras import import_extra
from firth.recipes.reading.bundles import digest_of_bundle

_MODEL_FILE = "model.bin"
_PLAIN = "float32"


def converted(
    folder: str | os.PathLike[str],
    quantization: str | None = None,
    cache: str | os.PathLike[str] | None = None,
) -> str:
    """Returns the folder of a model of CTranslate2, which is made of a bundle the first time it is asked for.

    It is kept by the bundle's digest, the quantization and the runtime's version, so that a bundle which has
    moved is found again, and another one in its place is not taken for it.

    Args:
        quantization: Type that weights are rounded to, such as `int8`; None for float32.

    Raises:
        firth.storage.NotWholeError: if the folder, or what is kept of it, is not whole.
        InteropError: as `export_model` does, or if what was exported is not on this machine, or has another
            quantization than the one that is asked for.
    """
    if storage.exists(os.path.join(folder, _MODEL_FILE)):
        return _exported(os.fspath(folder), quantization)
    (library,) = import_extra("ctranslate2", "ctranslate2")
    storage.check_whole(folder)
    name = f"{digest_of_bundle(os.fspath(folder))[:32]}-{quantization or _PLAIN}-{library.__version__}"
    place = os.path.join(cache or _usual_cache(), name)
    if not storage.is_whole(place):
        # Another process may have made it meanwhile.
        with contextlib.suppress(FileExistsError):
            export_model(folder, place, quantization if quantization != _PLAIN else None)
    storage.check_whole(place)
    return place


def _exported(folder: str, quantization: str | None) -> str:
    storage.check_whole(folder)
    if not storage.is_local(folder):
        raise InteropError(f"{folder}: CTranslate2 reads files of this machine; copy the folder first")
    if quantization is not None:
        raise InteropError(
            f"quantization: the weights in {folder} have their type already; leave it out, or give the bundle"
        )
    return folder


def _usual_cache() -> str:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(home, "firth", "ctranslate2")
