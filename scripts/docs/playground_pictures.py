"""Pictures of the playground of a run, wide and narrow, for docs/how-to/playground.md."""

import pathlib
import re
import signal
import subprocess
import sys

from scripts.docs.browser import Browser, browser_path

PAGE = pathlib.Path(__file__).parents[2] / "docs/how-to/playground.md"
# Widths of the window in pixels.
WIDTHS = (1200, 400)
_LINK = re.compile(r"^!\[[^\]\n]+\]\(\.\./runs/(playground_\d+)\.png\)\n\n?", re.MULTILINE)
_ASKED = ("fill_mask", "attention")


def take_playground_pictures(place: pathlib.Path, run: str, folder: pathlib.Path) -> list[pathlib.Path]:
    """Asks the model of a run on the page, and returns the pictures of it; none without a browser.

    Args:
        place: Folder of the command, with the runs.
        run: Name of the run, whose model fills masks and gives attention.
        folder: Folder of the pictures.
    """
    if browser_path() is None:
        return []
    command = [sys.executable, "-W", "ignore", "-m", "firth", "playground", run]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(command, cwd=place, **pipes) as process, Browser() as browser:
        try:
            address = process.stdout.readline().strip()
            return [_picture(browser, address, width, folder) for width in WIDTHS]
        finally:
            process.send_signal(signal.SIGINT)


def _picture(browser: Browser, address: str, width: int, folder: pathlib.Path) -> pathlib.Path:
    browser.resize(width, 900)
    # Another address than before, so that the page is read anew.
    browser.open(f"{address}?width={width}", "document.querySelector('section') !== null")
    for name in _ASKED:
        part = f"document.querySelector('#{name}')"
        browser.tab_to(f"#{name} textarea")
        browser.press("Enter", modifier="control")
        browser.wait(f"!{part}.hasAttribute('aria-busy') && {part}.querySelector('.result').textContent")
    picture = folder / f"playground_{width}.png"
    browser.take_picture(picture, "body")
    return picture


def with_playground_pictures(text: str, folder: pathlib.Path) -> str:
    """Returns a page without the pictures that were not taken.

    Args:
        text: Markdown of the page.
        folder: Folder of the pictures.
    """
    return _LINK.sub(lambda found: found[0] if (folder / f"{found[1]}.png").exists() else "", text)
