"""The pages of two runs on the how-to about them."""

import pytest

from scripts.docs.browser import BROWSERS
from scripts.docs.playground_pictures import PAGE as PLAYGROUND, WIDTHS, with_playground_pictures
from scripts.docs.run_pages import MADE, PAGE, commands_of, recipe_of, take_picture, with_pictures


@pytest.fixture
def folder(tmp_path):
    for name in MADE:
        (tmp_path / name).write_text("<h1>A run</h1>")
    return tmp_path


def test_page_shows_every_made_page_as_a_frame_where_no_picture_is(folder):
    shown = with_pictures(PAGE.read_text(encoding="utf-8"), folder)
    assert [shown.count(f'<iframe src="../runs/{name}"') for name in MADE] == [1, 1, 1]


def test_pictures_lead_to_their_pages(folder):
    (folder / "report.png").write_bytes(b"")
    shown = with_pictures(
        "[The report](../runs/report.html)\n\n[Both](../runs/comparison.html) in a line\n", folder
    )
    assert "[![The report](../runs/report.png)](../runs/report.html)" in shown
    assert "<iframe" not in shown and "comparison.png" not in shown


def test_commands_write_the_pages_that_are_kept():
    text = PAGE.read_text(encoding="utf-8")
    verbs = [arguments[0] for arguments in commands_of(text)]
    assert verbs.count("run") == 2 and "compare" in verbs
    names = {
        arguments[arguments.index("--name") + 1] for arguments in commands_of(text) if "--name" in arguments
    }
    assert names == {"first", "second"} and all("first" in made for made in MADE.values())
    assert "extends:" in recipe_of(text)
    with pytest.raises(ValueError, match="recipe"):
        recipe_of("# A page\n")


def test_without_a_browser_an_old_picture_goes(folder, monkeypatch):
    (folder / "report.png").write_bytes(b"old")
    monkeypatch.setenv("PATH", str(folder))
    assert take_picture(folder / "report.html") is None
    assert not (folder / "report.png").exists()


def test_a_browser_that_fails_leaves_no_picture(folder, monkeypatch):
    program = folder / BROWSERS[0]
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/bin")
    assert take_picture(folder / "report.html") is None


def test_the_playground_has_the_pictures_that_were_taken(tmp_path):
    text, links = (
        PLAYGROUND.read_text(encoding="utf-8"),
        [f"(../runs/playground_{each}.png)" for each in WIDTHS],
    )
    assert all(link in text for link in links)
    (tmp_path / f"playground_{WIDTHS[1]}.png").write_bytes(b"")
    shown = with_playground_pictures(text, tmp_path)
    assert [link in shown for link in links] == [False, True]
    assert shown.count("\n\n- Parameters") == 1
