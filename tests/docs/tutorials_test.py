"""The tutorials run from top to bottom, and become pages and notebooks."""

import ast
import json
import traceback

import pytest

from scripts.docs.tutorials import PAGES, figure_name, notebook, page_with_output, run_page

_TEXT = """# A page

```python
value = 2
print("\\x1b[1mhalf\\rwhole\\x1b[0m")
value
```

```text
not run
```

```python
import matplotlib.pyplot as plt

plt.plot([value, 3])
```
"""


# `make docs` runs them all too.
@pytest.mark.repeated
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_page_runs(path):
    blocks = run_page(path.read_text(encoding="utf-8"), str(path))
    printed = [block for block in blocks if "print(" in block.code]
    assert printed and all(block.output for block in printed)
    drawn = [block for block in blocks if "plt." in block.code]
    assert all(block.figures[0].startswith(b"<?xml") for block in drawn)


@pytest.fixture(scope="module")
def blocks():
    return run_page(_TEXT, "page.md")


def test_output_is_below_its_block(blocks):
    assert [block.output for block in blocks] == ["whole\n2", ""]
    page = page_with_output(_TEXT, blocks, "page")
    assert page.index("value\n```\n\n``` {.text .output}\nwhole\n2\n```\n") < page.index("not run")
    assert page.rstrip().endswith(f"]({figure_name('page', 1)})")
    assert page.startswith("# A page\n\n[This page as a notebook](../notebooks/page.ipynb)")


def test_notebook_has_the_cells_and_outputs_of_the_page(blocks):
    nbformat = pytest.importorskip("nbformat")
    made = notebook(_TEXT, blocks)
    nbformat.validate(nbformat.reads(made, as_version=4))
    cells = json.loads(made)["cells"]
    assert [cell["cell_type"] for cell in cells] == ["markdown", "code", "markdown", "code"]
    ast.parse(cells[1]["source"])
    assert [len(cell["outputs"]) for cell in cells if cell["cell_type"] == "code"] == [1, 1]


def test_error_names_page_and_line():
    with pytest.raises(ZeroDivisionError) as raised:
        run_page("# A\n\n```python\nvalue = 1\nvalue / 0\n```\n", "page.md")
    last = traceback.extract_tb(raised.tb)[-1]
    assert (last.filename, last.lineno) == ("page.md", 5)
