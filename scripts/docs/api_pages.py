"""The pages of the API, filled by mkdocstrings: one for each package that users import from."""

import ast
import pathlib
import re

_REPOSITORY = pathlib.Path(__file__).parents[2]

# What each page shows: packages whole, by the names that they export, or single names.
PACKAGES = {
    "firth": ("firth.load", "firth.create", "firth.pretrain", "firth.LanguageModel"),
    "layers": ("firth.layers",),
    "models": ("firth.models",),
    "objectives": ("firth.objectives",),
    "tokenizers": ("firth.tokenizers",),
    "corpus": ("firth.corpus",),
    "training": ("firth.training",),
    "evaluation": ("firth.evaluation",),
    "generation": ("firth.generation",),
    "tasks": ("firth.tasks", "firth.tasks.readers"),
    "tuning": ("firth.tuning",),
    "scores": ("firth.scores",),
    "serving": ("firth.serving",),
    "interop": (
        "firth.interop.formats.FORMATS",
        "firth.interop.formats.Format",
        "firth.interop.formats.Read",
        "firth.interop.formats.Written",
        "firth.interop.errors.InteropError",
        "firth.interop.hugging_face",
        "firth.interop.keras_hub",
        "firth.interop.elmo.import_model",
        "firth.interop.onnx",
        "firth.interop.ctranslate2",
        "firth.interop.peft",
    ),
    "components": ("firth.components",),
    "pipelines": (
        "firth.pipelines.pretrain.create_pipeline",
        "firth.pipelines.corpus.create_pipeline",
        "firth.pipelines.local.run",
        "firth.pipelines.local.RunOptions",
        "firth.pipelines.local.curate",
    ),
    "recipes": ("firth.recipes.load_recipe", "firth.recipes.preset_names", "firth.recipes.recipe_to_yaml"),
    "features": ("firth.features",),
    "storage": ("firth.storage",),
}


def api_pages() -> dict[str, str]:
    """Returns the Markdown of each page of the API by its path in the site.

    Example:

    >>> print(api_pages()["reference/api/layers.md"])
    # `firth.layers`
    <BLANKLINE>
    ::: firth.layers
        options: {show_root_heading: false, show_root_toc_entry: false}
    """
    return {_path(package): _page(package, shown) for package, shown in PACKAGES.items()}


def missing_names(page: str, html: str) -> list[str]:
    """Returns the names that the packages of a page export and the page does not show.

    Args:
        page: Path of a page in the site, such as `reference/api/layers.md`.
        html: The page as it was built.

    Example:

    >>> missing_names("reference/api/tasks.md", '<h2 id="firth.tasks.TASKS">')[0]
    'firth.tasks.readers.FORMATS'
    """
    shown = {_path(package): names for package, names in PACKAGES.items()}.get(page, ())
    places = set(re.findall(r'\bid="(firth\.[\w.]+)"', html))
    return [name for package in shown for name in _exports(package) if name not in places]


def _exports(name: str) -> list[str]:
    """Returns the full names that a package exports; its own name for what is not a package."""
    folder = _REPOSITORY.joinpath(*name.split("."))
    files = [path for path in (folder / "__init__.pyi", folder / "__init__.py") if path.exists()]
    if not files:
        return [] if folder.with_suffix(".py").exists() else [name]
    imports = [
        each for each in ast.parse(files[0].read_text("utf-8")).body if isinstance(each, ast.ImportFrom)
    ]
    return [f"{name}.{each.asname or each.name}" for node in imports for each in node.names]


def _path(package: str) -> str:
    return f"reference/api/{package}.md"


def _page(package: str, shown: tuple[str, ...]) -> str:
    blocks = [f"::: {name}\n    options: {{{_options(package, name)}}}" for name in shown]
    title = "firth" if package == "firth" else f"firth.{package}"
    return "\n\n".join([f"# `{title}`", *blocks])


def _options(package: str, name: str) -> str:
    whole = name == f"firth.{package}"
    if whole:
        return "show_root_heading: false, show_root_toc_entry: false"
    # A class of several files has most methods from its bases.
    return "show_root_full_path: true, inherited_members: true"
