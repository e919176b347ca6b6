"""The pages of the API, filled by mkdocstrings: one for each package that users import from."""

# What each page shows: packages whole, by the names that they export, or single names.
PACKAGES = {
    "layers": ("firth.layers",),
    "models": ("firth.models",),
    "objectives": ("firth.objectives",),
    "tokenizers": ("firth.tokenizers",),
    "corpus": ("firth.corpus",),
    "training": ("firth.training",),
    "evaluation": ("firth.evaluation",),
    "serving": ("firth.serving",),
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
    return {f"reference/api/{package}.md": _page(package, shown) for package, shown in PACKAGES.items()}


def _page(package: str, shown: tuple[str, ...]) -> str:
    blocks = [f"::: {name}\n    options: {{{_options(package, name)}}}" for name in shown]
    return "\n\n".join([f"# `firth.{package}`", *blocks])


def _options(package: str, name: str) -> str:
    whole = name == f"firth.{package}"
    return "show_root_heading: false, show_root_toc_entry: false" if whole else "show_root_full_path: true"
