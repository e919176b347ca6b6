"""Hooks of MkDocs for the pages of the site that are made and not written."""

import pathlib
import re
import sys

REPOSITORY = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY))

from mkdocs.exceptions import PluginError  # noqa: E402
from mkdocs.structure.files import File, Files  # noqa: E402

from benchmarks import tables  # noqa: E402
from scripts.docs import playground_pictures  # noqa: E402
from scripts.docs.api_pages import api_pages, missing_names  # noqa: E402
from scripts.docs.import_drawing import imports_page  # noqa: E402
from scripts.docs.recipe_keys import recipe_pages  # noqa: E402
from scripts.docs.run_pages import PAGE, with_pictures  # noqa: E402

# `make docs` writes the tutorials here with their output, in firth's own environment.
TUTORIALS = REPOSITORY / "build/docs/tutorials"
# The pages of two runs, and where a browser was found their pictures.
RUNS = REPOSITORY / "build/docs/runs"
# Pages that are files of the repository, or that `make docs` writes with firth's own environment.
SHOWN = {
    "reference/signatures.md": "build/docs/signatures.md",
    "presets.md": "build/docs/presets.md",
    "speed.md": "benchmarks/README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
}


def on_files(files: Files, config) -> Files:
    """Adds the pages that are made of the sources, and those that are files of the repository."""
    drawn = {"reference/imports.md": imports_page((REPOSITORY / "BUILD").read_text())}
    texts = {page: (REPOSITORY / path).read_text(encoding="utf-8") for page, path in SHOWN.items()}
    texts["speed.md"] += "".join(f"\n{tables.markdown(name)}" for name in tables.names())
    shown = {page: text.replace("](docs/", "](") for page, text in texts.items()}
    for path, text in {**recipe_pages(), **api_pages(), **drawn, **shown}.items():
        files.append(File.generated(config, path, content=text))
    copied = [(TUTORIALS, ".svg", "tutorials"), (TUTORIALS, ".ipynb", "notebooks")]
    for place, ending, folder in [*copied, (RUNS, ".html", "runs"), (RUNS, ".png", "runs")]:
        for made in sorted(place.glob(f"*{ending}")):
            files.append(File.generated(config, f"{folder}/{made.name}", content=made.read_bytes()))
    return files


def on_page_read_source(page, config) -> str | None:
    """Reads the text of a tutorial with its output; None for other pages."""
    place = pathlib.PurePath(page.file.src_uri)
    return (TUTORIALS / place.name).read_text(encoding="utf-8") if place.parts[0] == "tutorials" else None


def on_page_markdown(markdown: str, page, config, files: Files) -> str | None:
    """Puts pictures of the made pages on the page that explains them; None for other pages."""
    changed = {
        PAGE: with_pictures,
        playground_pictures.PAGE: playground_pictures.with_playground_pictures,
    }
    change = changed.get(REPOSITORY / config.docs_dir / page.file.src_uri)
    return None if change is None else change(markdown, RUNS)


def on_post_page(output: str, page, config) -> str:
    """Refuses pages that would fetch something from elsewhere, and pages of the API that lack a name.

    The site is read without a network.

    Raises:
        PluginError: naming the page, and what it would fetch or lacks.
    """
    if missing := missing_names(page.file.src_uri, output):
        raise PluginError(
            f"{page.file.src_uri} does not show {', '.join(missing)}; are their docstrings there?"
        )
    fetched = re.findall(r'<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="(https?:[^"]+)"', output)
    if fetched:
        raise PluginError(f"{page.file.src_uri} fetches {fetched[0]}")
    return output
