"""Formats as patterns: what they let through is valid, day by day."""

import datetime
import re

import pytest

from firth.constraints.formats import FORMATS

_DAYS = ("01-00", "01-31", "02-28", "02-29", "02-30", "04-30", "04-31", "06-30", "11-31", "12-31", "13-01")


def _is_date(text: str) -> bool:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def test_dates_are_those_of_the_calendar():
    date = re.compile(FORMATS["date"])
    # Every century and each year of four of them.
    years = [*range(0, 10000, 100), *range(300), *range(1900, 2101)]
    texts = [f"{year:04d}-{day}" for year in years for day in _DAYS]
    assert [text for text in texts if bool(date.fullmatch(text)) != _is_date(text)] == []


@pytest.mark.parametrize(
    ("name", "valid", "invalid"),
    [
        ("time", "23:59:59.5+14:00", "24:00:00Z"),
        ("time", "00:00:00Z", "23:59:60Z"),
        ("time", "08:30:06-08:00", "08:30:06"),
        ("date-time", "2024-02-29T00:00:00Z", "2023-02-29T00:00:00Z"),
        ("date-time", "1963-06-19T08:30:06.283185Z", "1963-06-19 08:30:06Z"),
        ("uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08aa9811eab4aa73b441d16380"),
    ],
)
def test_literal_texts_of_a_format(name, valid, invalid):
    assert re.fullmatch(FORMATS[name], valid)
    assert not re.fullmatch(FORMATS[name], invalid)
