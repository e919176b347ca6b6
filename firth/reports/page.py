"""The HTML template that all reports share, its number formats, and the section of an evaluation harness."""

import functools
import math
import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jinja2

from firth.reports.quantities import bytes_text, seconds_text
from firth.serving.exported_model import shape_in_words, valid, weights_line

if TYPE_CHECKING:
    from firth.evaluation.harness import HarnessRow

TEMPLATE = "report.html.j2"
NOT_RECORDED = "not recorded"
_BEGIN, _END = "<!-- harness -->", "<!-- /harness -->"
_LINK = '<a href="#harness">Evaluation harness</a>'


def render_page(**values: Any) -> str:
    """Returns a page as HTML, all text escaped.

    Args:
        **values: Values of the template: `kind`, `title`, `description`, `headline` (name, value and remark
            of each figure), `sections` (id and title of each) and what the template `section_<id>.html.j2` of
            each section reads.
    """
    return render_template(TEMPLATE, **values)


def render_template(name: str, **values: Any) -> str:
    """Returns a template of this package as HTML, all text escaped.

    Args:
        name: Name of its file.
        **values: Values of the template.
    """
    return _environment().get_template(name).render(**values)


def number(value: Any) -> str:
    """Returns a figure as the page writes it.

    Example:

    >>> number(None), number(float("inf")), number(1234.56), number(0.12345), number("mean")
    ('not recorded', 'infinite', '1,234.6', '0.1235', 'mean')
    """
    if value is None:
        return NOT_RECORDED
    if not isinstance(value, int | float):
        return str(value)
    if not math.isfinite(value):
        return "infinite" if value > 0 else "not a number"
    if abs(value) >= 100 and value == round(value):
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.4g}"


def count(value: Any) -> str:
    """Returns a whole number as the page writes it.

    Example:

    >>> count(None), count(12345.0)
    ('not recorded', '12,345')
    """
    return NOT_RECORDED if value is None else f"{round(value):,}"


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("firth.reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number=number, count=count, bytes=bytes_text, seconds=seconds_text)
    environment.filters.update(shape_in_words=shape_in_words, valid=valid, weights_line=weights_line)
    return environment


def tensorboard_command(folder: str) -> str:
    """Returns the command that shows the curves in a folder, to be pasted as it is.

    Example:

    >>> tensorboard_command("my runs/demo/pipeline/Trainer/model_run/7")
    "tensorboard --logdir 'my runs/demo/pipeline/Trainer/model_run/7'"
    """
    return f"tensorboard --logdir {shlex.quote(folder)}"


def with_harness(page: str, names: Sequence[str], rows: Sequence["HarnessRow"]) -> str:
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
