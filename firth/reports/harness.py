"""The section of a run's report with the scores of an evaluation harness."""

import re
from collections.abc import Sequence

from firth.evaluation.harness import HarnessRow
from firth.reports.page import render_template

_BEGIN, _END = "<!-- harness -->", "<!-- /harness -->"
_LINK = '<a href="#harness">Evaluation harness</a>'


def with_harness(page: str, names: Sequence[str], rows: Sequence[HarnessRow]) -> str:
    r"""Returns a report with a section on the scores of an evaluation harness, the last one alone.

    Args:
        page: The report.
        names: Name of each model.
        rows: Its scores.

    Example:

    >>> page = "<nav>\n</nav>\n</body>"
    >>> once = with_harness(page, ["demo"], [])
    >>> once == with_harness(once, ["demo"], []), once.count("Evaluation harness")
    (True, 2)
    """
    section = render_template("section_harness.html.j2", names=names, rows=rows)
    bare = re.sub(f"{_BEGIN}.*?{_END}\n", "", page, flags=re.DOTALL)
    if _LINK not in bare:
        bare = bare.replace("</nav>", f"{_LINK}\n</nav>", 1)
    before, end, after = bare.rpartition("</body>")
    return f"{before}{_BEGIN}\n{section}\n{_END}\n{end}{after}"
