"""`firth predict` and `firth generate`, asked with a server of the model and without."""

import contextlib
import functools
import http.client
import http.server
import json
import os
import pathlib
import shutil
import ssl
import threading
import time
from unittest import mock

import httpx
import numpy as np
import pytest

from firth.generation.engines import load_generator
from firth.serving import Client
from firth.serving.server import announcements
from firth.serving.server.announcements import CHALLENGE, server_of
from firth.serving.server.process import ServerProcess
from firth.serving.server.settings import ServerSettings
from firth.serving.server.sources import ModelSource
from tests.cli.requests.served_run import made_run
from tests.generation.cases import eagerly
from tests.serving.server.models_test import save_plain
from tests.serving.server.process_tls_test import certificate_files

NAME, PROMPT = "tiny", "the fox"


@pytest.fixture(scope="module", autouse=True)
def _loaded_once():
    """Loads the bundle once for all commands that write with it."""
    with mock.patch("firth.generation.engines.load_generator", functools.cache(load_generator)):
        yield


@pytest.fixture(scope="module")
def home(made_once, tmp_path_factory):
    """The folder of the command, with the folder of a run."""
    folder = tmp_path_factory.mktemp("home")
    made_run(made_once, folder / "firth-runs" / NAME)
    return folder


@pytest.fixture
def run(firth, home, monkeypatch):
    """The folder of the run. What is written here is written op by op, which takes less than a trace."""
    monkeypatch.chdir(home)
    monkeypatch.delenv("FIRTH_SERVER_TOKEN", raising=False)
    with eagerly():
        yield home / "firth-runs" / NAME


