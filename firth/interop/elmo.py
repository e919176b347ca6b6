"""Published ELMo weights become a bundle."""

import fnmatch
import json
import os
from collections.abc import Collection

import numpy as np

from firth import storage
from firth.interop.bundles import Imported, Incoming
from firth.interop.errors import InteropError, check_folder
from firth.interop.formats import Read
from firth.interop.untrusted_files import check_file, expected_shape, read_mapping
from firth.models.elmo_import import ElmoFileError, load_elmo, read_options
from firth.recipes.models.bilstm import BiLSTMConfig
from firth.recipes.objectives.language_models import BidirectionalLM
from firth.tokenizers.word import SPECIAL_WORDS, WordTokenizer

_OPTIONS, _WEIGHTS = "*options*.json", "*weights*.hdf5"
# The files hold no softmax, so that the vocabulary has room for the special words only.
_ROWS = 16


def import_model(path: str | os.PathLike[str], folder: str | os.PathLike[str], name: str) -> Read:
    """Writes ELMo's published files as a model bundle, which `firth.models.load_model` reads.

    The files hold no softmax: the model gives vectors of words, and its heads, which predict words, are
    fresh.

    Args:
        path: Path of a folder with one `*options*.json` and one `*weights*.hdf5`, as AllenNLP publishes
            them.
        folder: Place of the bundle, where nothing is.
        name: Name of the model.

    Returns:
        Which weights the files lack.

    Raises:
        InteropError: if a file is missing or damaged, or holds other weights than its options say.
        FileExistsError: if there is something in the bundle's place.
    """
    options, weights = (_the_one(os.fspath(path), pattern) for pattern in (_OPTIONS, _WEIGHTS))
    read_mapping(options)
    check_file(weights, most=None)
    with storage.local_copy(options) as options, storage.local_copy(weights) as weights:
        try:
            with expected_shape(options):
                shape = read_options(options)
            backbone = load_elmo(options, weights)
        except (ElmoFileError, OSError) as error:
            raise InteropError(str(error)) from error
    characters = shape["characters"]["max_characters"]
    imported = Imported(
        path=os.fspath(path),
        origin="ELMo's published files",
        # Sequences in JSON are lists, which the types read.
        model=BiLSTMConfig.model_validate_json(json.dumps(shape)),
        objective=BidirectionalLM(negatives=None),
        vocabulary_size=_ROWS,
        tokenizer=WordTokenizer(SPECIAL_WORDS, max_characters=characters),
    )
    given = {f"backbone/{each.path.split('/', 1)[1]}": each for each in backbone.weights}

    def bring(specs: Collection[str], recipe: object) -> Incoming:
        fresh = tuple(path for path in specs if path not in given)
        weights = ((path, np.asarray(given[path].value)) for path in specs if path in given)
        return Incoming(Read(fresh, ()), weights)

    return imported.write(name, folder, bring)


def _the_one(folder: str, pattern: str) -> str:
    check_folder(folder)
    found = fnmatch.filter(storage.list_folder(folder), pattern)
    if len(found) != 1:
        names = f": {', '.join(found)}" if found else ""
        raise InteropError(f"{folder} holds {len(found)} files of the form {pattern}, not one{names}")
    return os.path.join(folder, found[0])
