"""A bundle becomes a model in Hugging Face's format."""

import collections
import contextlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from firth import storage
from firth.interop.bundles import about_untrained, recipe_of, untrained_heads
from firth.interop.errors import InteropError
from firth.interop.formats import Written
from firth.interop.hugging_face.checkpoint_folder import CONFIG_FILE, SHARD_BYTES, write_shards
from firth.interop.hugging_face.families import family_of
from firth.interop.hugging_face.family import Family
from firth.interop.hugging_face.pooling import write_embedding
from firth.interop.hugging_face.projections import is_of_projection
from firth.interop.hugging_face.rules import Array, Rule
from firth.interop.hugging_face.tensors import all_finite, holds_exactly
from firth.interop.hugging_face.tokenizers import write_tokenizer
from firth.models.bundle import TOKENIZER_FOLDER, open_weights, stored_dtypes
from firth.recipes.base.errors import first_of, suggest
from firth.recipes.goals.goal import Goal
from firth.recipes.run.run_recipe import RunRecipe
from firth.storage.tensor_files import DTYPES, TensorSpec, dtype_name, spec_of
from firth.tokenizers import load_tokenizer
from firth.tokenizers.graph.special_pieces import MissingPieceError
from firth.tokenizers.storage import AnyTokenizer


def export_model(
    bundle: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    dtype: str | None = None,
    shard_bytes: int = SHARD_BYTES,
    heads: str | None = None,
) -> Written:
    """Writes a bundle's model as what `transformers.AutoModel.from_pretrained` loads.

    Its family is the first that can express the recipe's model. Weights of heads that transformers has no
    class for are left out, and named in a note. Neither the model nor a file is ever held whole.

    Args:
        bundle: Path of the bundle.
        folder: Place of the folder, where nothing is.
        dtype: float32, bfloat16 or float16 for all tensors. Without it, each has the dtype that it was
            imported in, if that still holds it exactly, and otherwise float32.
        shard_bytes: Most bytes of a file of weights; a larger model is written in shards.
        heads: `untrained` to write heads that nobody has trained; None to leave them out.

    Returns:
        The files that were written, and which weights they lack.

    Raises:
        InteropError: if there is no bundle, or no family can express the model, with the nearest and the
            key in its way.
        FileExistsError: if there is something in the folder's place.
    """
    recipe = recipe_of(bundle)
    family = family_of(recipe.model, recipe.goal)
    tokenizer = load_tokenizer(os.path.join(bundle, TOKENIZER_FOLDER))
    ids = _ids_by_role(tokenizer)
    model, untrained = family.fitted(recipe.model, ids), untrained_heads(bundle, heads)
    of_class = family.heads_of(model, recipe.goal)
    rules = family.rules(model, recipe.goal) if of_class else _alone(family, model)
    random = untrained & {rule.ours for rule in rules}
    if random:
        of_class, rules = None, _alone(family, model)
    with open_weights(bundle) as weights:
        paths = {path for path in weights if not is_of_projection(path)}
        notes = _left_out(bundle, paths - random, rules) + about_untrained(random)
        outgoing = Outgoing(rules, weights, stored_dtypes(weights), dtype)
        config = {
            **family.write_config(model),
            **_token_ids(recipe.goal, ids, bool(model.has_decoder and model.has_encoder)),
            **(of_class.settings(recipe.goal) if of_class else {}),
            "architectures": [of_class.architecture if of_class else family.architecture],
            "torch_dtype": outgoing.most_common_dtype,
            "vocab_size": recipe.tokenizer.vocabulary_size,
        }
        with storage.whole_folder(folder) as unfinished:
            storage.write_json(os.path.join(unfinished, CONFIG_FILE), config)
            files = write_shards(unfinished, outgoing.specs, outgoing.tensors, shard_bytes)
            files += write_tokenizer(tokenizer, unfinished, family.model_type, model.longest)
            pooling = _pooling_files(unfinished, recipe, tokenizer, weights)
    return Written((CONFIG_FILE, *files, *pooling), notes + _about_pooling(recipe, pooling))


def _alone(family: Family, model: Any) -> list[Rule]:
    """Returns the rules of a base model, whose tensors lack the family's name."""
    return list(family.backbone(model))


def _pooling_files(
    folder: str, recipe: RunRecipe, tokenizer: AnyTokenizer, weights: Mapping[str, Array]
) -> list[str]:
    """Writes how texts are pooled, which sentence-transformers does over the states of an encoder alone."""
    if not recipe.model.has_encoder or recipe.model.has_decoder:
        return []
    width, length = recipe.model.width, recipe.sequences.length
    return write_embedding(folder, recipe.export, width, length, tokenizer, weights)


