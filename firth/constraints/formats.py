"""Formats of strings in JSON Schema as exact regular expressions, without look-around and without anchors."""

_NON_LEAP_DAYS = (
    "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    "|02-(?:0[1-9]|1[0-9]|2[0-8])"
)
# Multiples of 4 that are none of 100, or multiples of 400. There is no year 0000.
_LEAP_YEARS = "[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00"
_YEARS = "(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
_DATE = f"(?:{_YEARS}-(?:{_NON_LEAP_DAYS})|(?:{_LEAP_YEARS})-02-29)"
# RFC 3339 has a second 60 where a leap second was, which a pattern cannot know: it is not written.
_OFFSET = r"(?:Z|[+\-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_TIME = rf"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{{1,9}})?{_OFFSET}"
_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

FORMATS: dict[str, str] = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f"{_DATE}T{_TIME}",
    "uuid": _UUID,
}
"""By the name of a format of JSON Schema (2020-12, validation, 7.3) the texts that are written for it.

Each is valid; a few valid ones are not written: letters of other case, leap seconds, fractions of a second
with more than nine digits.
"""
