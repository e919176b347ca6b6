import io

from rich.console import Console

from firth.cli.requests.files import drawing_records


def drawn(live, seconds):
    """Returns the text drawn for batches of 64 records, given the time at which each ends."""
    console = Console(file=io.StringIO(), force_terminal=live, width=120, color_system=None)
    times = iter(seconds)
    now = [0.0]
    with drawing_records(console, clock=lambda: now[0]) as draw:
        for number, now[0] in enumerate(times):
            draw(64 * number)
    return console.file.getvalue()


def test_without_a_terminal_a_line_is_printed_every_half_a_minute():
    lines = drawn(False, [100.0, 110.0, 132.0, 140.0, 164.0]).splitlines()
    assert lines == ["128 records answered, 4.0 records/s", "256 records answered, 4.0 records/s"]


def test_a_short_file_prints_nothing():
    assert drawn(False, [100.0, 101.0]) == ""


def test_on_a_terminal_the_numbers_are_redrawn():
    assert "64 records answered, 32.0 records/s" in drawn(True, [100.0, 102.0])
