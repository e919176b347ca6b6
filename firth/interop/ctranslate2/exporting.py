"""A bundle becomes a model of CTranslate2."""

import os
from typing import Any

from firth import storage
from firth.interop.bundles import about_untrained, copy_sources, open_bundle, require_trained, untrained_heads
from firth.interop.ctranslate2.finding import specification_of
from firth.interop.ctranslate2.specs import Specifier
from firth.interop.errors import InteropError
from firth.interop.extras import import_extra
from firth.interop.written import Written
from firth.models.bundle import TOKENIZER_FOLDER
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
        model, recipe = open_bundle(bundle)
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
