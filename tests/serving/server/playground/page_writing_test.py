"""The part of the page in which a model with slots writes, in a browser."""

import json

import pytest

from firth.serving import SlotPrompt
from scripts.docs.browser import browser_path
from tests.serving.server.playground.conftest import reset
from tests.serving.server.playground.served import address
from tests.serving.slots.models import batcher_of, exported_without_warmup

pytestmark = pytest.mark.skipif(browser_path() is None, reason="there is no Chromium")
PART = "document.querySelector('#generate')"
PROMPT = "the cat"


@pytest.fixture(scope="module")
def page(chromium, made_once):
    with address({"writer": exported_without_warmup(made_once)}) as found:
        reset(chromium)
        chromium.open(found, f"{PART} !== null")
        # On a narrow screen the parameters are closed.
        chromium.tab_to("#generate summary")
        chromium.press("Enter")
        yield chromium
        assert not chromium.messages


def written(page) -> str:
    page.press("Enter", modifier="control")
    page.wait(f"!{PART}.hasAttribute('aria-busy') && {PART}.querySelector('.result').textContent")
    assert page.value(f"{PART}.querySelector('.problem').textContent") == ""
    return page.value(f"{PART}.querySelector('.written').textContent")


def set_knob(page, name: str, value: float) -> None:
    page.value(f"{PART}.querySelector('[name={name}]').focus()")
    page.write(json.dumps(value))


def test_knobs_have_the_defaults_and_ranges_of_the_model(page, made_once):
    for name, each in batcher_of(made_once).described["parameters"].items():
        knob = f"{PART}.querySelector('[name={name}]')"
        assert page.value(f"{knob}.valueAsNumber") == each["default"]
        set_knob(page, name, each["least"] - 1)
        assert not page.value(f"{knob}.checkValidity()"), name
        set_knob(page, name, each["least"])
        assert page.value(f"{knob}.checkValidity()") is not each["is_above"], name
        set_knob(page, name, each["default"])


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param({"max_new_tokens": 4}, marks=pytest.mark.repeated),
        {"temperature": 0.9, "seed": 3, "max_new_tokens": 5},
        {"temperature": 0, "min_new_tokens": 5, "max_new_tokens": 6},
    ],
)
def test_text_is_that_of_the_slots(page, made_once, parameters):
    for name, value in parameters.items():
        set_knob(page, name, value)
    page.tab_to("#generate [name=prompt]")
    page.write(PROMPT)
    found = written(page)
    (expected,) = batcher_of(made_once).write([SlotPrompt(PROMPT, parameters)])
    assert found == PROMPT + expected.text
    status = page.value(f"{PART}.querySelector('[role=status]').textContent")
    assert status.startswith(f"{len(expected.log_probabilities)} tokens in ")


def test_a_schema_holds_the_text(page):
    for name, text in (("prompt", PROMPT), ("schema", "{")):
        page.value(f"{PART}.querySelector('[name={name}]').focus()")
        page.write(text)
    assert page.value(f"{PART}.querySelector('[name=schema]').validationMessage").startswith("The schema is")
    page.write('{"type": "object"}')
    page.press("Enter", modifier="control")
    page.wait(f"!{PART}.hasAttribute('aria-busy') && {PART}.querySelector('.problem').textContent")
    # No text of this vocabulary is JSON, which the server says of the schema that it was sent.
    problem = page.value(f"{PART}.querySelector('.problem').textContent")
    assert problem.startswith("response_format.json_schema.schema")
    assert "400" in page.messages.pop()
    page.value(f"{PART}.querySelector('[name=schema]').value = ''")
