"""One browser for all pages: a start takes longer than most tests."""

import pytest

from scripts.docs.browser import Browser


@pytest.fixture(scope="session")
def chromium():
    with Browser(400) as found:
        yield found


@pytest.fixture
def browser(chromium):
    """The browser, as each test finds it."""
    reset(chromium)
    return chromium


def reset(browser: Browser) -> None:
    """Makes the page narrow and light, and forgets the messages of other tests."""
    browser.messages.clear()
    browser.resize(400, 900)
    set_scheme(browser, is_dark=False)


def set_scheme(browser: Browser, is_dark: bool) -> None:
    scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
    browser.call("Emulation.setEmulatedMedia", features=[scheme])
