"""The part of the page that shows a head's attention, in a browser."""

import functools

import pytest

from firth.serving import Client
from firth.serving.saved_model import export
from firth.serving.served_model import Served
from firth.serving.signatures import text_signatures
from scripts.docs.browser import browser_path
from tests.exported_model import RECIPE, exported_model
from tests.serving.server.playground.served import address

pytestmark = pytest.mark.skipif(browser_path() is None, reason="there is no Chromium")
PART = "document.querySelector('#attention')"
CELLS = (
    f"[...{PART}.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((each) => each.textContent))"
)
FOCUSED = "document.activeElement.textContent"
TEXT = "the cats sat"


@pytest.fixture(scope="module")
def directory(made_once) -> str:
    """The folder of the tiny model with this signature alone."""
    asked = RECIPE.export.model_copy(update={"attention": True})
    recipe = RECIPE.model_copy(update={"export": asked})
    served = Served(exported_model().served.model, exported_model().served.tokenizer, recipe)
    alone = {"attention": text_signatures(recipe)["attention"]}

    def make(folder):
        with pytest.MonkeyPatch.context() as patch:
            for place in ("saved_model", "warmup"):
                patch.setattr(f"firth.serving.{place}.text_signatures", lambda *_: alone)
            export(served.model, served.tokenizer, recipe, None, str(folder))

    return str(made_once("model_with_attention", make))


@pytest.fixture(scope="module")
def served(directory):
    with address({"demo": directory}) as found:
        yield found


@functools.cache
def client_of(directory: str) -> Client:
    return Client(directory)


def shares_of(directory: str, head: int) -> list[list[str]]:
    (found,) = client_of(directory).ask("attention", [TEXT], parameters={"layer": 0, "head": head})
    return [[f"{each:.2f}" for each in row] for row in found["attention"]]


@pytest.mark.parametrize("width", [pytest.param(1200, marks=pytest.mark.repeated), 400])
def test_head_is_chosen_and_its_shares_are_read_by_keys(browser, served, directory, width):
    browser.resize(width, 900)
    browser.open(f"{served}?width={width}", f"{PART} !== null")
    browser.tab_to("#attention textarea")
    browser.write(TEXT)
    browser.press("Enter", modifier="control")
    browser.wait(f"{PART}.querySelectorAll('tbody tr').length")
    pieces = ["[CLS]", "the", "cat", "##s", "sat", "[SEP]"]
    rows = browser.value(CELLS)
    assert [row[0] for row in rows] == pieces
    assert [row[1:] for row in rows] == shares_of(directory, 0)
    heads = f"[...{PART}.querySelectorAll('thead th')].map((each) => each.textContent)"
    assert browser.value(heads) == pieces
    colour = f"getComputedStyle({PART}.querySelector('tbody td')).backgroundColor"
    first = browser.value(colour)
    browser.value(f"{PART}.querySelector('[name=head]').focus()")
    browser.press("ArrowDown")
    browser.wait(f"{PART}.querySelector('caption')?.textContent.includes('head 1')")
    assert [row[1:] for row in browser.value(CELLS)] == shares_of(directory, 1)
    assert browser.value(colour) != first
    browser.tab_to("#attention td")
    browser.press("ArrowRight", times=2)
    browser.press("ArrowDown", times=9)
    assert browser.value(FOCUSED) == shares_of(directory, 1)[5][2]
    assert browser.value(f"{PART}.querySelector('.lines').textContent").startswith("[SEP] reads cat: 0.")
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert not browser.messages
