"""The key reference describes every key of every recipe type."""

import importlib
import pkgutil
import re

import pytest

import firth.recipes
from firth.recipes import AdafactorConfig, AdamWConfig, AdaptingRecipe, LambConfig, Recipe
from firth.recipes.base.recipe_type import Config
from firth.recipes.base.types import descriptions, kinds_of
from firth.recipes.reading.schema import recipe_schema
from scripts.docs.api_pages import api_pages
from scripts.docs.recipe_keys import FOLDER, RECIPES, recipe_pages, recipe_types
from tests.docs.snippets import REPOSITORY

PAGES = recipe_pages()
TYPES = {config.__name__: config for recipe in RECIPES.values() for config in recipe_types(recipe)}


def types_below(config):
    for below in config.__subclasses__():
        yield below
        yield from types_below(below)


def all_types():
    """All recipe types, also those of tasks, of methods and of requests, and their bases."""
    for module in pkgutil.walk_packages(firth.recipes.__path__, "firth.recipes."):
        importlib.import_module(module.name)
    return [each for each in types_below(Config) if each.__module__.startswith("firth.")]


@pytest.mark.parametrize("config", all_types(), ids=lambda config: config.__name__)
def test_a_docstring_under_each_field_describes_its_key(config):
    # The heading names a type's only kind.
    keys = {key for key in config.model_fields if not (key == "kind" and len(kinds_of(config)) < 2)}
    assert {key for key in keys if not descriptions(config).get(key)} == set()
    assert "Attributes:" not in (config.__doc__ or "")


def test_a_description_is_that_of_the_nearest_type_and_reaches_the_schema():
    described = {each: descriptions(each) for each in (AdamWConfig, LambConfig, AdafactorConfig)}
    assert described[LambConfig] == described[AdamWConfig]
    rate, warmup = "learning_rate", "warmup_steps"
    assert described[AdafactorConfig][warmup] == described[AdamWConfig][warmup]
    assert described[AdafactorConfig][rate] != described[AdamWConfig][rate]
    # A new default alone leaves the description as it is.
    assert described[AdafactorConfig]["schedule"] == described[AdamWConfig]["schedule"]
    schema = recipe_schema()
    for part, config in ((schema, Recipe), (schema["$defs"]["AdafactorConfig"], AdafactorConfig)):
        for key, text in descriptions(config).items():
            assert part["properties"][key]["description"] == text


@pytest.mark.parametrize("name", [name for name, each in TYPES.items() if each not in RECIPES.values()])
def test_each_type_has_a_section_with_all_its_keys(name):
    (section,) = [
        section
        for page in PAGES.values()
        for section in page.split("\n## ")
        if section.split("\n")[0].endswith(f"{{: #{name.lower()} }}")
    ]
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \| (.+) \|$", section, flags=re.MULTILINE)
    assert {key for key, *_ in rows} >= set(TYPES[name].model_fields) - {"kind"}
    assert all(cell.strip() for row in rows for cell in row)
    for kind in kinds_of(TYPES[name]):
        assert f"`{kind}`" in section or f"kind: {kind}" in section


def test_each_key_of_the_recipe_leads_to_its_page():
    index = PAGES[f"{FOLDER}/index.md"]
    linked = set(re.findall(r"\]\((\w+)\.md\)", index))
    assert {f"{FOLDER}/{page}.md" for page in linked} == set(PAGES) - {f"{FOLDER}/index.md"}
    for section, recipe in zip(index.split("\n## ")[1:], RECIPES.values(), strict=True):
        assert set(re.findall(r"^\| \[?`(\w+)`", section, flags=re.MULTILINE)) == set(recipe.model_fields)


@pytest.mark.parametrize("pages", [PAGES, api_pages()])
def test_the_navigation_has_every_page_that_is_made(pages):
    (folder,) = {path.rpartition("/")[0] for path in pages}
    navigation = (REPOSITORY / "mkdocs.yml").read_text()
    assert set(re.findall(rf"{folder}/\w+\.md", navigation)) == set(pages)


def test_a_key_that_only_adapting_recipes_have_says_so():
    only = set(AdaptingRecipe.model_fields) - set(Recipe.model_fields)
    for path, text in PAGES.items():
        page = path.rpartition("/")[2].removesuffix(".md")
        assert ("Recipes that adapt a model have this key" in text) == (page in only)


def test_what_a_recipe_file_leaves_out_is_not_called_required():
    index = PAGES[f"{FOLDER}/index.md"].split("\n## ")[2]
    required = re.findall(r"^\| \[?`(\w+)`.*\| \*\*required\*\* \|", index, flags=re.MULTILINE)
    assert set(required) == {"data", "base", "task"}
    assert (
        "| `digest` | text, matching `^[0-9a-f]{64}$` | follows from `bundle` |" in PAGES[f"{FOLDER}/base.md"]
    )
    task = PAGES[f"{FOLDER}/task.md"]
    rows = re.findall(r"^\| `form` \|.*", task, flags=re.MULTILINE)
    assert rows and all("| follows from the recipe's `base` |" in row for row in rows)
    assert "| `scores` | list of text | follows from the other keys |" in task


def test_types_bounds_choices_and_defaults_are_those_of_the_recipe_types():
    training = PAGES[f"{FOLDER}/training.md"]
    assert "| `batch_size` | integer, at least 1, at most 16,777,216 | `256` | Rows of a step" in training
    assert "| `precision` | `float32` or `mixed_bfloat16` | `float32` |" in training
    assert "| `earlier_stages` | list of [mapping](training.md#stage) | `[]` |" in training
    assert "[`lamb`](training.md#lambconfig)" in training
    assert "| `learning_rate` | number, above 0, at most 1,000 | `0.2` |" in training
    assert "| `paths` | list of text, at least 1 of them | **required** |" in PAGES[f"{FOLDER}/sources.md"]


def test_no_text_points_to_another_type_instead_of_saying_what_a_key_does():
    assert [line for page in PAGES.values() for line in page.splitlines() if "| As in `" in line] == []
