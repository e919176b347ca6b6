"""The gallery has every preset, with the numbers that the command and the figures have."""

import functools
import re

from firth.cli.costs import count_text
from firth.recipes import load_recipe, preset_names
from firth.recipes.counting import memory_bytes, parameter_counts
from firth.reports.quantities import bytes_text
from scripts.docs.preset_pages import gains_picture, learned_figures, presets_page

page = functools.cache(presets_page)


def rows():
    found = re.findall(r"^\| `(\w+)` " + r"\| ([^|]+) " * 7 + r"\|$", page(), re.MULTILINE)
    return {row[0]: row[1:] for row in found}


def test_every_preset_has_a_row_with_its_counts():
    assert list(rows()) == list(preset_names())
    for name, (parameters, _, _, _, memory, *_) in rows().items():
        recipe = load_recipe(name)
        counted = (count_text(parameter_counts(recipe)["total"]), bytes_text(memory_bytes(recipe)["total"]))
        assert (parameters, memory) == counted


def test_weights_come_from_folders_of_the_architecture():
    sources = {name: row[5] for name, row in rows().items()}
    assert sources["roberta_base"] == "`hf` (`roberta`), `keras` (`RobertaBackbone`)"
    assert sources["elmo_original"] == "`elmo`"
    # No other library computes these.
    assert sources["modernbert_base"] == sources["prefix_lm_tiny"] == "–"


def test_what_was_measured_is_that_of_the_figures():
    learned = learned_figures()
    assert learned and set(learned) <= set(preset_names())
    for name, row in learned.items():
        assert f"| `{name}` | {row['tokens/s']} | {row['bits/byte']} | {row['unigram']} |" in page()
    picture = gains_picture(
        {"a": {"bits/byte": "**2.2**", "unigram": "2.0"}, "b": {"bits/byte": "–", "unigram": "–"}}
    )
    assert "-10.0%" in picture and picture.count("<rect") == 1 and 'width="0.0"' in picture
