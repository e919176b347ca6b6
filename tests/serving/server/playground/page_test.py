"""The routes of the playground, asked without a browser."""

import re

import pytest

from tests.exported_model import client_of_exported, exported_model
from tests.serving.server.playground.served import MARKUP, asking, repeating


@pytest.fixture(scope="module")
def client():
    with asking({"demo": exported_model().directory}) as found:
        yield found


def test_page_loads_its_own_files_alone(client):
    page = client.get("/playground")
    found = re.findall(r'(?:src|href)="([^"#]+)"', page.text)
    assert page.headers["content-type"].startswith("text/html") and len(found) == 3
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
    files, read = {name for name in found if not name.startswith("data:")}, set()
    while files - read:
        name = sorted(files - read)[0]
        answer = client.get(f"/{name}")
        assert answer.status_code == 200 and not re.search(r"https?://", answer.text), name
        read.add(name)
        files |= {f"playground/{each}" for each in re.findall(r'from "\./([^"]+)"', answer.text)}
    assert len(read) == 10 and client.get("/playground/page.py").status_code == 404


def test_no_text_is_taken_for_markup(client):
    scripts = [each.path for each in client.app.routes if each.path.endswith(".js")]
    source = "".join(client.get(path).text for path in scripts)
    assert len(scripts) == 9 and "createElement" in source
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", source)


def test_description_is_that_of_the_models(client):
    (found,) = client.get("/playground/description.json").json()["models"]
    described = client_of_exported().description
    assert (found["name"], found["version"], found["slots"]) == ("demo", "1", None)
    assert found["signatures"] == described["signatures"]


def test_answers_are_those_of_the_client(client):
    text = "the [MASK] sat on the [MASK]"
    asked = {"model": "demo", "signature": "fill_mask", "texts": [text]}
    (answer,) = client.post("/playground/ask", json=asked).json()["answers"]
    (masks,) = client_of_exported().fill_mask([text])
    assert [[each["piece"] for each in mask] for mask in answer["values"]["masks"]] == [
        [each.piece for each in mask] for mask in masks
    ]
    assert "[MASK] 2:" in "".join(answer["lines"]) and answer["note"] == ""


def test_outputs_that_are_not_wanted_are_left_out(client):
    asked = {"model": "demo", "signature": "embed_tokens", "texts": ["the cat", "a mat."]}
    found = client.post("/playground/ask", json={**asked, "outputs": ["pieces"]}).json()["answers"]
    assert [each["values"] for each in found] == [{"pieces": ["the", "cat"]}, {"pieces": ["a", "mat", "."]}]


def test_text_that_was_cut_has_a_note(client):
    asked = {"model": "demo", "signature": "embed_tokens", "texts": ["the cat " * 40], "outputs": ["pieces"]}
    (answer,) = client.post("/playground/ask", json=asked).json()["answers"]
    assert "of 80 tokens" in answer["note"]


REFUSED = {
    "model": ({"model": "demmo"}, 404, "demo"),
    "signature": ({"signature": "classify"}, 400, "classify"),
    "mask": ({"texts": ["the cat"]}, 400, r"\[MASK\]"),
    "texts": ({"texts": []}, 400, "texts"),
    "kind": ({"texts": [3]}, 400, "texts"),
    "others": ({"others": {"pair": ["a"]}}, 400, "texts alone"),
    "number": ({"others": {"pair": ["a", "b"]}}, 400, "pair"),
    "parameters": ({"parameters": {"temperature": 1}}, 400, "parameters"),
    "key": ({"text": "a"}, 400, "text"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_request_is_refused_by_its_name(client, name):
    changed, status, named = REFUSED[name]
    asked = {"model": "demo", "signature": "fill_mask", "texts": ["a [MASK]"], **changed}
    answer = client.post("/playground/ask", json=asked)
    assert answer.status_code == status
    assert re.search(named, answer.json()["error"]["message"])


def test_what_is_not_json_is_refused(client):
    answer = client.post("/playground/ask", content=b"\xff{")
    assert answer.status_code == 400 and "request" in answer.json()["error"]["message"]


def test_numbers_that_json_lacks_have_names(made_once, monkeypatch):
    asked = {"model": "repeat", "signature": "repeat", "texts": [MARKUP]}
    with asking({"repeat": repeating(made_once, monkeypatch)}) as client:
        (answer,) = client.post("/playground/ask", json=asked).json()["answers"]
    assert (answer["values"]["logit"], answer["values"]["label"]) == ("-inf", MARKUP)
