"""`firth serve` as a process of its own, and what it answers when it cannot start."""

import inspect
import json
import os
import signal
import subprocess
import sys
import threading
import time

import httpx
import pytest

from firth.cli import serve
from firth.serving.server.settings import ServerSettings
from tests.fresh_process import run_python
from tests.models.table import MODELS, TRAINED
from tests.serving.server.models_test import save_plain

# The command, which prints at its end the packages that it has loaded although they are hidden from Keras.
SERVES = """
import atexit, runpy, sys
from firth.cli.output import OF_MODELS
atexit.register(lambda: print("loaded:", *sorted({*OF_MODELS} & sys.modules.keys())))
runpy.run_module("firth", run_name="__main__", alter_sys=True)
"""


# The command, which gets the signal once it is ready.
ENDED = """
import os, signal, sys, threading, time
import httpx
from firth.cli.main import app
from firth.serving.server.process import ServerProcess

def is_ready(address):
    try:
        return httpx.get(f"{address}/readyz").status_code == 200
    except httpx.TransportError:
        return False

def end(address):
    try:
        while not is_ready(address):
            time.sleep(0.05)
    finally:
        os.kill(os.getpid(), signal.SIGTERM)

def run(server, run=ServerProcess.run):
    threading.Thread(target=end, args=(server.address,)).start()
    run(server)

ServerProcess.run = run
app(["serve", f"small={sys.argv[1]}", "--port", "0"])
"""


def test_a_server_ends_with_status_0_after_sigterm(tmp_path):
    save_plain(tmp_path / "tiny" / "7")
    ended = run_python(["-c", ENDED, str(tmp_path / "tiny")])
    logged = [json.loads(each) for each in ended.stderr.splitlines() if each.startswith("{")]
    assert ended.returncode == 0, ended.stderr
    assert {each["event"] for each in logged} >= {"serving", "version", "request", "draining", "ended"}


# `tests/serving/server/process_tls_test.py` asks a server that runs in a thread.
@pytest.mark.repeated
def test_a_server_is_asked_and_ends_with_status_0_after_sigterm(tmp_path):
    save_plain(tmp_path / "tiny" / "7")
    save_plain(tmp_path / "tiny" / "8", "score")
    command = [sys.executable, "-c", SERVES, "serve", f"small={tmp_path / 'tiny'}", "--port", "0"]
    command += ["--label", "small:stable=7"]
    environment = {**os.environ, "FIRTH_SERVER_TOKEN": "secret"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, **pipes) as process:
        try:
            line = process.stdout.readline()
            assert line.startswith("small: version 8, http://127.0.0.1:")
            address = line.split()[-1].removesuffix("/v1/models/small")
            while httpx.get(f"{address}/readyz").status_code != 200:
                time.sleep(0.05)
            assert httpx.get(f"{address}/nowhere").status_code == 401
            bearer = {"Authorization": "Bearer secret"}
            for place, version in (("", "8"), ("/labels/stable", "7"), ("/versions/7", "7")):
                found = httpx.get(f"{address}/v1/models/small{place}/metadata", headers=bearer).json()
                assert found["model_spec"]["version"] == version, place
            asked = [
                httpx.post(
                    f"{address}/v1/models/small{label}:predict",
                    json={"signature_name": signature, "instances": [{"text": "the fox"}]},
                    headers=bearer,
                )
                for label, signature in (
                    ("", "score"),
                    ("/labels/stable", "ask"),
                    ("/labels/stable", "score"),
                    ("/labels/canary", "score"),
                )
            ]
            assert [each.status_code for each in asked] == [200, 200, 400, 400]
            assert asked[0].json() == asked[1].json() == {"predictions": [7]} and "canary" in asked[3].text
            process.send_signal(signal.SIGTERM)
            printed, errors = process.communicate()
        finally:
            # Popen would wait for the server forever.
            process.kill()
    logged = [json.loads(each) for each in errors.splitlines() if each.startswith("{")]
    assert process.returncode == 0 and printed.splitlines()[-1] == "loaded:"
    assert {each["event"] for each in logged} >= {"serving", "version", "request", "draining", "ended"}
    assert "secret" not in errors


