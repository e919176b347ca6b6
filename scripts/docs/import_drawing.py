"""The page with the drawing of folders and their imports, made from BUILD: `imports_page()`."""

import html
import itertools

from scripts.docs.build_file import Target, read_targets
from scripts.docs.import_graph import Graph, bent, folders, levels, reduced, rooms_of

_CHARACTER, _PADDING, _HEIGHT, _GAP, _LEVEL = 8.2, 22, 32, 26, 84


def imports_page(build: str) -> str:
    """Returns the Markdown of the page: a drawing of the folders, one of the rooms of each, and a table.

    Args:
        build: The content of BUILD.
    """
    targets = read_targets(build)
    graph = {name: target.targets for name, target in targets.items()}
    whole = folders(graph)
    with_rooms = [name for name in whole if rooms_of(name, graph)]
    return "\n\n".join(
        [
            "# Folders and their imports",
            "This page is made from `BUILD`, whose rules `make lint` enforces. An arrow "
            "points from a folder to one that it may import; arrows that follow from others are left out.",
            drawing(whole),
            "## What each folder may import",
            _table(targets, whole),
            "## The rooms of the large folders",
            *(f"### `{name}`\n\n{drawing(rooms_of(name, graph))}" for name in with_rooms),
            "",
        ]
    )


def drawing(graph: Graph) -> str:
    """Returns a graph of imports as an SVG picture, importers on top.

    Args:
        graph: Names of what each name imports, without a cycle.

    Example:

    >>> drawing({"models": {"layers"}, "layers": set()}).count("<rect")
    2
    """
    whole, bends = bent(reduced(graph))
    rows = levels(whole)
    widths = {name: _CHARACTER * len(name) + _PADDING if name in graph else 0.0 for name in whole}
    wide = max(sum(widths[name] + _GAP for name in row) for row in rows)
    places = {}
    for level, row in enumerate(rows):
        left = (wide - sum(widths[name] + _GAP for name in row)) / 2 + _GAP / 2
        for name in row:
            places[name] = (left + widths[name] / 2, level * _LEVEL + _HEIGHT)
            left += widths[name] + _GAP
    arrows = [
        _arrow([places[name] for name in (start, *between, end)]) for (start, end), between in bends.items()
    ]
    boxes = [_box(name, *places[name], widths[name]) for name in graph]
    tall = (len(rows) - 1) * _LEVEL + 2 * _HEIGHT
    size = f'width="{wide:.0f}" height="{tall}" viewBox="0 0 {wide:.0f} {tall}"'
    picture = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>{"".join([*arrows, *boxes])}</svg>'
    return f'<div class="imports">{picture}</div>'


def _box(name: str, x: float, y: float, width: float) -> str:
    corner = f'x="{x - width / 2:.1f}" y="{y - _HEIGHT / 2:.1f}"'
    box = f'<rect {corner} width="{width:.1f}" height="{_HEIGHT}" rx="5"/>'
    return f'{box}<text x="{x:.1f}" y="{y:.1f}">{html.escape(name)}</text>'


def _arrow(points: list[tuple[float, float]]) -> str:
    """Draws a line from below the first box, by the bends, to above the last one."""
    (x, y), *bends, (to_x, to_y) = points
    stops = [(x, y + _HEIGHT / 2), *bends, (to_x, to_y - _HEIGHT / 2 - 6)]
    curves = [f"M{stops[0][0]:.1f} {stops[0][1]:.1f}"]
    for (x, y), (next_x, next_y) in itertools.pairwise(stops):
        half = (y + next_y) / 2
        curves.append(f"C{x:.1f} {half:.1f} {next_x:.1f} {half:.1f} {next_x:.1f} {next_y:.1f}")
    head = f'<path class="head" d="M{to_x:.1f} {to_y - _HEIGHT / 2:.1f}l-4 -8h8z"/>'
    return f'<path d="{"".join(curves)}"/>{head}'


def _table(targets: dict[str, Target], whole: Graph) -> str:
    rows = ["| Folder | Imports | Third parties |", "|---|---|---|"]
    for name, imports in whole.items():
        members = [target for each, target in targets.items() if each.split("/")[0] == name]
        others = sorted(set().union(*(target.distributions for target in members)))
        rows.append(f"| `{name}` | {_names(sorted(imports))} | {_names(others)} |")
    return "\n".join(rows)


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
