"""A bundle becomes a model of CTranslate2."""

import contextlib
import functools
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from firth import storage
from firth.interop.bundles import about_untrained, copy_sources, open_bundle, require_trained, untrained_heads
from firth.interop.ctranslate2.specs import Specifier
from firth.interop.errors import InteropError, import_extra
from firth.interop.formats import Written
from firth.interop.hugging_face.families import family_of
from firth.models.bundle import TOKENIZER_FOLDER
from firth.recipes.reading.bundles import digest_of_bundle
from firth.recipes.run.run_recipe import RunRecipe
from firth.tokenizers import load_tokenizer


def export_model(
    bundle: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    quantization: str | None = None,
    heads: str | None = None,
) -> Written:
    """Writes a bundle's model as what CTranslate2's `Encoder`, `Generator` or `Translator` loads.

    These are `model.bin`, `config.json` and the vocabulary, whose tokens are the tokenizer's pieces. The
    bundle's recipe and tokenizer are copied. The folder appears whole or not at all.

    Args:
        bundle: Path of the folder that `firth.models.save_model` wrote.
        folder: Place of the new folder, where nothing is.
        quantization: Type that weights are rounded to, such as `int8` or `float16`; None for float32.
        heads: `untrained` to write heads that nobody has trained; None to leave them out.

    Returns:
        The files that were written, and which heads are left out.

    Raises:
        InteropError: if it is not a bundle, the extra is not installed, CTranslate2 does not run the family,
            or there is no such quantization.
        FileExistsError: if there is something in the folder's place.
    """
    (library,) = import_extra("ctranslate2", "ctranslate2.specs.model_spec")
    if quantization not in (None, *library.ACCEPTED_MODEL_TYPES):
        choices = ", ".join(library.ACCEPTED_MODEL_TYPES)
        raise InteropError(f"quantization: {quantization!r} is not one of {choices}")
    with storage.whole_folder(folder) as unfinished:
        model, recipe = open_bundle(bundle, writes_tasks=True)
        untrained = untrained_heads(bundle, heads)
        if recipe.model.has_decoder or not recipe.model.has_encoder:
            require_trained(untrained)
        given = Specifier(model, untrained)
        spec = specification_of(recipe)(given)
        spec.config.layer_norm_epsilon = given.config.norm.epsilon
        _name_tokens(spec, recipe, load_tokenizer(os.path.join(bundle, TOKENIZER_FOLDER)))
        spec.validate()
        spec.optimize(quantization=quantization)
        spec.save(unfinished)
        copy_sources(bundle, unfinished)
        return Written(tuple(storage.files_below(unfinished)), about_untrained(untrained))


def _name_tokens(spec: Any, recipe: RunRecipe, tokenizer: Any) -> None:
    """Registers the vocabulary, with a name for each row that has no piece, and the special tokens."""
    pieces, rows = tokenizer.get_vocabulary(), recipe.tokenizer.vocabulary_size
    if len(pieces) > rows:
        raise InteropError(f"the tokenizer has {len(pieces)} pieces, the model {rows} rows")
    pieces += [f"[unused{row}]" for row in range(len(pieces), rows)]
    special, goal, config = tokenizer.specials.by_role, recipe.goal, spec.config
    end = special.get("sep", special["pad"])
    config.eos_token = end
    config.bos_token = next((special[role] for role in goal.text_frame.before), end)
    config.unk_token = special.get("unk", end)
    if not recipe.model.has_decoder:
        spec.register_vocabulary(pieces)
        return
    config.decoder_start_token = special[goal.decoder_start[0]]
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)


def specification_of(recipe: RunRecipe) -> Callable[[Specifier], Any]:
    """Returns the function that makes the specification of a recipe's model."""
    found = _family_name(recipe)
    if found not in FAMILIES:
        titles = ", ".join(title for title, _ in FAMILIES.values())
        raise InteropError(
            f"{recipe.name} ({found}) cannot be expressed for CTranslate2, which runs {titles}"
        )
    return FAMILIES[found][1]


def _family_name(recipe: RunRecipe) -> str:
    """Returns a family's name; of a model that Hugging Face's format has no family for, that of its kind."""
    if recipe.goal.mixes_masks:
        return recipe.goal.kind
    try:
        return family_of(recipe.model, recipe.goal, is_trained=False).model_type
    except InteropError:
        return recipe.model.kind


_EMBEDDINGS = "backbone/embeddings"
_ENCODER_EMBEDDINGS, _DECODER_EMBEDDINGS = "backbone/encoder_embeddings", "backbone/decoder_embeddings"


def _encoder(given: Specifier) -> Any:
    """Returns the specification of BERT and RoBERTa, with a pooler if there is one."""
    has_pooler = "heads/pooler/dense/kernel" in given.weights
    encoder = given.encoder(given.config.stack, _EMBEDDINGS)
    spec = given.library.TransformerEncoderModelSpec(encoder, pooling_layer=has_pooler)
    if has_pooler:
        given.filling.dense(spec.pooler_dense, "heads/pooler/dense")
    return spec


def _decoder(given: Specifier, **options: Any) -> Any:
    """Returns the specification of GPT-2."""
    decoder = given.decoder(given.config.stack, _EMBEDDINGS, with_encoder_attention=False, **options)
    return given.library.TransformerDecoderModelSpec(decoder)


def _rotary_decoder(given: Specifier) -> Any:
    """Returns the specification of Llama; its halves of heads are turned as ours."""
    positions = given.config.positions
    options = {"rotary_dim": 0, "rotary_interleave": False, "rotary_base": positions.base}
    if positions.scaling is None:
        return _decoder(given, **options)
    (library,) = import_extra("ctranslate2", "ctranslate2.specs.attention_spec")
    options |= {
        "rotary_scaling_type": library.RotaryScalingType.Llama3,
        "original_max_position_embeddings": positions.scaling.original_length,
    }
    spec = _decoder(given, **options)
    for layer in spec.decoder.layer:
        layer.self_attention.rotary_low_freq_factor = np.float32(positions.scaling.low_frequency_factor)
        layer.self_attention.rotary_high_freq_factor = np.float32(positions.scaling.high_frequency_factor)
        # The runtime reads it for this kind of scaling too, but the specification has no such attribute.
        vars(layer.self_attention)["rotary_scaling_factor"] = np.float32(positions.scaling.factor)
    return spec


def _encoder_decoder(given: Specifier, **options: Any) -> Any:
    """Returns the specification of BART, and with `relative_attention_bias` of T5."""
    return given.library.TransformerSpec(
        given.encoder(given.config.stack, _ENCODER_EMBEDDINGS, **options),
        given.decoder(given.config.decoder_stack, _DECODER_EMBEDDINGS, **options),
    )


# By the `model_type` of Hugging Face's format: a title, and what makes a specification.
FAMILIES: dict[str, tuple[str, Callable[[Specifier], Any]]] = {
    "bert": ("BERT", _encoder),
    "roberta": ("RoBERTa", _encoder),
    "gpt2": ("GPT-2", _decoder),
    "llama": ("Llama", _rotary_decoder),
    "t5": ("T5", functools.partial(_encoder_decoder, relative_attention_bias=True)),
    "bart": ("BART", _encoder_decoder),
}


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
