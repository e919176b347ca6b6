"""Pooling of sentence-transformers: the settings by which a folder makes one vector of a text."""

import dataclasses
import os
from collections.abc import Collection, Mapping
from typing import Any

from firth import storage
from firth.interop.errors import InteropError
from firth.interop.hugging_face.projections import read_projection, write_projection
from firth.interop.hugging_face.rules import Array
from firth.interop.hugging_face.tokenizers.files import SETTINGS_FILE, Folder
from firth.interop.untrusted_files import expected_shape
from firth.recipes.training.export import Export, Pooling
from firth.tokenizers.storage import AnyTokenizer

MODULES_FILE, CONFIG_FILE = "modules.json", "config.json"
PROMPTS_FILE, LENGTH_FILE = "config_sentence_transformers.json", "sentence_bert_config.json"
TRANSFORMER, POOLING, WEIGHTS, NORMALIZE = "Transformer", "Pooling", "WordWeights", "Normalize"
DENSE = "Dense"
# In the order in which a text goes through them. There may be several of `Dense`, and one of each other.
_KNOWN_MODULES = (TRANSFORMER, WEIGHTS, POOLING, DENSE, NORMALIZE)
_USUAL_PLACE = "1_Pooling"
_MODE, _PREFIX = "pooling_mode", "pooling_mode_"
# Releases from 6 on name the mode, older ones have a key for each, which is what both read.
KEYS = {
    "mean": f"{_PREFIX}mean_tokens",
    "cls": f"{_PREFIX}cls_token",
    "max": f"{_PREFIX}max_tokens",
    "mean_sqrt_len_tokens": f"{_PREFIX}mean_sqrt_len_tokens",
    "weightedmean": f"{_PREFIX}weightedmean_tokens",
    "lasttoken": f"{_PREFIX}lasttoken",
}
MODES: dict[str, Pooling] = {
    "mean": "mean_with_special",
    "cls": "first",
    "max": "max",
    "mean_sqrt_len_tokens": "mean_sqrt_length",
    "weightedmean": "weighted_mean",
    "lasttoken": "last",
}
# Where older releases say how long a text may be, after the name of the model.
_LENGTH_FILES = (
    LENGTH_FILE,
    *(
        f"sentence_{name}_config.json"
        for name in ("roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
    ),
)
# What the file of the length may say next to it.
_PLAIN: dict[str, tuple[Any, ...]] = {
    "transformer_task": ("feature-extraction",),
    "module_output_name": ("token_embeddings",),
    **dict.fromkeys(("model_args", "config_args", "tokenizer_args"), ({}, None)),
    **dict.fromkeys(("model_kwargs", "config_kwargs", "processor_kwargs"), ({}, None)),
    "tokenizer_name_or_path": (None,),
    "unpad_inputs": (None, False, True),
}
_MODALITY = "modality_config"
_STATES = {"method": "forward", "method_output_name": "last_hidden_state"}
# Larger numbers stand for no bound.
_NO_LENGTH = 10**9
_KIND = "SentenceTransformer"
# The roles of the special pieces around a text, which `mean` leaves out.
_AROUND = ("cls", "sep")
_DEFAULT = "default"


@dataclasses.dataclass(frozen=True)
class TextEmbedding:
    """Settings of the vectors of texts, read from a folder.

    Attributes:
        export: How `embed` makes them.
        length: Most tokens of a text; None if the folder does not say it.
        length_key: File and key that say it.
        notes: Sentences about what `embed` does otherwise.
        dense: Places of the weights of `export.projections` in the folder.
    """

    export: Export = dataclasses.field(default_factory=Export)
    length: int | None = None
    length_key: str = ""
    notes: tuple[str, ...] = ()
    dense: tuple[str, ...] = ()


def transformer_place(path: str | os.PathLike[str]) -> str:
    """Returns the place of the transformer in a folder; empty where it is the folder itself."""
    place = dict(_modules(Folder(path))).get(TRANSFORMER, "")
    if os.path.isabs(place) or ".." in place.split("/"):
        raise InteropError(f"{Folder(path).place(MODULES_FILE)}: path: {place!r} is not in the folder")
    return place


def read_embedding(path: str | os.PathLike[str], tokenizer: AnyTokenizer) -> TextEmbedding:
    """Returns how a folder says that vectors of texts are made; their mean if it does not say it.

    Raises:
        InteropError: for a module or a setting that cannot be expressed here, or a damaged file.
    """
    folder = Folder(path)
    with expected_shape(folder.path):
        modules = _modules(folder)
        prompt, notes = _prompt(folder)
        length, length_key = _length(folder, dict(modules).get(TRANSFORMER, ""), tokenizer)
        pooling = _pooling(folder, dict(modules), tokenizer, bool(prompt))
        names = [name for name, _ in modules]
        # What reads such a folder cuts texts at the length of a row.
        long_texts: Any = "cut" if names else None
        dense = tuple(place for name, place in modules if name == DENSE)
        export = Export(
            pooling=pooling,
            projections=tuple(read_projection(folder, place) for place in dense),
            normalize=NORMALIZE in names,
            prompt=prompt,
            long_texts=long_texts,
        )
    return TextEmbedding(export, length, length_key, tuple(notes), dense)


def without_vectors(path: str | os.PathLike[str]) -> TextEmbedding:
    """Returns a note for a folder with settings of vectors whose model gives none here."""
    note = f"{MODULES_FILE}: a model without an encoder has no `embed` here, so that it is not used"
    return TextEmbedding(notes=(note,) if Folder(path).holds(MODULES_FILE) else ())


def write_embedding(
    folder: str,
    export: Export,
    width: int,
    length: int,
    tokenizer: AnyTokenizer,
    weights: Mapping[str, Array],
) -> list[str]:
    """Writes the modules of sentence-transformers; nothing for a pooling that it does not have."""
    modes = {ours: mode for mode, ours in MODES.items()} | {"mean": "mean"}
    if export.pooling not in modes:
        return []
    said = {key: mode == modes[export.pooling] for mode, key in KEYS.items()}
    configs: dict[str, Any] = {POOLING: {"word_embedding_dimension": width, **said}}
    if export.pooling == "mean":
        configs = {WEIGHTS: weights_without(tokenizer), **configs}
    names = [*configs, *[DENSE] * len(export.projections), *[NORMALIZE] * export.normalize]
    homes = [(name, f"{index}_{name}") for index, name in enumerate(names, 1)]
    modules = [
        {"idx": index, "name": str(index), "path": place, "type": f"sentence_transformers.models.{name}"}
        for index, (name, place) in enumerate([(TRANSFORMER, ""), *homes])
    ]
    places = dict(homes)
    if export.normalize:
        configs[NORMALIZE] = {}
    contents: dict[str, Any] = {
        MODULES_FILE: modules,
        LENGTH_FILE: {"max_seq_length": length, "do_lower_case": False},
    }
    if export.prompt:
        contents[PROMPTS_FILE] = {"prompts": {_DEFAULT: export.prompt}, "default_prompt_name": _DEFAULT}
    contents |= {os.path.join(places[name], CONFIG_FILE): config for name, config in configs.items()}
    for name, content in contents.items():
        storage.write_json(os.path.join(folder, name), content, indent=2)
    dense = [place for name, place in homes if name == DENSE]
    files = [
        file
        for number, (place, each) in enumerate(zip(dense, export.projections, strict=True))
        for file in write_projection(folder, place, number, each, weights)
    ]
    return [*contents, *files]


def _modules(folder: Folder) -> list[tuple[str, str]]:
    """Returns the modules of a folder by name, each with its place."""
    if not folder.holds(MODULES_FILE):
        return []
    place = folder.place(MODULES_FILE)
    try:
        said = [(str(each["type"]), str(each["path"])) for each in folder.content(MODULES_FILE)]
    except (KeyError, TypeError) as error:
        raise InteropError(f"{place}: a module without {error}") from None
    modules = [(each.rpartition(".")[2], path) for each, path in said]
    for module, _ in modules:
        if module not in _KNOWN_MODULES:
            raise InteropError(
                f"{place}: the module {module} cannot be expressed here, {', '.join(_KNOWN_MODULES)} can; "
                f"without this file, the model comes in without it"
            )
    names = [module for module, _ in modules]
    in_order = sorted(names, key=_KNOWN_MODULES.index)
    once = len({*names} - {DENSE}) == len(names) - names.count(DENSE)
    if names != in_order or not once or TRANSFORMER not in names[:1]:
        raise InteropError(f"{place}: the modules {', '.join(names)} cannot be expressed here in this order")
    return modules


def _pooling(
    folder: Folder, modules: Mapping[str, str], tokenizer: AnyTokenizer, has_prompt: bool
) -> Pooling:
    if modules and POOLING not in modules:
        raise InteropError(f"{folder.place(MODULES_FILE)}: there is no module {POOLING}, which gives vectors")
    file = os.path.join(modules.get(POOLING, _USUAL_PLACE), CONFIG_FILE)
    if not modules and not folder.holds(file):
        return "mean"
    if has_prompt and folder.mapping(file).get("include_prompt", True) is not True:
        raise InteropError(
            f"{folder.place(file)}: include_prompt: False cannot be expressed here with a prompt, True can"
        )
    pooling = MODES[_mode(folder, file)]
    if WEIGHTS not in modules:
        return pooling
    _check_weights(folder, os.path.join(modules[WEIGHTS], CONFIG_FILE), pooling, tokenizer)
    return "mean"


def _mode(folder: Folder, file: str) -> str:
    said = folder.mapping(file)
    named = {key: mode for mode, key in KEYS.items()}
    chosen = [named.get(key, key) for key, value in said.items() if key.startswith(_PREFIX) and value is True]
    if (mode := said.get(_MODE)) is not None:
        chosen = [mode] if isinstance(mode, str) else list(mode)
    chosen = chosen or ["mean"]
    for each in chosen:
        if each not in MODES:
            known = " or ".join(MODES)
            raise InteropError(f"{folder.place(file)}: {each} cannot be expressed here, {known} can")
    if len(chosen) > 1:
        raise InteropError(f"{folder.place(file)}: {' and '.join(chosen)} at once cannot be expressed here")
    return str(chosen[0])


def _prompt(folder: Folder) -> tuple[str, list[str]]:
    """Returns the text that is put before all texts, and a note about those that somebody has to ask for."""
    said = folder.optional(PROMPTS_FILE)
    if (kind := said.get("model_type", _KIND)) != _KIND:
        raise InteropError(
            f"{folder.place(PROMPTS_FILE)}: model_type: {kind!r} cannot be expressed here, {_KIND!r} can"
        )
    prompts, default = said.get("prompts") or {}, said.get("default_prompt_name")
    if default is not None and default not in prompts:
        raise InteropError(
            f"{folder.place(PROMPTS_FILE)}: default_prompt_name: {default!r} is not one of prompts"
        )
    others = {name: text for name, text in prompts.items() if name != default and text}
    shown = ", ".join(f"{name} is {text!r}" for name, text in others.items())
    note = f"{PROMPTS_FILE}: a prompt that is not asked for is put before no text, so it is typed: {shown}"
    return str(prompts[default]) if default is not None else "", [note] if others else []


def _length(folder: Folder, home: str, tokenizer: AnyTokenizer) -> tuple[int | None, str]:
    """Returns the most tokens of a text, and which key of which file says it."""
    files = [os.path.join(home, name) for name in _LENGTH_FILES]
    file = next(filter(folder.holds, files), None)
    if file is None:
        return _most_of_tokenizer(folder, home) if folder.holds(MODULES_FILE) else (None, "")
    said, place = folder.mapping(file), folder.place(file)
    lowers = said.get("do_lower_case", False)
    if lowers and not _lowers(tokenizer):
        raise InteropError(
            f"{place}: do_lower_case: {lowers} cannot be expressed here next to a tokenizer that keeps "
            "letters as they are, False can"
        )
    for key, value in said.items():
        if key in ("max_seq_length", "do_lower_case"):
            continue
        if key == _MODALITY:
            _check_modality(place, value)
        elif key not in _PLAIN or value not in _PLAIN[key]:
            raise InteropError(f"{place}: {key}: {value!r} cannot be expressed here")
    length = said.get("max_seq_length")
    if length is None:
        return _most_of_tokenizer(folder, home)
    if not isinstance(length, int) or isinstance(length, bool) or length < 1:
        raise InteropError(f"{place}: max_seq_length: {length!r} is not a number of tokens")
    return length, f"{os.path.basename(file)}: max_seq_length"


def _most_of_tokenizer(folder: Folder, home: str) -> tuple[int | None, str]:
    """Returns the most tokens of a text that the tokenizer's settings say, which releases from 6 on take."""
    said = folder.optional(os.path.join(home, SETTINGS_FILE)).get("model_max_length")
    is_number = isinstance(said, int) and not isinstance(said, bool) and 0 < said < _NO_LENGTH
    return (said, f"{SETTINGS_FILE}: model_max_length") if is_number else (None, "")


def _check_modality(place: str, said: Any) -> None:
    if not isinstance(said, Mapping) or any(
        name != "text" or {**_STATES, **each} != _STATES for name, each in said.items()
    ):
        raise InteropError(f"{place}: {_MODALITY}: {said!r} cannot be expressed here, one of text alone can")


def _lowers(tokenizer: AnyTokenizer) -> bool:
    steps: Any = getattr(getattr(tokenizer, "preparation", None), "steps", ())
    return bool(getattr(tokenizer, "lowercase", False)) or ("lowercase",) in steps


def around(tokenizer: AnyTokenizer) -> set[str]:
    """Returns the special pieces around a text."""
    by_role = tokenizer.specials.by_role
    return {by_role[role] for role in _AROUND if role in by_role}


def weights_without(tokenizer: AnyTokenizer) -> dict[str, Any]:
    """Returns weights of pieces: nothing for those around a text, and one for all others."""
    left_out, pieces = around(tokenizer), tokenizer.get_vocabulary()
    # A piece that is not listed has the weight of its lower-cased form.
    listed = [piece for piece in pieces if piece in left_out or piece.lower() in left_out]
    weights = {piece: float(piece not in left_out) for piece in listed}
    return {"vocab": pieces, "word_weights": weights, "unknown_word_weight": 1.0}


def _check_weights(folder: Folder, file: str, pooling: Pooling, tokenizer: AnyTokenizer) -> None:
    """Passes if the mean is that over all pieces but those around a text."""
    said = folder.mapping(file)
    ours = weights_without(tokenizer)
    if pooling != "mean_with_special" or said.get("vocab") != ours["vocab"] or _listed(said) != _listed(ours):
        raise InteropError(
            f"{folder.place(file)}: {WEIGHTS} cannot be expressed here, but for a mean over all tokens "
            f"except {' and '.join(sorted(around(tokenizer)))}"
        )


def _listed(said: Mapping[str, Any]) -> tuple[Any, Collection[tuple[str, float]]]:
    weights = said.get("word_weights")
    return said.get("unknown_word_weight"), sorted(weights.items()) if isinstance(weights, dict) else ()
