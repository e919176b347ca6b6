"""Small models of several families, pre-trained on the same text, and the starts they are compared with."""

import hashlib
import json
import pathlib
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from benchmarks.learning_corpus import Prepared
    from firth.recipes.corpus.sources import Source
    from firth.recipes.run.recipe import Recipe

PRETRAINED, UNTRAINED, VECTORS = "pre-trained", "from scratch", "word vectors"
LEARNT = "learnt.json"


class Start(NamedTuple):
    """Start of a task model.

    Attributes:
        bundle: Folder of a model.
        more: More of the recipe.
        vectors: File of word vectors that replace the model's layers; empty for none.
    """

    bundle: str
    more: Mapping[str, Any] = {}
    vectors: str = ""


class Family(NamedTuple):
    """A family of models.

    Attributes:
        preset: The preset that is pre-trained.
        said: Keys of its recipe that differ from the preset's, next to `SAID`.
        share: Share of the tokens to pre-train on that it reads.
        more: More of the recipe that adapts a model.
        untrained: What that recipe says for a model that is not pre-trained.
        is_features: Whether a model's layers are features, so that word vectors are compared with it.
    """

    preset: str
    said: Mapping[str, Any] = {}
    share: float = 1.0
    more: Mapping[str, Any] = {}
    untrained: Mapping[str, Any] = {}
    is_features: bool = False


# A small vocabulary has few rare pieces and a cheap softmax, so more tokens are read in the same time, and
# weights as large as fresh ones of this width must be to pass anything on are what attention learns from
# within thousands of steps.
SAID = {
    "tokenizer.vocabulary_size": 4096,
    "training.batch_size": 8,
    "training.optimizer.learning_rate": 1e-3,
}
_WIDE_START = {"model.initializer_stddev": 0.06, "model.dropout": 0.0, "model.attention.dropout": 0.0}
_MASKED = {"objective.mask_rate": 0.3, "objective.max_predictions": 40}
FAMILIES = {
    # Twice as many tokens are masked as in the paper, so twice as many are learnt from in the same time.
    "BERT": Family("bert_tiny", {**_WIDE_START, **_MASKED}),
    # A frozen biLM that nothing was trained on would be no opponent: from scratch, all of it is trained.
    "ELMo": Family(
        "elmo_tiny",
        {
            "tokenizer.vocabulary_size": 8192,
            # Short rows: twice the steps of rows of 64 for the same tokens.
            "sequences.length": 32,
            "training.batch_size": 32,
            # Over so few steps; the preset's Adagrad is for many.
            "training.optimizer": {"kind": "adamw", "learning_rate": 2e-3, "schedule": "linear"},
        },
        share=0.5,
        more={"task.form.cells": 64, "task.form.layers": 1},
        untrained={"method.kind": "full"},
        is_features=True,
    ),
    "GPT": Family("gpt_1_tiny", _WIDE_START),
    # With the paper's weight of 50 the discriminator learnt next to nothing in 4,000 steps; with less weight
    # the embeddings, which it shares, are more the generator's.
    "ELECTRA": Family("electra_tiny", {**_WIDE_START, **_MASKED, "objective.discriminator_weight": 5.0}),
    # Adafactor's rates are shares of a weight's size.
    "T5": Family(
        "t5_tiny",
        {
            "objective.noise_density": 0.3,
            "training.optimizer.learning_rate": 0.02,
            "training.optimizer.schedule": "linear",
        },
    ),
}


def make_starts(
    name: str, folder: pathlib.Path, tokens: int, sources: Sequence["Source"]
) -> dict[str, Start]:
    """Returns the starts of the models of a family, by name; bases that exist are not made again.

    Args:
        name: Key of `FAMILIES`.
        folder: Folder for the corpus and the models.
        tokens: Tokens to pre-train on.
        sources: Where the text comes from, if its corpus is not in the folder yet.
    """
    family = FAMILIES[name]
    places = {
        PRETRAINED: folder / f"{family.preset}-{round(tokens * family.share)}-{_key(family)}",
        UNTRAINED: folder / f"{family.preset}-untrained-{_key(family)}",
    }
    vectors = folder / f"vectors-{_key(family)}.npz"
    if not all(place.exists() for place in (*places.values(), *([vectors] if family.is_features else []))):
        _make(family, folder, tokens, sources, places, vectors)
    found = {PRETRAINED: Start(str(places[PRETRAINED]), family.more)}
    if family.is_features:
        found[VECTORS] = Start(str(places[PRETRAINED]), family.more, str(vectors))
    return found | {UNTRAINED: Start(str(places[UNTRAINED]), {**family.more, **family.untrained})}