def test_options_default_to_the_settings_of_a_server():
    options = inspect.signature(serve._serve).parameters
    settings = {name.removeprefix("max_"): each.default for name, each in ServerSettings.model_fields.items()}
    # No option sets it.
    del settings["batch_threads"]
    assert {name: options[name].default for name in settings} == settings


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        (("absent",), 2, "no run absent"),
        (("a=empty", "a=empty"), 2, "two models have the name a"),
        (("empty",), 1, "empty"),
        (("a\nb=empty",), 2, r"'a\nb'"),
        (("a=versions", "--label", "a"), 2, "a is not MODEL:LABEL=VERSION"),
        (("a=versions", "--label", "a:b=newest"), 2, "a:b=newest is not"),
        (("a=versions", "--label", "aa:b=3"), 2, "did you mean a?"),
        (("a=versions", "--label", "a:b=4"), 2, "a has no version 4; it has 5, 3"),
        (("a=versions", "--label", "a:b=3", "--label", "a:b=5"), 2, "a has two versions b"),
        (("a=plain",), 1, "has no signatures"),
        (("empty", "--tls-key", "key.pem"), 1, "together"),
        (("empty", "--dtype", "int8"), 2, "--dtype: only with --engine"),
        (("empty", "--engine", "ctranslat"), 2, "did you mean ctranslate2?"),
        (("empty", "--engine", "keras"), 2, "one of: ctranslate2"),
        (("absent", "--engine", "ctranslate2"), 2, "named 'absent'"),
        (("empty", "--tls-key", "text.pem", "--tls-certificate", "text.pem"), 1, "text.pem"),
    ],
)
def test_servers_that_cannot_start_name_the_reason_in_a_sentence(firth, tmp_path, arguments, code, named):
    import tensorflow as tf

    (tmp_path / "empty").mkdir()
    for version in ("3", "5"):
        (tmp_path / "versions" / version).mkdir(parents=True)
        (tmp_path / "versions" / version / "saved_model.pb").touch()
    (tmp_path / "text.pem").write_text("no certificate")
    if "a=plain" in arguments:
        tf.saved_model.save(tf.Module(), str(tmp_path / "plain"))
    result = firth("serve", *arguments, "--port", "0")
    assert result.exit_code == code and named in result.output
    assert result.output.count("error: ") == 1 and "Traceback" not in result.output


def test_bundles_are_served_by_an_engine_that_runs_them(firth, tmp_path, monkeypatch):
    pytest.importorskip("ctranslate2")
    from tests.interop.ctranslate2.exporting_test import written

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    bundles = {}
    for name in ("causal_lm", "masked_lm", "prefix_lm"):
        kind, objective = TRAINED[name]
        _, bundles[name] = written(MODELS[kind], objective, tmp_path / name)
    server = serve.start(
        [f"tiny={bundles['causal_lm']}"], tmp_path, logs=False, engine="ctranslate2", dtype="int8", port=0
    )
    running = threading.Thread(target=server.run)
    running.start()
    asked = {"model": "tiny", "prompt": "a b", "max_tokens": 2}
    found = httpx.post(f"{server.address}/v1/completions", json=asked).json()
    server.stop()
    running.join()
    assert found["usage"]["completion_tokens"] in (1, 2) and found["choices"][0]["finish_reason"]
    for name, named in (("masked_lm", "masked_lm writes no text"), ("prefix_lm", "cannot be expressed")):
        result = firth("serve", bundles[name], "--engine", "ctranslate2", "--port", "0")
        assert result.exit_code == 1 and named in result.output and result.output.count("error: ") == 1
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    result = firth("serve", bundles["causal_lm"], "--engine", "ctranslate2", "--port", "0")
    assert result.exit_code == 1 and "firth[ctranslate2]" in result.output


def test_packages_that_are_not_installed_are_named(firth, monkeypatch):
    monkeypatch.setitem(sys.modules, "starlette", None)
    result = firth("serve", "demo")
    assert result.exit_code == 1 and "firth[serve]" in result.output
