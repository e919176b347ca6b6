"""The drawing of folders and imports is that of BUILD."""

import itertools
import pathlib
import re

import pytest

from scripts.docs.build_file import read_targets
from scripts.docs.import_drawing import drawing, imports_page
from scripts.docs.import_graph import bent, folders, levels, reduced, rooms_of

BUILD = (pathlib.Path(__file__).parents[2] / "BUILD").read_text()
GRAPH = {name: target.targets for name, target in read_targets(BUILD).items()}
DRAWN = {"the folders": folders(GRAPH), "rooms": rooms_of("corpus", GRAPH)}


def reached(graph, name):
    return set(graph[name]).union(*(reached(graph, each) for each in graph[name]))


@pytest.mark.parametrize("graph", DRAWN.values(), ids=DRAWN)
def test_the_arrows_left_out_follow_from_the_others(graph):
    fewer = reduced(graph)
    assert all(reached(fewer, name) == reached(graph, name) for name in graph)
    for start, end in ((start, end) for start, imports in fewer.items() for end in imports):
        without = {**fewer, start: fewer[start] - {end}}
        assert end not in reached(without, start)


@pytest.mark.parametrize("graph", DRAWN.values(), ids=DRAWN)
def test_importers_stand_above_what_they_import(graph):
    whole, bends = bent(reduced(graph))
    rows = levels(whole)
    heights = {name: height for height, row in enumerate(rows) for name in row}
    assert sorted(heights) == sorted(whole)
    for (start, end), between in bends.items():
        for above, below in itertools.pairwise([start, *between, end]):
            assert heights[below] == heights[above] + 1


def test_no_two_boxes_overlap():
    boxes = re.findall(r'<rect x="(.+?)" y="(.+?)" width="(.+?)"', drawing(folders(GRAPH)))
    assert len(boxes) == len(folders(GRAPH))
    for one, other in itertools.combinations([tuple(map(float, box)) for box in boxes], 2):
        assert one[1] != other[1] or one[0] + one[2] < other[0] or other[0] + other[2] < one[0]


def test_the_page_has_every_folder_and_every_room():
    page = imports_page(BUILD)
    for name in GRAPH:
        assert f">{name.split('/')[-1]}</text>" in page, name