def _about_pooling(recipe: RunRecipe, files: list[str]) -> tuple[str, ...]:
    if files or not recipe.model.has_encoder:
        return ()
    also = " and export.projections are" if recipe.export.projections else " is"
    return (
        f"export.pooling: {recipe.export.pooling}{also} not written: sentence-transformers has no such way",
    )


def _ids_by_role(tokenizer: Any) -> dict[str, int]:
    """Returns the ids of the special tokens that a tokenizer has."""
    found = {"pad": tokenizer.pad_id, "sep": tokenizer.sep_id}
    # Some tokenizers begin texts with no piece.
    with contextlib.suppress(MissingPieceError):
        found["cls"] = tokenizer.cls_id
    return found


def _token_ids(goal: Goal, ids: Mapping[str, int], has_both: bool) -> dict[str, int]:
    """Returns the special tokens' ids, by the keys of their configuration."""
    before, start = goal.text_frame.before, goal.decoder_start if has_both else ()
    roles = {
        # Without a padding piece, `sep` pads; the settings of the tokenizer name none then either.
        "pad_token_id": "pad" if ids["pad"] != ids["sep"] else None,
        "bos_token_id": before[0] if before else None,
        "eos_token_id": "sep",
        "decoder_start_token_id": start[0] if start else None,
        "forced_bos_token_id": start[1] if start[1:] else None,
    }
    return {key: ids[role] for key, role in roles.items() if role is not None and role in ids}


def _left_out(bundle: str | os.PathLike[str], weights: Collection[str], rules: list[Rule]) -> tuple[str, ...]:
    """Returns a note about the weights that no rule names."""
    left_out = sorted(set(weights) - {rule.ours for rule in rules})
    if of_backbone := [path for path in left_out if path.startswith("backbone/")]:
        raise InteropError(f"{os.fspath(bundle)}: no rule for {of_backbone[0]}")
    if not left_out:
        return ()
    return (f"left out, since transformers has no place for them: {first_of(left_out)}",)


# By their names in a configuration.
_WIDTHS = {"float32": "F32", "bfloat16": "BF16", "float16": "F16"}


class Outgoing:
    """The tensors that a bundle's weights make.

    Each weight is read twice: once for the dtypes, and once to be written.

    Args:
        dtype: float32, bfloat16 or float16 for all tensors; None for that of each in `stored`, if it holds
            the tensor exactly.

    Attributes:
        specs: Dtype and shape of each tensor by name.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        weights: Mapping[str, Array],
        stored: Mapping[str, Sequence[str]],
        dtype: str | None = None,
    ) -> None:
        if dtype is not None and dtype not in _WIDTHS:
            raise InteropError(f"dtype: {dtype!r} is not known; {suggest(dtype, _WIDTHS)}")
        self._rules, self._weights = rules, weights
        self._asked, self._stored = _WIDTHS.get(dtype or ""), stored
        self.specs = {name: spec for rule in rules for name, spec in self._specs_of(rule)}

    @property
    def most_common_dtype(self) -> str:
        """The dtype of most numbers, by its name in a configuration."""
        numbers: collections.Counter[str] = collections.Counter()
        for dtype, shape in self.specs.values():
            numbers[dtype] += int(np.prod(shape))
        found = numbers.most_common(1)[0][0]
        return next(name for name, dtype in _WIDTHS.items() if dtype == found)

    def tensors(self, names: Sequence[str]) -> Iterator[tuple[str, Array]]:
        """Yields tensors by name, each made when it is asked for."""
        wanted = set(names)
        for rule in self._rules:
            if wanted.intersection(rule.theirs):
                for name, tensor in self._made(rule):
                    if name in wanted:
                        yield name, tensor.astype(DTYPES[self.specs[name].dtype], copy=False)
                # The next weight is read without these.
                del tensor

    def _specs_of(self, rule: Rule) -> Iterator[tuple[str, TensorSpec]]:
        stored = self._stored.get(rule.ours, ())
        for place, (name, tensor) in enumerate(self._made(rule)):
            wanted = self._asked or (stored[place] if place < len(stored) else dtype_name(tensor.dtype))
            # A float64 that came in was one that float32 holds.
            wanted = wanted if wanted in _WIDTHS.values() else "F32"
            cast = tensor.astype(DTYPES[wanted], copy=False)
            if self._asked and not all_finite(cast):
                raise InteropError(f"{name} holds numbers beyond {cast.dtype}")
            # What a model was trained to after its import is not rounded unless that is asked for.
            is_kept = self._asked or holds_exactly(cast, tensor)
            yield name, spec_of(cast if is_kept else tensor)

    def _made(self, rule: Rule) -> Iterator[tuple[str, Array]]:
        if rule.ours not in self._weights:
            raise InteropError(f"the bundle has no weight {rule.ours}")
        yield from zip(rule.theirs, rule.write(self._weights[rule.ours]), strict=True)
