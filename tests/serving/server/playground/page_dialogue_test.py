"""The part of the page in which a model that learned dialogues replies, in a browser."""

import pytest

from firth.serving.server.app import make_app
from firth.serving.server.openai import routes as api
from firth.serving.server.playground import page
from firth.serving.server.settings import ServerSettings
from scripts.docs.browser import browser_path
from tests.generation.cases import eagerly
from tests.serving.server.openai.talking import talking
from tests.serving.server.playground.served import address_of

pytestmark = pytest.mark.skipif(browser_path() is None, reason="there is no Chromium")
PART = "document.querySelector('#reply')"
MESSAGES = "[...document.querySelectorAll('#reply .written')].map((each) => each.textContent)"


def test_replies_are_those_of_the_model(browser):
    generator, models = talking()
    app = make_app(models, ServerSettings(), rooms=(api.routes, page.routes))
    said = []
    with address_of(app) as found:
        browser.open(found, f"{PART} !== null")
        browser.tab_to("#reply summary")
        browser.press("Enter")
        for name, value in (("max_new_tokens", "3"), ("temperature", "0")):
            browser.value(f"{PART}.querySelector('[name={name}]').focus()")
            browser.write(value)
        for message in ("a", "b"):
            browser.value(f"{PART}.querySelector('[name=message]').focus()")
            browser.write(message)
            browser.press("Enter", modifier="control")
            browser.wait(f"{PART}.querySelector('[name=message]').value === ''")
            assert browser.value(f"{PART}.querySelector('.problem').textContent") == ""
            said.append({"role": "user", "content": message})
            with eagerly():
                reply = generator.reply(said, max_new_tokens=3).text
            said.append({"role": "assistant", "content": reply})
            assert browser.value(MESSAGES) == [each["content"] for each in said]
        buttons = f"[...{PART}.querySelectorAll('button')]"
        browser.value(f"{buttons}.find((each) => each.textContent === 'New dialogue').click()")
        assert browser.value(MESSAGES) == []
        assert not browser.messages
