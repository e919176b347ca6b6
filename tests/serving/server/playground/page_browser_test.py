"""The page of the playground in a browser, asked by keys."""

import pytest

from scripts.docs.browser import browser_path
from tests.serving.server.openai.served import cold_encoder
from tests.serving.server.playground.conftest import set_scheme
from tests.serving.server.playground.served import MARKUP, address, repeating

pytestmark = pytest.mark.skipif(browser_path() is None, reason="there is no Chromium")
# All that is shown fits a narrow page, and a wide one too.
WIDTHS = (pytest.param(1200, marks=pytest.mark.repeated), 400)
SHOWN = "document.querySelectorAll('section').length > 0"


@pytest.fixture(scope="module")
def served(made_once):
    with address({"demo": cold_encoder(made_once)}) as found:
        yield found


@pytest.fixture(params=WIDTHS)
def page(browser, served, request):
    """The page of the model at both widths."""
    browser.resize(request.param, 900)
    browser.open(f"{served}?width={request.param}", SHOWN)
    yield browser
    assert not browser.messages
    assert browser.value("document.documentElement.scrollWidth") <= request.param


def ask(page, name: str) -> str:
    """Sends the form of a part by keys, and returns the text of its result."""
    page.press("Enter", modifier="control")
    part = f"document.querySelector('#{name}')"
    result = f"{part}.querySelector('.result').textContent"
    page.wait(f"!{part}.hasAttribute('aria-busy') && {result}")
    return page.value(result)


def test_parts_are_those_of_the_model(page):
    assert page.value("[...document.querySelectorAll('section')].map((each) => each.id)") == [
        "fill_mask",
        "embed",
        "embed_tokens",
    ]
    assert page.value("document.querySelectorAll('nav a').length") == 3


def test_mask_is_filled_by_keys(page):
    page.tab_to("#fill_mask textarea")
    page.write("the cat on the ")
    page.tab_to("#fill_mask button[type=button]")
    page.press("Space")
    assert page.value("document.activeElement.value") == "the cat on the [MASK]"
    ask(page, "fill_mask")
    rows = page.value(
        "[...document.querySelectorAll('#fill_mask tbody tr')].map((row) => row.innerText.split('\\t'))"
    )
    scores = [float(score) for _, score in rows]
    assert len(rows) == 3 and scores == sorted(scores, reverse=True) and 0 < scores[0] < 1
    page.write("no mask")
    assert "[MASK]" in ask(page, "fill_mask")
    assert page.value("document.querySelector('#fill_mask [role=alert]').textContent")
    assert "400" in page.messages.pop()
    assert page.value("document.querySelectorAll('#fill_mask tbody tr').length") == 0


def test_word_is_compared_in_two_contexts(page):
    page.tab_to("#embed_tokens [name=word]")
    page.write("cats")
    for text in ("The cats sat on the mat.", "a word by the cats"):
        page.tab_to("#embed_tokens textarea")
        page.write(text)
    ask(page, "embed_tokens")
    chosen = "[...document.querySelectorAll('#embed_tokens .chosen')].map((each) => each.textContent)"
    assert page.value(chosen) == ["cat", "##s", "cat", "##s"]
    assert "cats in context 1 and in context 2: 0." in page.value("document.body.innerText").replace(
        "-0", "0"
    )
    assert page.value("document.querySelectorAll('#embed_tokens table').length") == 2
    page.value("document.querySelector('#embed_tokens [name=word]').focus()")
    page.write("dog")
    assert 'Context 1 has no pieces that make "dog"' in ask(page, "embed_tokens")


def test_every_control_has_a_name_and_shows_its_focus(page):
    nameless = (
        "[...document.querySelectorAll('input, textarea, select, button')].filter((each) => "
        "!(each.labels?.length || each.textContent.trim())).length"
    )
    assert page.value(nameless) == 0
    page.press("Tab")
    assert page.value("document.activeElement.className") == "skip"
    seen = []
    while not seen or seen[-1] is not None:
        page.press("Tab")
        seen.append(page.value(PLACE))
    places = [each for each in seen[:-1] if each != "none"]
    assert len(places) == len(seen) - 1 and len(places) > 10
    assert places == sorted(places)


# Place in the document of what has the focus; none if the focus is not seen; null at the end.
PLACE = """(() => {
  const at = document.activeElement;
  if (at === document.body) return null;
  if (getComputedStyle(at).outlineStyle === "none") return "none";
  return [...document.querySelectorAll("*")].indexOf(at);
})()"""


def test_what_a_model_writes_is_text(browser, made_once, monkeypatch):
    with address({"repeat": repeating(made_once, monkeypatch)}) as found:
        browser.open(found, SHOWN)
        browser.tab_to("#repeat textarea")
        browser.write(MARKUP)
        assert ask(browser, "repeat").count(MARKUP) == 3
        assert browser.value("document.querySelectorAll('main img, main b').length") == 0
        assert browser.value("document.title").startswith("repeat")
    assert not browser.messages


@pytest.mark.parametrize("is_dark", [False, True])
def test_texts_are_readable_in_both_schemes(browser, served, is_dark):
    set_scheme(browser, is_dark)
    browser.open(f"{served}?dark={is_dark}", SHOWN)
    assert browser.value(LEAST_CONTRAST) >= 4.5


# The least contrast of a text with the colour under it, as WCAG 2.2, 1.4.3, computes it.
LEAST_CONTRAST = """(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = parts(colour).map((each) => each / 255)
      .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const under = (each) => {
    const colour = getComputedStyle(each).backgroundColor;
    return parts(colour)[3] === 0 && each.parentElement ? under(each.parentElement) : colour;
  };
  const texts = [...document.querySelectorAll("h1, h2, p, a, label, button, input, textarea, select")];
  return Math.min(...texts.map((each) => {
    const [one, other] = [getComputedStyle(each).color, under(each)].map(light).sort((a, b) => b - a);
    return (one + 0.05) / (other + 0.05);
  }));
})()"""
