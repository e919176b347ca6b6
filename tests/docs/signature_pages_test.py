"""The reference of signatures is what they describe."""

import re

import pytest

from firth.serving.continuation import PARAMETERS
from firth.serving.signature import OTHER_SIGNATURES
from firth.serving.signatures import SIGNATURES, text_signatures
from firth.serving.slots.signatures import slot_descriptions
from scripts.docs.signature_pages import signatures_page
from tests.exported_model import RECIPE


@pytest.fixture(scope="module")
def sections() -> dict[str, str]:
    parts = re.split(r"^## `(\w+)`$", signatures_page(), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2]))


def test_every_signature_has_a_section_with_an_owner_and_all_its_tensors_explained(sections):
    slots = slot_descriptions("slots", "words", "likeliest")
    assert list(sections) == [*SIGNATURES, *OTHER_SIGNATURES, "score_tokens", *slots]
    assert "| `active` | input | bool [slots] |" in sections["step"]
    for name in SIGNATURES:
        assert re.search(r"^\| (objective|task) `", sections[name], re.MULTILINE), name
        rows = re.findall(
            r"^\| (`\w+`) \| (input|parameter|output) \| (.*) \| (.*) \|$", sections[name], re.M
        )
        assert {part for _, part, _, _ in rows} >= {"input", "output"}
        assert all(meaning for *_, meaning in rows), name


def test_rows_are_what_the_signatures_say(sections):
    outputs = text_signatures(RECIPE)["fill_mask"].outputs
    for name, each in outputs.items():
        row = f"| `{name}` | output | {each.dtype} [{', '.join(each.shape)}] | {each.meaning} |"
        assert row in sections["fill_mask"]
    assert "objective `masked_lm`" in sections["fill_mask"] and "causal_lm" not in sections["fill_mask"]
    for name in PARAMETERS:
        assert f"| `{name}` | parameter | " in sections["generate"]
    assert "above 0 and at most 1; default 1 |" in sections["generate"]
    assert "| task `text_tasks` | `text`, `task` |" in sections["generate"]
    assert "| task `choice` | `text`, `question`, `choices` |" in sections["choose"]
    assert "| `choices` | input | string [batch, choices] |" in sections["choose"]
    assert "| task `tagging` | `words` |" in sections["tag_words"]
    assert "| task `tagging` | `text` |" in sections["tag"]
