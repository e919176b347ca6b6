import pytest

from tests.reports.remembered_plots import plots_drawn_once

DRAWN: dict[tuple[str, bytes], str] = {}


@pytest.fixture(scope="module", autouse=True)
def remembered_plots():
    """Draws a plot once for all pages that show it."""
    with plots_drawn_once(DRAWN):
        yield DRAWN
