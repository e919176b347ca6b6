"""`firth predict` and `firth generate`, asked with a server of the model and without."""

import contextlib
import http.client
import http.server
import json
import os
import pathlib
import threading

import httpx
import numpy as np
import pytest

from firth.serving.server import announcements
from firth.serving.server.announcements import CHALLENGE, server_of
from firth.serving.server.process import ServerProcess
from firth.serving.server.settings import ServerSettings
from firth.serving.server.sources import ModelSource
from tests.cli.requests.served_run import made_run
from tests.serving.server.process_tls_test import certificate_files

NAME, PROMPT = "tiny", "the fox"


@pytest.fixture
def run(firth, made_once, tmp_path, monkeypatch):
    """The folder of a run in the folder of the command, and a folder for the files of servers."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv("FIRTH_SERVER_TOKEN", raising=False)
    return made_run(made_once, tmp_path / "firth-runs" / NAME)


@contextlib.contextmanager
def served(run: pathlib.Path, **settings):
    """Serves a run as the command does, on a free port."""
    made = ServerSettings(port=0, reload_seconds=0.0, **settings)
    server = ServerProcess([ModelSource("other_name", str(run / "serving"))], made)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        folder = run.parent.parent / "firth"
        while not any(server.address in each.read_text() for each in folder.glob("*.json")):
            pass
        yield server
    finally:
        server.stop()
        thread.join()


GENERATED = (
    ("--max-new-tokens", "3"),
    ("--max-new-tokens", "6", "--temperature", "2", "--top-k", "9", "--seed", "3", "--n", "3"),
    (
        "--max-new-tokens",
        "6",
        "--temperature",
        "1.5",
        "--stop",
        "o",
        "--stop",
        "a",
        "--presence-penalty",
        "1",
    ),
    ("--max-new-tokens", "64"),
)
# A beam, probabilities, a constraint and a bias are not those of slots.
ALONE = (
    ("--max-new-tokens", "3", "--beams", "2"),
    ("--max-new-tokens", "3", "--log-probabilities"),
    ("--max-new-tokens", "3", "--choice", "cats"),
    ("--max-new-tokens", "3", "--logit-bias", "fox=-9"),
)
REFUSED = ("", "a " * 50)


def test_texts_are_those_of_the_bundle(firth, run):
    def texts(*arguments):
        return [firth("generate", NAME, PROMPT, "dogs", *each, "--json", *arguments) for each in GENERATED]

    alone = texts()
    assert all(each.exit_code == 0 and each.stderr == "" for each in alone), alone[0].output
    with served(run) as server:
        asked = texts()
        assert [each.stdout for each in asked] == [each.stdout for each in alone]
        assert all(each.stderr.count("\n") == 1 and server.address in each.stderr for each in asked)
        assert {json.loads(line)["ended"] for each in asked for line in each.stdout.splitlines()} > {"stop"}
        assert all(each.stderr == "" for each in texts("--no-server"))
        for arguments in ALONE:
            assert server.address not in firth("generate", NAME, PROMPT, *arguments).stderr, arguments
        for prompt in REFUSED:
            result = firth("generate", NAME, prompt)
            assert result.exit_code == 2 and server.address not in result.stderr
    assert firth("generate", NAME, PROMPT).stderr == ""
    assert os.listdir(run.parent.parent / "firth") == []


def test_predictions_are_those_of_the_model(firth, run):
    def found(*arguments):
        result = firth("predict", NAME, "score", PROMPT, "dogs", "--json", *arguments)
        assert result.exit_code == 0, result.output
        return result.stderr, [json.loads(line) for line in result.stdout.splitlines()]

    with served(run) as server:
        said, asked = found()
        assert server.address in said
        _, alone = found("--no-server")
        assert [each.keys() for each in asked] == [each.keys() for each in alone]
        for one, other in zip(asked, alone):
            assert one["text"] == other["text"]
            np.testing.assert_allclose(one["log_probability"], other["log_probability"], rtol=0, atol=1e-5)
        result = firth("predict", NAME, "scroe", PROMPT)
        assert result.exit_code == 1 and "score" in result.stderr and server.address not in result.stderr


def test_another_model_than_the_server_has_is_loaded(firth, run):
    ask = ("generate", NAME, PROMPT, "--max-new-tokens", "2")
    with served(run) as server:
        # The last run has made another bundle, and pushed none.
        summary = json.loads((run / "run.json").read_text())
        for changed in ({"pushed": None}, {"bundle": "elsewhere"}, {"fresh": ["heads/lm_head/bias"]}):
            (run / "run.json").write_text(json.dumps({**summary, **changed}))
            assert firth(*ask).stderr == "", changed
        (run / "run.json").write_text(json.dumps(summary))
        assert server.address in firth(*ask).stderr
        # Files that were written anew since the server has read them.
        model = run / "serving" / "7" / "saved_model.pb"
        os.utime(model, ns=(1, 1))
        assert server.address not in firth(*ask).stderr
        (run / "serving" / "8").mkdir()
        assert server_of(str(run / "serving" / "8")) is None


def test_a_server_with_a_token_is_asked_where_the_token_is_known(firth, run, monkeypatch):
    ask = ("generate", NAME, PROMPT, "--max-new-tokens", "2")
    with served(run, token="password") as server:
        for token, is_asked in ((None, False), ("other", False), ("password", True)):
            if token is not None:
                monkeypatch.setenv("FIRTH_SERVER_TOKEN", token)
            result = firth(*ask)
            assert result.exit_code == 0 and (server.address in result.stderr) is is_asked, token
        assert "password" not in (next((run.parent.parent / "firth").iterdir())).read_text()


def test_a_server_with_tls_is_asked_where_its_certificate_is_trusted(firth, run, tmp_path, monkeypatch):
    ask = ("generate", NAME, PROMPT, "--max-new-tokens", "2")
    for each in ("own", "other"):
        (tmp_path / each).mkdir()
    (certificate, key), (other, _) = (certificate_files(tmp_path / each) for each in ("own", "other"))
    alone = firth(*ask, "--no-server")
    with served(run, tls_certificate=certificate, tls_key=key) as server:
        assert server.address.startswith("https://")
        for trusted in (None, other, certificate):
            if trusted is not None:
                monkeypatch.setenv("SSL_CERT_FILE", trusted)
            result = firth(*ask)
            assert result.exit_code == 0 and result.stdout == alone.stdout
            assert (server.address in result.stderr) is (trusted == certificate)


class Impostor(http.server.ThreadingHTTPServer):
    """A server that has the port of another one, and passes challenges on to a third where it knows one."""

    def __init__(self, port: int, passed_on_to: str, filling: bytes = b"") -> None:
        self.received: list[str] = []
        impostor = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                impostor.received.append(f"{self.path} {self.headers['Authorization']} {body.decode()}")
                proof = {"proof": "0" * 64, "answers": [{"text": "stolen", "ended": "stop"}]}
                if passed_on_to and self.path == CHALLENGE:
                    proof = httpx.post(f"{passed_on_to}{CHALLENGE}", content=body).json()
                content = filling or json.dumps(proof).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_) -> None:
                pass

        super().__init__(("127.0.0.1", port), Handler)


def test_another_server_on_the_port_gets_neither_prompt_nor_token(firth, run, tmp_path, monkeypatch):
    monkeypatch.setenv("FIRTH_SERVER_TOKEN", "password")
    with served(run, token="password") as server:
        (file,) = (tmp_path / "firth").glob("*.json")
        assert file.stat().st_mode & 0o777 == 0o600
        facts = json.loads(file.read_text())
        for passed_on_to in ("", server.address):
            with Impostor(0, passed_on_to) as impostor:
                thread = threading.Thread(target=impostor.serve_forever)
                thread.start()
                # The process still runs, and its file names the port that another one has.
                address = f"http://127.0.0.1:{impostor.server_address[1]}"
                file.write_text(json.dumps({**facts, "address": address}))
                result = firth("generate", NAME, PROMPT, "--max-new-tokens", "2")
                impostor.shutdown()
                thread.join()
            assert result.exit_code == 0 and "stolen" not in result.stdout and result.stderr == ""
            (received,) = impostor.received
            assert received.startswith(f"{CHALLENGE} None ")
            assert PROMPT not in received and facts["secret"] not in received


def test_a_proof_that_is_too_long_or_nested_is_none():
    for filling in (b"[" * 4_000, b'{"proof": "a"}' + b" " * 5_000):
        with Impostor(0, "", filling) as impostor:
            thread = threading.Thread(target=impostor.handle_request)
            thread.start()
            with contextlib.closing(http.client.HTTPConnection(*impostor.server_address[:2])) as connection:
                assert announcements._answer(connection, CHALLENGE, {}, most=4_096) is None
            thread.join()


def test_files_of_servers_that_are_gone_or_of_others_are_ignored(run, tmp_path):
    folder = tmp_path / "firth"
    with served(run) as server:
        (path,) = folder.iterdir()
        facts = json.loads(path.read_text())
    model = facts["models"][0]["path"]
    assert not path.exists()
    path.write_text(json.dumps(facts))
    assert server_of(model) is None
    with served(run) as other:
        nonce = {"nonce": "0" * 64}
        for body, status in ((nonce, 200), ({**nonce, "more": 1}, 400), ({**nonce, "more": " " * 1024}, 413)):
            assert httpx.post(f"{other.address}{CHALLENGE}", json=body).status_code == status
        # Its port, and another process's name.
        path.write_text(json.dumps({**facts, "address": other.address}))
        for each in folder.iterdir():
            if each != path:
                each.unlink()
        assert other.address != server.address and server_of(model) is None
        path.write_text("{")
        assert server_of(model) is None
        path.write_text(json.dumps({**facts, "process": 2**22 + 1}))
        other.models.reload()
        assert not path.exists() and server_of(model).address == other.address
        folder.chmod(0o777)
        assert server_of(model) is None
        folder.chmod(0o700)
