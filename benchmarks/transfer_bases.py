"""Small models of several families, pre-trained on the same text, and what they are compared with."""

import pathlib
from collections.abc import Mapping
from typing import Any, NamedTuple

PRETRAINED, UNTRAINED, VECTORS = "pre-trained", "from scratch", "word vectors"


class Start(NamedTuple):
    """What a task model starts from.

    Attributes:
        bundle: Folder of a model.
        more: More of the recipe.
        vectors: File of word vectors that stand in the place of the model's layers; empty for none.
    """

    bundle: str
    more: Mapping[str, Any] = {}
    vectors: str = ""


class Family(NamedTuple):
    """A family of models.

    Attributes:
        preset: The preset that is pre-trained.
        batch_size: Rows of a step of that, if not the preset's: few, where it would have too few steps.
        more: More of the recipe that adapts a model.
        untrained: What that recipe says for a model that is not pre-trained.
        is_features: Whether a model's layers are features, so that word vectors are compared with it.
    """

    preset: str
    batch_size: int = 0
    more: Mapping[str, Any] = {}
    untrained: Mapping[str, Any] = {}
    is_features: bool = False


# A frozen biLM that nothing was trained on would be no opponent: from scratch, all of it is trained.
FAMILIES = {
    "BERT": Family("bert_tiny"),
    "ELMo": Family(
        "elmo_tiny",
        more={"task.form.cells": 64, "task.form.layers": 1},
        untrained={"method.kind": "full"},
        is_features=True,
    ),
    "GPT": Family("gpt_1_tiny"),
    "ELECTRA": Family("electra_tiny", batch_size=8),
    "T5": Family("t5_tiny"),
}


def make_starts(name: str, folder: pathlib.Path, tokens: int) -> dict[str, Start]:
    """Returns what models of a family start from, by name; bases that exist are not made again.

    Args:
        name: Key of `FAMILIES`.
        folder: Folder for the corpus and the models.
        tokens: Tokens to pre-train on.
    """
    family = FAMILIES[name]
    rows = f"-{family.batch_size}" if family.batch_size else ""
    places = {
        PRETRAINED: folder / f"{family.preset}-{tokens}{rows}",
        UNTRAINED: folder / f"{family.preset}-untrained",
    }
    vectors = folder / "vectors.npz"
    if not all(place.exists() for place in (*places.values(), *([vectors] if family.is_features else []))):
        _make(family, folder, tokens, places, vectors)
    found = {PRETRAINED: Start(str(places[PRETRAINED]), family.more)}
    if family.is_features:
        found[VECTORS] = Start(str(places[PRETRAINED]), family.more, str(vectors))
    return found | {UNTRAINED: Start(str(places[UNTRAINED]), {**family.more, **family.untrained})}


def _make(
    family: Family,
    folder: pathlib.Path,
    tokens: int,
    places: Mapping[str, pathlib.Path],
    vectors: pathlib.Path,
) -> None:
    # These imports take seconds; a run whose models exist does not need them.
    from benchmarks.learning import make_recipe
    from benchmarks.learning_corpus import Corpus
    from benchmarks.transfer_vectors import make_vectors
    from firth.models import build_model, save_model
    from firth.recipes import load_recipe
    from firth.training.pretraining import train

    preset = load_recipe(family.preset)
    prepared = Corpus(folder / "corpus").prepare(preset)
    batch_size = family.batch_size or preset.training.batch_size
    steps = max(round(tokens / (batch_size * prepared.tokens_per_row)), 2)
    recipe = make_recipe(family.preset, steps, f"training.batch_size={batch_size}")
    if not places[UNTRAINED].exists():
        save_model(build_model(recipe), recipe, prepared.tokenizer, places[UNTRAINED])
    if not places[PRETRAINED].exists():
        run = f"{places[PRETRAINED]}-run"
        model = train(recipe, [prepared.train], prepared.tokenizer, run, f"{run}/checkpoints")
        save_model(model, recipe, prepared.tokenizer, places[PRETRAINED])
    if family.is_features:
        make_vectors(folder / "corpus" / "train", prepared.tokenizer, recipe.model.width, vectors)
