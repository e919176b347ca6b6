"""`pytest tests/recipes --update-golden` writes the golden files anew."""

import pytest


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write golden files instead of comparing")


@pytest.fixture
def golden(request):
    """Compares a text with a committed file, or writes the file if asked to."""

    def check(path, text):
        if request.config.getoption("--update-golden", default=False):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path} is missing; run pytest tests/recipes --update-golden"
        assert path.read_text(encoding="utf-8") == text, (
            "run pytest tests/recipes --update-golden if it is meant"
        )

    return check
