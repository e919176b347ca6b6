"""Every family of the lectures has its presets, and a twin that two cores train."""

import pathlib
import re

import pytest

import firth.recipes
from firth.recipes import load_recipe, preset_names
from firth.recipes.base.yaml_text import read_yaml
from firth.recipes.counting import parameter_counts
from firth.recipes.reading.families import (
    FAMILIES,
    family_of,
    family_of_preset,
    in_order,
    read_shared,
    read_size,
    suggest_preset,
)
from firth.recipes.reading.loading import load_with_places
from tests.repeating import often

PRESETS = pathlib.Path(firth.recipes.__file__).parent / "presets"

# Families whose presets are sizes or settings of another's, with the twin that they share.
TWINS = {
    "demo": "demo",
    "bert": "demo",
    "llama_1": "llama_tiny",
    "llama_2": "llama_tiny",
    "llama_3_1": "llama_tiny",
    "llama_3_2": "llama_tiny",
    "t5_ssm": "t5_tiny",
    "t5_1_1_ssm": "t5_1_1_tiny",
    "t5_ablation": "t5_tiny",
}


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_has_a_twin_of_its_own_kind(family):
    twin = load_recipe(TWINS.get(family, f"{family}_tiny"))
    kinds = {load_recipe(name).model.kind for name in preset_names() if family_of(name) == family}
    assert parameter_counts(twin)["total"] < 5_000_000
    assert twin.training.steps <= 1_200
    if family != "t5_ablation":
        assert kinds == {twin.model.kind}


def test_every_preset_belongs_to_a_family_and_is_in_its_file():
    assert {family_of(name) for name in preset_names()} == set(FAMILIES)
    assert {name: family_of_preset(name) for name in preset_names()} == {
        name: family_of(name) for name in preset_names()
    }


def test_sizes_ascend_within_a_family():
    for family in set(FAMILIES) - {"t5_ablation"}:
        totals = [
            parameter_counts(load_recipe(name))["total"]
            for name in preset_names()
            if family_of(name) == family
        ]
        if family != "deberta_v3":
            assert totals == sorted(totals), family


@pytest.mark.parametrize("names", [
    ("gpt3_xl", "gpt3_2_7b", "gpt3_13b", "gpt3_175b"),
    ("t5_small", "t5_3b", "t5_11b", "t5_1_1_small"),
    ("elmo_small", "bert_base", "bart_base", "mine"),
])  # fmt: skip
def test_order(names):
    assert in_order(sorted(names)) == names


@pytest.mark.parametrize("given, advice", [
    ("bert_minni", "did you mean bert_mini?"),
    ("t5-base", "did you mean t5_base?"),
    ("xlnet", "did you mean one of: xlnet_tiny, xlnet_base, xlnet_large?"),
    ("berd", "did you mean one of: bert_tiny, bert_mini, bert_small, bert_medium, bert_base, bert_large?"),
    ("word2vec", "`firth recipes` lists them"),
])  # fmt: skip
def test_suggestions(given, advice):
    assert suggest_preset(given, preset_names()) == advice


@pytest.mark.parametrize("family", often(FAMILIES, ("bert", "demo", "llama_3_1", "t5_ablation", "xlnet")))
def test_a_familys_file_is_read_in_parts_as_a_whole(family):
    """Sizes are found by their lines: all keys of `sizes`, each with the places of the whole file."""
    text = (PRESETS / f"{family}.yaml").read_text(encoding="utf-8")
    whole, shared = read_yaml(text, f"presets/{family}.yaml"), read_shared(family)
    names = {family if size == family else f"{family}_{size}": size for size in whole.data["sizes"]}
    assert tuple(names) == tuple(name for name in preset_names() if family_of_preset(name) == family)
    assert {
        **shared.data,
        "sizes": {size: read_size(name).data for name, size in names.items()},
    } == whole.data
    places = {("sizes",): whole.places["sizes",], **shared.places}
    for name, size in names.items():
        places |= {("sizes", size, *path): place for path, place in read_size(name).places.items()}
    assert places == whole.places


@pytest.mark.parametrize(
    "key, text", [(("model", "width"), "width: 1024"), (("objective", "kind"), "kind: masked_lm")]
)
def test_the_place_of_a_value_of_a_preset(key, text):
    file, line, column = load_with_places("bert_large")[1].origin(key).place.split(":")
    assert file == "presets/bert.yaml"
    lines = (PRESETS.parent / file).read_text(encoding="utf-8").splitlines()
    assert lines[int(line) - 1][int(column) - 1 :].startswith(text)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_familys_file_says_where_it_comes_from_and_stays_short(family):
    lines = (PRESETS / f"{family}.yaml").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    assert len(lines) <= 90 and max(map(len, lines)) <= 110
    # The file's first lines name the source of the size without a comment.
    sizes = [
        index for index, line in enumerate(lines) if re.match(r"  \w", line) and index > lines.index("sizes:")
    ]
    assert sum(not lines[index - 1].startswith("  # ") for index in sizes) <= 1


@pytest.mark.parametrize("name", preset_names())
def test_a_description_is_short(name):
    assert len(load_recipe(name).description) <= 60
