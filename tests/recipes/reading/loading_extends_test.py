"""Recipes that start from files of one's own, and the files that they name."""

import re

import pytest

from firth.corpus.io.source_files import match_files
from firth.recipes import RecipeError, load_recipe
from firth.recipes.reading.loading import load_with_places
from firth.recipes.reading.requirements import missing

SOURCE = "sources:\n  - {kind: text, paths: [data/*.txt]}\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Writes files below a folder, and runs from another one: `files({"a.yaml": "extends: demo"})`."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    def write(texts):
        for name, text in texts.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write


def problems_of(path, *options):
    with pytest.raises(RecipeError) as caught:
        load_recipe(path, options)
    return caught.value.problems


def test_a_chain_of_files_is_looked_up_from_each_files_folder(files):
    folder = files({
        "base.yaml": "extends: bert_tiny\ndescription: base\ntraining: {steps: 11, batch_size: 4}\n" + SOURCE,
        "more/middle.yaml": "extends: ../base.yaml\ntraining: {steps: 12}\nseed: 3\n",
        "top.yaml": "extends: more/middle.yaml\ntraining: {steps: 13}\n",
    })  # fmt: skip
    recipe = load_recipe(folder / "top.yaml")
    assert (recipe.name, recipe.description, recipe.seed) == ("top", "base", 3)
    assert (recipe.training.steps, recipe.training.batch_size) == (13, 4)
    assert recipe.model == load_recipe("bert_tiny").model


def test_a_problem_stands_where_the_chain_says_it(files):
    folder = files({
        "base.yaml": "extends: bert_tiny\ntraining:\n  stepz: 5\n  batch_size: 0\n",
        "top.yaml": "extends: base.yaml\ntraining:\n  batch_size: many\n",
    })  # fmt: skip
    assert sorted(problems_of(folder / "top.yaml")) == [
        f"{folder}/base.yaml:3:3: training.stepz: unknown key; did you mean steps?",
        f"{folder}/top.yaml:3:3: training.batch_size: must be a valid integer, not 'many'",
    ]


def test_what_a_list_replaces_is_no_longer_said(files):
    folder = files({
        "base.yaml": "extends: bert_tiny\nsources:\n  - kind: text\n    paths: [a]\n",
        "top.yaml": "extends: base.yaml\nsources:\n  - kind: text\n",
    })  # fmt: skip
    problem = "sources.0.paths: required, but not given"
    assert problems_of(folder / "top.yaml") == (f"{folder}/top.yaml:3:5: {problem}",)
    option = "sources=[{kind: text}]"
    assert problems_of(folder / "base.yaml", option) == (f"--set {option}: {problem}",)


@pytest.mark.parametrize("texts, chain", [
    ({"a.yaml": "extends: a.yaml"}, "a.yaml -> a.yaml"),
    ({"a.yaml": "extends: b/b.yaml", "b/b.yaml": "extends: ../c.yaml", "c.yaml": "extends: a.yaml"},
     "a.yaml -> b/b.yaml -> c.yaml -> a.yaml"),
    ({"a.yaml": "extends: c.yaml", "c.yaml": "extends: ./c.yaml"}, "c.yaml -> c.yaml"),
])  # fmt: skip
def test_a_circle_is_refused_with_its_files(files, texts, chain):
    (problem,) = problems_of(files(texts) / "a.yaml")
    assert problem.endswith(f"extends: {chain} goes in a circle")


@pytest.mark.parametrize("extends, problem", [
    ("bases.yaml", "extends: {}/bases.yaml: no such file; did you mean {}/base.yaml?"),
    ("[base.yaml]", "extends: must be a preset's name or a file's path, not ['base.yaml']"),
    ("base", "extends: no preset is named 'base'; "),
    ("latin.yaml", "extends: {}/latin.yaml: not UTF-8 at byte 1"),
])  # fmt: skip
def test_what_cannot_be_extended(files, extends, problem):
    folder = files({"base.yaml": SOURCE, "a.yaml": f"seed: 1\nextends: {extends}\n"})
    (folder / "latin.yaml").write_bytes(b"a\xe9")
    (found,) = problems_of(folder / "a.yaml")
    assert found.startswith(f"{folder}/a.yaml:2:1: {problem}".replace("{}", str(folder)))