@contextlib.contextmanager
def files_in(folder: pathlib.Path):
    """Keeps the files of servers in a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(folder))
        yield folder / "firth"


@contextlib.contextmanager
def served(model: pathlib.Path, folder: pathlib.Path, **settings):
    """Serves a model as the command does, on a free port, with its file in a folder."""
    made = ServerSettings(port=0, reload_seconds=0.0, **settings)
    server = ServerProcess([ModelSource("other_name", str(model))], made)
    thread = threading.Thread(target=server.run)
    try:
        with files_in(folder) as files:
            thread.start()
            while thread.is_alive() and not any(
                server.address in each.read_text() for each in files.glob("*.json")
            ):
                time.sleep(0.02)
        assert thread.is_alive()
        yield server
    finally:
        with files_in(folder):
            server.stop()
            thread.join()


@pytest.fixture(scope="module")
def open_server(home):
    with served(home / "firth-runs" / NAME / "serving", home / "open") as server:
        yield server


@pytest.fixture
def server(home, open_server):
    """A server of the run, which everyone may ask."""
    with files_in(home / "open"):
        yield open_server


TOKEN = "password"


@pytest.fixture(scope="module")
def guarded_server(home):
    certificate, key = certificate_files(home)
    model = home / "firth-runs" / NAME / "serving"
    with served(model, home / "guarded", token=TOKEN, tls_certificate=certificate, tls_key=key) as server:
        yield server, certificate


@pytest.fixture
def guarded(home, guarded_server):
    """A server of the run with a token and TLS, the certificate that it is trusted by, and its file."""
    with files_in(home / "guarded") as files:
        yield *guarded_server, next(files.glob("*.json"))


# All that a request may ask of a slot, and a text that ends where the model's row does.
GENERATED = (
    (
        *("--max-new-tokens", "6", "--temperature", "1.5", "--top-k", "9", "--seed", "3", "--n", "3"),
        *("--stop", "o", "--stop", "a", "--presence-penalty", "1"),
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


def test_texts_are_those_of_the_bundle(firth, run, server, tmp_path):
    def texts(*arguments):
        return [firth("generate", NAME, PROMPT, "dogs", *each, "--json", *arguments) for each in GENERATED]

    alone, asked = texts("--no-server"), texts()
    assert all(each.exit_code == 0 and each.stderr == "" for each in alone), alone[0].output
    assert [each.stdout for each in asked] == [each.stdout for each in alone]
    assert all(each.stderr.count("\n") == 1 and server.address in each.stderr for each in asked)
    assert {json.loads(line)["ended"] for each in asked for line in each.stdout.splitlines()} > {"stop"}
    for arguments in ALONE:
        quiet = firth("generate", NAME, PROMPT, *arguments, "--no-server")
        assert quiet.exit_code == 0 and server.address not in quiet.stderr, arguments
        assert server.address not in firth("generate", NAME, PROMPT, *arguments).stderr, arguments
    for prompt in REFUSED:
        result = firth("generate", NAME, prompt)
        assert result.exit_code == 2 and server.address not in result.stderr
    # No server has a file in this folder.
    with files_in(tmp_path):
        plain = firth("generate", NAME, PROMPT, "--max-new-tokens", "3")
    assert plain.exit_code == 0 and plain.stderr == ""


def test_predictions_are_those_of_the_model(firth, run, server, monkeypatch):
    # The exported model is loaded once for the commands that ask it.
    monkeypatch.setattr("firth.serving.Client", functools.cache(Client))

    def found(*arguments):
        result = firth("predict", NAME, "score", PROMPT, "dogs", "--json", *arguments)
        assert result.exit_code == 0, result.output
        return result.stderr, [json.loads(line) for line in result.stdout.splitlines()]

    said, asked = found()
    assert server.address in said
    quiet, alone = found("--no-server")
    assert server.address not in quiet
    assert [each.keys() for each in asked] == [each.keys() for each in alone]
    for one, other in zip(asked, alone):
        assert one["text"] == other["text"]
        np.testing.assert_allclose(one["log_probability"], other["log_probability"], rtol=0, atol=1e-5)
    result = firth("predict", NAME, "scroe", PROMPT)
    assert result.exit_code == 1 and "score" in result.stderr and server.address not in result.stderr


@pytest.fixture
def restored(run):
    """The run, which is afterwards as it was."""
    summary, model = run / "run.json", run / "serving" / "7" / "saved_model.pb"
    described = model.parent / "assets.extra" / "firth.json"
    before, description = summary.read_text(), described.read_text()
    # The server knows files by their times too.
    changed = {each: each.stat().st_mtime_ns for each in (model, described)}
    yield run
    summary.write_text(before)
    described.write_text(description)
    for path, time_of in changed.items():
        os.utime(path, ns=(time_of, time_of))
    shutil.rmtree(run / "serving" / "8", ignore_errors=True)


def test_another_model_than_the_server_has_is_loaded(firth, restored, server):
    run, ask = restored, ("generate", NAME, PROMPT, "--max-new-tokens", "2")
    # The last run has made another bundle, and pushed none.
    summary = json.loads((run / "run.json").read_text())
    for changed in ({"pushed": None}, {"bundle": "elsewhere"}, {"fresh": ["heads/lm_head/bias"]}):
        (run / "run.json").write_text(json.dumps({**summary, **changed}))
        assert firth(*ask).stderr == "", changed
    (run / "run.json").write_text(json.dumps(summary))
    assert server.address in firth(*ask).stderr
    # An earlier version of firth has described it.
    (run / "serving" / "7" / "assets.extra" / "firth.json").write_text("{}")
    found = firth(*ask)
    assert found.exit_code == 0 and found.stderr == ""
    # Files that were written anew since the server has read them.
    model = run / "serving" / "7" / "saved_model.pb"
    os.utime(model, ns=(1, 1))
    assert server.address not in firth(*ask).stderr
    (run / "serving" / "8").mkdir()
    assert server_of(str(run / "serving" / "8")) is None


def test_a_server_is_asked_where_its_certificate_is_trusted_and_its_token_known(
    firth, run, guarded, tmp_path, monkeypatch
):
    server, certificate, file = guarded
    ask = ("generate", NAME, PROMPT, "--max-new-tokens", "2")
    other, _ = certificate_files(tmp_path)
    assert server.address.startswith("https://") and TOKEN not in file.read_text()
    alone = firth(*ask, "--no-server")
    # Each wrong in one way.
    for trusted, token in (
        (certificate, None),
        (certificate, "other"),
        (None, TOKEN),
        (other, TOKEN),
        (certificate, TOKEN),
    ):
        for name, value in (("SSL_CERT_FILE", trusted), ("FIRTH_SERVER_TOKEN", token)):
            monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(name, value)
        result = firth(*ask)
        assert result.exit_code == 0 and result.stdout == alone.stdout
        assert (server.address in result.stderr) is (trusted == certificate and token == TOKEN), token


class Impostor(http.server.ThreadingHTTPServer):
    """A server that has the port of another one, and passes challenges on to a third where it knows one."""

    def __init__(self, port: int, passed_on_to: str, filling: bytes = b"") -> None:
        self.received: list[str] = []
        self.passed_on: list[int] = []
        impostor = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                impostor.received.append(f"{self.path} {self.headers['Authorization']} {body.decode()}")
                proof = {"proof": "0" * 64, "answers": [{"text": "stolen", "ended": "stop"}]}
                if passed_on_to and self.path == CHALLENGE:
                    trusted = ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE"))
                    answer = httpx.post(f"{passed_on_to}{CHALLENGE}", content=body, verify=trusted)
                    impostor.passed_on.append(answer.status_code)
                    proof = answer.json()
                content = filling or json.dumps(proof).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_) -> None:
                pass

        super().__init__(("127.0.0.1", port), Handler)


@contextlib.contextmanager
def impostor_of(file: pathlib.Path, passed_on_to: str):
    """Gives an impostor whose address is in the file of a server, which is afterwards as it was."""
    before = file.read_text()
    with Impostor(0, passed_on_to) as impostor:
        thread = threading.Thread(target=impostor.serve_forever, args=(0.01,))
        thread.start()
        # The process still runs, and its file names the port that another one has.
        address = f"http://127.0.0.1:{impostor.server_address[1]}"
        file.write_text(json.dumps({**json.loads(before), "address": address}))
        try:
            yield impostor
        finally:
            file.write_text(before)
            impostor.shutdown()
            thread.join()


def test_another_server_on_the_port_gets_neither_prompt_nor_token(firth, run, guarded, monkeypatch):
    server, certificate, file = guarded
    monkeypatch.setenv("FIRTH_SERVER_TOKEN", TOKEN)
    monkeypatch.setenv("SSL_CERT_FILE", certificate)
    assert file.stat().st_mode & 0o777 == 0o600
    secret = json.loads(file.read_text())["secret"]
    for passed_on_to in ("", server.address):
        with impostor_of(file, passed_on_to) as impostor:
            result = firth("generate", NAME, PROMPT, "--max-new-tokens", "2")
        assert result.exit_code == 0 and "stolen" not in result.stdout and result.stderr == ""
        assert impostor.passed_on == [200] * bool(passed_on_to)
        (received,) = impostor.received
        assert received.startswith(f"{CHALLENGE} None ")
        assert PROMPT not in received and secret not in received


def test_a_challenge_that_another_address_passes_on_is_not_met(firth, run, home, server):
    """Both addresses are of HTTP, so that nothing but the port tells them apart."""
    file = next((home / "open" / "firth").glob("*.json"))
    with impostor_of(file, server.address) as impostor:
        result = firth("generate", NAME, PROMPT, "--max-new-tokens", "2")
    assert result.exit_code == 0 and "stolen" not in result.stdout and result.stderr == ""
    assert impostor.passed_on == [200] and len(impostor.received) == 1


def test_a_proof_that_is_too_long_or_nested_is_none():
    for filling in (b"[" * 4_000, b'{"proof": "a"}' + b" " * 5_000):
        with Impostor(0, "", filling) as impostor:
            thread = threading.Thread(target=impostor.handle_request)
            thread.start()
            with contextlib.closing(http.client.HTTPConnection(*impostor.server_address[:2])) as connection:
                assert announcements._answer(connection, CHALLENGE, {}, most=4_096) is None
            thread.join()


def test_files_of_servers_that_are_gone_or_of_others_are_ignored(tmp_path):
    served_model = tmp_path / "plain"
    save_plain(served_model / "1")
    with files_in(tmp_path) as folder:
        with served(served_model, tmp_path) as server:
            (path,) = folder.iterdir()
            facts = json.loads(path.read_text())
        model = facts["models"][0]["path"]
        assert os.listdir(folder) == []
        path.write_text(json.dumps(facts))
        assert server_of(model) is None
        with served(served_model, tmp_path) as other:
            nonce = {"nonce": "0" * 64}
            for body, status in (
                (nonce, 200),
                ({**nonce, "more": 1}, 400),
                ({**nonce, "more": " " * 1024}, 413),
            ):
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
