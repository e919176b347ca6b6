"""Graphs of imports: folders from rooms, without the arrows that follow from others, in levels."""

Graph = dict[str, set[str]]


def folders(rooms: Graph) -> Graph:
    """Returns the graph of folders; a room's imports are those of its folder.

    Args:
        rooms: Names of the targets that each target imports.

    Example:

    >>> rooms = {"layers/heads": {"layers/elements"}, "layers/elements": set(), "models": {"layers/heads"}}
    >>> graph = folders(rooms)
    >>> sorted((name, sorted(imports)) for name, imports in graph.items())
    [('layers', []), ('models', ['layers'])]
    """
    graph: Graph = {}
    for name, imports in rooms.items():
        home = _folder(name)
        graph.setdefault(home, set()).update({_folder(each) for each in imports} - {home})
    return graph


def rooms_of(folder: str, rooms: Graph) -> Graph:
    """Returns the graph of the rooms of one folder.

    Example:

    >>> rooms = {"layers/heads": {"recipes", "layers/elements"}, "layers/elements": set(), "layers": set()}
    >>> rooms_of("layers", rooms)
    {'heads': {'elements'}, 'elements': set()}
    """
    inside = {name for name in rooms if name.startswith(f"{folder}/")}
    return {
        name.removeprefix(f"{folder}/"): {each.removeprefix(f"{folder}/") for each in rooms[name] & inside}
        for name in rooms
        if name in inside
    }


def reduced(graph: Graph) -> Graph:
    """Returns the graph without the arrows that follow from others.

    Example:

    >>> reduced({"cli": {"models", "layers"}, "models": {"layers"}, "layers": set()})
    {'cli': {'models'}, 'models': {'layers'}, 'layers': set()}
    """
    return {
        name: imports - set().union(*(_below(each, graph) for each in imports))
        for name, imports in graph.items()
    }


def levels(graph: Graph) -> list[list[str]]:
    """Returns the names in levels, importers on top, neighbours near what they import.

    Args:
        graph: A graph whose arrows go from one level to the next; see `bent`.

    Example:

    >>> levels({"cli": {"models"}, "models": {"layers"}, "layers": set(), "corpus": set()})
    [['cli'], ['models'], ['layers', 'corpus']]
    """
    heights = _heights(graph)
    rows: list[list[str]] = [[] for _ in range(max(heights.values()) + 1)]
    for name in graph:
        rows[heights[name]].append(name)
    for _ in range(8):
        _order(rows, graph)
        _order(rows[::-1], _turned(graph))
    return rows[::-1]


def bent(graph: Graph) -> tuple[Graph, dict[tuple[str, str], list[str]]]:
    """Returns the graph with a bend on each level that an arrow passes, and the bends of each arrow.

    Example:

    >>> bent({"cli": {"models", "layers"}, "models": {"layers"}, "layers": set()})[1][("cli", "layers")]
    ['cli>layers:1']
    """
    heights = _heights(graph)
    whole: Graph = {name: set() for name in graph}
    bends = {}
    for name, imports in graph.items():
        for each in sorted(imports):
            between = [f"{name}>{each}:{height}" for height in range(heights[name] - 1, heights[each], -1)]
            bends[name, each] = between
            for start, end in zip([name, *between], [*between, each]):
                whole.setdefault(start, set()).add(end)
    return whole, bends


def _folder(name: str) -> str:
    return name.split("/")[0]


def _below(name: str, graph: Graph) -> set[str]:
    return set(graph[name]).union(*(_below(each, graph) for each in graph[name]))


def _heights(graph: Graph) -> dict[str, int]:
    heights: dict[str, int] = {}

    def height(name: str) -> int:
        if name not in heights:
            heights[name] = max((height(each) + 1 for each in graph[name]), default=0)
        return heights[name]

    for name in graph:
        height(name)
    return heights


def _order(rows: list[list[str]], graph: Graph) -> None:
    """Sorts each row by the mean place of what its members import, the rows before it being sorted."""
    places: dict[str, float] = {}
    for row in rows:
        wanted = {name: (index + 0.5) / len(row) for index, name in enumerate(row)}
        for name in row:
            known = [places[each] for each in graph[name] if each in places]
            wanted[name] = sum(known) / len(known) if known else wanted[name]
        row.sort(key=wanted.__getitem__)
        places |= {name: (index + 0.5) / len(row) for index, name in enumerate(row)}


def _turned(graph: Graph) -> Graph:
    return {name: {each for each in graph if name in graph[each]} for name in graph}
