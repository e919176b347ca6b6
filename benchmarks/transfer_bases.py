"""Small models of several families, pre-trained on the same text, and the same models untrained."""

import pathlib

from benchmarks.learning import make_recipe
from benchmarks.learning_corpus import Corpus
from firth.models import build_model, save_model
from firth.recipes import load_recipe
from firth.recipes.run.recipe import Recipe
from firth.training.pretraining import train

FAMILIES = {
    "BERT": "bert_tiny",
    "ELMo": "elmo_tiny",
    "GPT": "gpt_1_tiny",
    "ELECTRA": "electra_tiny",
    "T5": "t5_tiny",
}
PRETRAINED, UNTRAINED = "pre-trained", "from scratch"


def make_bases(family: str, corpus: Corpus, folder: pathlib.Path, tokens: int) -> dict[str, str]:
    """Returns the bundles of a family's model, pre-trained on so many tokens, and untrained.

    A bundle that is there is not made again.
    """
    preset = FAMILIES[family]
    prepared = corpus.prepare(load_recipe(preset))
    per_step = load_recipe(preset).training.batch_size * prepared.tokens_per_row
    recipe = make_recipe(preset, max(round(tokens / per_step), 2))
    made = {PRETRAINED: folder / f"{preset}-{tokens}", UNTRAINED: folder / f"{preset}-untrained"}
    if not made[UNTRAINED].exists():
        save_model(build_model(recipe), recipe, prepared.tokenizer, made[UNTRAINED])
    if not made[PRETRAINED].exists():
        _pretrain(recipe, prepared, made[PRETRAINED])
    return {start: str(path) for start, path in made.items()}


def _pretrain(recipe: Recipe, prepared, bundle: pathlib.Path) -> None:
    run = f"{bundle}-run"
    model = train(recipe, [prepared.train], prepared.tokenizer, run, f"{run}/checkpoints")
    save_model(model, recipe, prepared.tokenizer, bundle)
