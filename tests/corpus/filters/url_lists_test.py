"""Which documents lists of domains, hosts and addresses drop."""

import gzip
import pickle

import pytest

from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.errors import CorpusError
from firth.corpus.documents.steps import Drop, Keep
from firth.recipes.corpus.domains import UrlList, UrlListsStep
from tests.corpus.helpers import document

BLOCKED = """\
# Made up.
bad.example   # and all below it
News.example.co.uk
https://user@mixed.example:8080/forum/
bücher.example

*.tracker.example
wiki.example/Käse/
wiki.example/%7ejoe%2fa
"""
URLS = {
    "http://bad.example": True,
    "HTTPS://joe:pw@A.B.Bad.Example:8443/x?y": True,
    "//bad.example./": True,
    "http://notbad.example/": False,
    "http://bad.example.org/": False,
    "http://good.example/bad.example": False,
    "http://good.example/?at=@bad.example": False,
    "http://bad.example@good.example/": False,
    "http://news.example.co.uk/1": True,
    "http://example.co.uk/1": False,
    "http://mixed.example/forum/1": True,
    "http://www.mixed.example/forum/1": True,
    "http://mixed.example/forum": False,
    "http://mixed.example/": False,
    "http://xn--bcher-kva.example/": True,
    "http://www.BÜCHER.example/": True,
    "http://cdn.tracker.example/": True,
    "http://wiki.example/K%C3%A4se/1": True,
    "http://wiki.example/K%c3%a4se/1": True,
    "http://wiki.example/Käse/1": True,
    "http://wiki.example/Kase/1": False,
    "http://wiki.example/~joe%2Fa": True,
    "http://wiki.example/~joe/a": False,
    "books/bad.example/a.txt#L12": False,
}


def step(tmp_path, block=BLOCKED, allow=None, **keys):
    for name, text in (("block", block), ("allow", allow)):
        if text is not None:
            (tmp_path / name).write_bytes(gzip.compress(text.encode()))
    lists = {"block": (UrlList(path=f"{tmp_path}/block", name="adult"),)} if block is not None else {}
    if allow is not None:
        lists["allow"] = (f"{tmp_path}/allow",)
    return STEPS["url_lists"](UrlListsStep(kind="url_lists", **lists, **keys))


@pytest.mark.parametrize(("url", "blocked"), URLS.items())
def test_block(tmp_path, url, blocked):
    given = document("Text.", url)
    assert step(tmp_path).decide(given) == (Drop("blocked_adult") if blocked else Keep(given))


def test_allow_is_an_exception_or_the_only_thing_that_is_kept(tmp_path):
    kept, blocked, other = (
        document("A.", f"http://{host}/") for host in ("ok.bad.example", "bad.example", "c.d")
    )
    exceptions = step(tmp_path, allow="ok.bad.example\n")
    assert exceptions.decide(kept) == Keep(kept, {"allowed": 1})
    assert [exceptions.decide(each) for each in (blocked, other)] == [Drop("blocked_adult"), Keep(other)]
    only = step(tmp_path, block=None, allow="ok.bad.example\n", only_allowed=True, without_url="drop")
    assert [only.decide(each) for each in (kept, other)] == [Keep(kept), Drop("not_allowed")]
    assert only.decide(document("A.", "books/a.txt")) == Drop("no_url")


def test_a_step_reads_its_lists_anew_and_a_worker_does_too(tmp_path):
    given = document("Text.", "http://bad.example/")
    first = step(tmp_path)
    second = step(tmp_path, "other.example\n")
    assert second.decide(given) == Keep(given)
    assert first.decide(given) == Drop("blocked_adult")
    assert pickle.loads(pickle.dumps(second)).decide(given) == Keep(given)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "a.example\n0.0.0.0 ads.example\n",
            r"block, line 2: '0.0.0.0 ads.example' is .* mean ads.example\?",
        ),
        ("a.example\n\nhttp:///x\n", "block, line 3: 'http:///x' is not a domain, a host or the beginning"),
        ("ftp://a.example\n", "line 1"),
        ("# Nothing.\n", "block has no entry"),
    ],
)
def test_lists_that_cannot_be_used(tmp_path, content, message):
    with pytest.raises(CorpusError, match=message):
        step(tmp_path, content)
    with pytest.raises(CorpusError, match=r"gone, .*unreadable"):
        STEPS["url_lists"](UrlListsStep(kind="url_lists", block=(UrlList(path=f"{tmp_path}/gone"),)))


@pytest.mark.parametrize(
    ("keys", "message"),
    [({"allow": ("a",)}, "drops nothing"), ({"only_allowed": True}, "without a list under allow")],
)
def test_steps_that_make_no_sense(keys, message):
    with pytest.raises(ValueError, match=message):
        UrlListsStep(kind="url_lists", **keys)
