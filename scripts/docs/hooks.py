"""What MkDocs calls while it builds the site: the pages that are made and not written."""

import pathlib
import sys

REPOSITORY = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY))

from mkdocs.structure.files import File, Files  # noqa: E402

from scripts.docs.api_pages import api_pages  # noqa: E402
from scripts.docs.import_drawing import imports_page  # noqa: E402
from scripts.docs.recipe_keys import recipe_pages  # noqa: E402


def on_files(files: Files, config) -> Files:
    """Adds the pages made from the recipe types, from the docstrings and from BUILD."""
    drawn = {"reference/imports.md": imports_page((REPOSITORY / "BUILD").read_text())}
    for path, text in {**recipe_pages(), **api_pages(), **drawn}.items():
        files.append(File.generated(config, path, content=text))
    return files
