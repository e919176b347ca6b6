"""The groups of digits in which phone numbers are written in each region."""

import functools
import re

_WIDTH = re.compile(r"(?:\\d|\[[^]]*\]|\d)(?:\{(\d+)(?:,(\d+))?\})?")
_GROUP = re.compile(r"\((?!\?)((?:[^()]|\(\?:[^()]*\))*)\)")
_OUTPUT = re.compile(r"(?:\\\d|\d)+")
_FIRST = re.compile(r"\\\d")
_ANY = (1, 15)
Widths = tuple[tuple[int, int], ...]


@functools.lru_cache(maxsize=2**14)
def may_be_groups(region: str, groups: tuple[int, ...]) -> bool:
    """Returns whether a number of a region may be written in groups of these lengths.

    It allows every format of phonenumbers for the region, and is much faster than formatting the number.

    Example:

    >>> may_be_groups("US", (3, 3, 4)), may_be_groups("US", (3, 3, 3))
    (True, False)
    """
    return any(
        len(widths) == len(groups) and all(low <= group <= high for group, (low, high) in zip(groups, widths))
        for widths in _usual_widths(region)
    )


@functools.cache
def _usual_widths(region: str) -> frozenset[Widths]:
    from phonenumbers import PhoneMetadata, region_code_for_country_code

    metadata = PhoneMetadata.metadata_for_region(region)
    if metadata is None or metadata.country_code is None:
        return frozenset()
    code = str(metadata.country_code)
    main = PhoneMetadata.metadata_for_region(region_code_for_country_code(metadata.country_code)) or metadata
    usual: set[Widths] = {((len(code), len(code)), _ANY)}
    for each in (*main.number_format, *main.intl_number_format):
        widths = [_width(group) for group in _GROUP.findall(each.pattern or "")]
        prefixed = (each.national_prefix_formatting_rule or r"\1").replace("$FG", r"\1")
        written = each.format or ""
        found = _FIRST.search(written)
        first = written.replace(found[0], prefixed.replace(r"\1", found[0]), 1) if found else written
        for output in (written, first):
            groups = tuple(_output_width(run, widths) for run in _OUTPUT.findall(output))
            usual |= {groups, ((len(code), len(code)), *groups)}
    return frozenset(usual)


def _width(pattern: str) -> tuple[int, int]:
    """Returns the smallest and the largest number of digits that a group of a pattern matches."""
    if "(" in pattern or "|" in pattern:
        return _ANY
    tokens = [(int(low or 1), int(high or low or 1)) for low, high in _WIDTH.findall(pattern)]
    return sum(low for low, _ in tokens), sum(high for _, high in tokens)


def _output_width(run: str, widths: list[tuple[int, int]]) -> tuple[int, int]:
    parts = [widths[int(part[1]) - 1] if part[0] == "\\" else (1, 1) for part in re.findall(r"\\\d|\d", run)]
    return sum(low for low, _ in parts), sum(high for _, high in parts)
