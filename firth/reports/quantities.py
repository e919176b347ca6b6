"""Durations and sizes in words."""


def seconds_text(seconds: float) -> str:
    """Returns a duration in words.

    Example:

    >>> seconds_text(0.4), seconds_text(75), seconds_text(3 * 3600 + 120)
    ('0.4 s', '1 min 15 s', '3 h 2 min')
    """
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def bytes_text(count: float) -> str:
    """Returns a size in words, in decimal units.

    Example:

    >>> bytes_text(999), bytes_text(1_500_000), bytes_text(2.04e9), bytes_text(1.5e15)
    ('999 B', '1.5 MB', '2.0 GB', '1.5 PB')
    """
    if count < 1000:
        return f"{count:.0f} B"
    for unit in ("kB", "MB", "GB", "TB"):
        count /= 1000
        if count < 999.95:
            return f"{count:.1f} {unit}"
    return f"{count / 1000:.1f} PB"