def bundle_starts(bundle: pathlib.Path, folder: pathlib.Path) -> dict[str, Start]:
    """Returns a bundle and the same model untrained, by the names of `make_starts`.

    Args:
        bundle: Folder of the bundle.
        folder: Folder for the untrained model, which is not made again.
    """
    untrained = folder / f"{bundle.parent.name}-untrained"
    if not untrained.exists():
        from firth.models import build_model, save_model
        from firth.models.bundle import read_recipe
        from firth.recipes.run.base import TOKENIZER_FOLDER

        recipe = read_recipe(bundle)
        save_model(build_model(recipe), recipe, bundle / TOKENIZER_FOLDER, untrained)
    return {PRETRAINED: Start(str(bundle)), UNTRAINED: Start(str(untrained.resolve()))}


def learnt(bundle: str) -> dict[str, float]:
    """Returns the held-out figures of a pre-training.

    Args:
        bundle: Folder that `make_starts` made of a pre-trained model.

    Returns:
        `steps`, `tokens`, `processor_seconds`, and the bits per byte of its main loss on held-out rows, and
        of a unigram model on the same tokens.
    """
    found: dict[str, float] = json.loads(pathlib.Path(f"{bundle}-run/{LEARNT}").read_text())
    return found


def _key(family: Family) -> str:
    said = json.dumps({**SAID, **family.said}, sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()[:8]


def _make(
    family: Family,
    folder: pathlib.Path,
    tokens: int,
    sources: Sequence["Source"],
    places: Mapping[str, pathlib.Path],
    vectors: pathlib.Path,
) -> None:
    # These imports take seconds; a run whose models exist does not need them.
    from benchmarks.learning import make_recipe
    from benchmarks.learning_corpus import Corpus
    from benchmarks.transfer_vectors import make_vectors
    from firth.models import build_model, save_model

    said = [f"{name}={value}" for name, value in {**SAID, **family.said}.items()]
    shape = make_recipe(family.preset, 2, *said)
    prepared = Corpus(folder / "corpus", sources).prepare(shape)
    steps = max(round(tokens * family.share / (shape.training.batch_size * prepared.tokens_per_row)), 2)
    recipe = make_recipe(family.preset, steps, *said)
    if not places[UNTRAINED].exists():
        save_model(build_model(recipe), recipe, prepared.tokenizer, places[UNTRAINED])
    if not places[PRETRAINED].exists():
        _pretrain(recipe, prepared, places[PRETRAINED])
    if family.is_features:
        make_vectors(folder / "corpus" / "train", prepared.tokenizer, recipe.model.width, vectors)


def _pretrain(recipe: "Recipe", prepared: "Prepared", place: pathlib.Path) -> None:
    from benchmarks.learning_worker import HELD_OUT_ROWS, evaluate, held_out_rows
    from firth.models import save_model
    from firth.serving.served_model import Served
    from firth.tokenizers import load_tokenizer
    from firth.training.pretraining import open_rows, train
    from firth.training.rows import count_pieces

    run, began = f"{place}-run", time.process_time()
    model = train(recipe, [prepared.train], prepared.tokenizer, run, f"{run}/checkpoints")
    spent = time.process_time() - began
    counts = count_pieces(
        open_rows(recipe, [prepared.train], f"{run}/checkpoints"), recipe.tokenizer.vocabulary_size
    )
    served = Served(model, load_tokenizer(prepared.tokenizer), recipe)
    found = evaluate(served, counts, held_out_rows(prepared.eval, HELD_OUT_ROWS))
    read = round(recipe.training.steps * recipe.training.batch_size * prepared.tokens_per_row)
    told = {"steps": recipe.training.steps, "tokens": read, "processor_seconds": round(spent), **found}
    pathlib.Path(run, LEARNT).write_text(json.dumps(told))
    save_model(model, recipe, prepared.tokenizer, place)