def test_files_are_looked_up_from_the_recipe_and_then_from_the_working_directory(files):
    folder = files({"base/a.yaml": SOURCE, "b.yaml": "extends: base/a.yaml"})

    def paths(recipe, *options):
        return load_recipe(folder / recipe, options).sources[0].paths

    assert paths("b.yaml") == (f"{folder}/base/data/*.txt",)
    files({"elsewhere/data/1.txt": "one"})
    assert paths("b.yaml") == (f"{folder}/elsewhere/data/*.txt",)
    files({"base/data/2.txt": "two"})
    assert paths("b.yaml") == (f"{folder}/base/data/*.txt",)
    for said, full in (("data/x", f"{folder}/elsewhere/data/x"), ("/x", "/x"), ("gs://b/x", "gs://b/x")):
        assert paths("b.yaml", f"sources.0.paths=[{said}]") == (full,)


def test_benchmarks_lists_and_references_are_files_of_the_recipe_too(files):
    steps = (
        "cleaning: {steps: [{kind: decontaminate, benchmarks: [{kind: csv, name: e, paths: [e.csv], "
        "text_columns: [q]}, {kind: examples, name: x, uri: x}]}, "
        "{kind: bad_words, lists: [{path: bad.txt}]}]}\n"
    )
    folder = files({"a.yaml": SOURCE + steps, "data/1.txt": "one", "e.csv": "q"})
    recipe, places = load_with_places(folder / "a.yaml")
    assert recipe.cleaning.steps[0].benchmarks[0].paths == (f"{folder}/e.csv",)
    here = f"; the working directory is {folder}/elsewhere"
    first, second = missing(recipe, places)
    assert re.sub(r":\d+: ", ": ", first) == (
        f"{folder}/a.yaml:3: cleaning.steps.0.benchmarks.1.uri: there is no folder {folder}/x{here}"
    )
    assert re.sub(r":\d+: ", ": ", second) == (
        f"{folder}/a.yaml:3: cleaning.steps.1.lists.0.path: {folder}/bad.txt matches no file{here}"
    )


def test_brackets_in_the_name_of_a_folder_are_no_wildcards(files, monkeypatch):
    schema = "source_schema: schema.pbtxt\n"
    folder = files({"pro[1]/a.yaml": SOURCE + schema, "pro[1]/data/1.txt": "one", "pro[1]/schema.pbtxt": ""})
    folder = folder / "pro[1]"
    recipe, places = load_with_places(folder / "a.yaml")
    assert missing(recipe, places) == [] and recipe.source_schema == f"{folder}/schema.pbtxt"
    monkeypatch.chdir(folder)
    here, places = load_with_places("demo", ["sources=[{kind: text, paths: [data/*.txt]}]"])
    assert missing(here, places) == []
    assert [file.path for file in match_files("text", here.sources[0].paths)] == [f"{folder}/data/1.txt"]
    typo, places = load_with_places(folder / "a.yaml", ["sources.0.paths=[dat/*.txt]"])
    assert f"did you mean {folder}/data/*.txt?" in missing(typo, places)[0]


def test_a_recipe_with_full_paths_is_the_same_from_anywhere(files, monkeypatch):
    from firth.recipes import recipe_to_yaml

    folder = files({"a.yaml": SOURCE, "data/1.txt": "one"})
    recipe = load_recipe(folder / "a.yaml")
    files({"other/recipe.yaml": recipe_to_yaml(recipe)})
    monkeypatch.chdir("/")
    assert load_recipe(folder / "other" / "recipe.yaml") == recipe
