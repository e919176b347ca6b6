"""Runs the commands of docs/how-to/look-at-runs.md, and keeps the pages that they write, with pictures.

    python -m scripts.docs.run_pages build/docs/runs

It needs the environment of firth. Pages are kept until the text or the sources change. Pictures need a
Chromium; without one the site shows the page itself in a frame.
"""

import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

from scripts.docs.browser import browser_path
from scripts.docs.digest import digest_of, is_current
from scripts.docs.playground_pictures import take_playground_pictures

REPOSITORY = pathlib.Path(__file__).parents[2]
PAGE = REPOSITORY / "docs/how-to/look-at-runs.md"
RECIPE = "my_recipe.yaml"
# Pages by their names on the site, each where the commands write it.
MADE = {
    "report.html": "firth-runs/first/report.html",
    "corpus_report.html": "firth-runs/first/corpus_report.html",
    "comparison.html": "firth-runs/compare_first_second.html",
}
# The run whose playground is shown.
PLAYED = "first"
_LINK = re.compile(r"^\[([^\]\n]+)\]\(\.\./runs/([\w-]+)\.html\)$", re.MULTILINE)


def commands_of(text: str) -> list[list[str]]:
    r"""Returns the arguments of the `firth` commands of a page, in their order.

    Example:

    >>> commands_of("```sh\nfirth run a.yaml --name b   # trains\nls\n```\n")
    [['run', 'a.yaml', '--name', 'b']]
    """
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]
    return [line[1:] for line in lines if line[:1] == ["firth"]]


def recipe_of(text: str) -> str:
    """Returns the first YAML block of a page."""
    found = re.search(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError("the page has no recipe")
    return found[1]


def with_pictures(text: str, folder: pathlib.Path) -> str:
    """Returns a page with a picture, or a frame, below each link that is a paragraph of its own.

    Args:
        text: Markdown of the page.
        folder: Folder of the kept pages and pictures.
    """

    def shown(found: re.Match[str]) -> str:
        link, title, name = found[0], found[1], found[2]
        if (folder / f"{name}.png").exists():
            picture = f"[![{title}](../runs/{name}.png)](../runs/{name}.html)"
        else:
            picture = f'<iframe src="../runs/{name}.html" title="{title}" loading="lazy"></iframe>'
        return f'{link}\n\n<div class="run" markdown>\n{picture}\n</div>'

    return _LINK.sub(shown, text)


def take_picture(page: pathlib.Path) -> pathlib.Path | None:
    """Writes a picture of a page next to it; returns its path, None if no browser took it."""
    browser = browser_path()
    picture = page.with_suffix(".png")
    picture.unlink(missing_ok=True)
    if browser is None:
        return None
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1000,1100"]
    command = [browser, *options, f"--screenshot={picture}", page.as_uri()]
    try:
        subprocess.run(command, check=False, capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"{page.name} has no picture: {error}")
    return picture if picture.exists() else None


def make_pages(text: str, folder: pathlib.Path) -> None:
    """Runs the commands of a page in a temporary folder, and keeps the pages that they write.

    Raises:
        RuntimeError: with the output of a command that fails.
    """
    with tempfile.TemporaryDirectory() as place:
        (pathlib.Path(place) / RECIPE).write_text(recipe_of(text), encoding="utf-8")
        for arguments in commands_of(text):
            command = [sys.executable, "-W", "ignore", "-m", "firth", *arguments]
            done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"firth {shlex.join(arguments)}: {done.stdout}{done.stderr}")
        for name, made in MADE.items():
            shutil.copyfile(pathlib.Path(place) / made, folder / name)
        take_playground_pictures(pathlib.Path(place), PLAYED, folder)


def main() -> None:
    """Writes pages and pictures to the folder that the command names."""
    folder = pathlib.Path(sys.argv[1]).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    text = PAGE.read_text(encoding="utf-8")
    commands = f"{recipe_of(text)}{commands_of(text)}"
    kept = folder / "runs.digest"
    if not is_current(kept, commands, pathlib.Path(__file__)):
        start = time.monotonic()
        make_pages(text, folder)
        kept.write_text(digest_of(commands, pathlib.Path(__file__)))
        print(f"docs/how-to/{PAGE.name} ran in {time.monotonic() - start:.0f} s")
    for name in MADE:
        if not (folder / name).with_suffix(".png").exists():
            take_picture(folder / name)


if __name__ == "__main__":
    main()
