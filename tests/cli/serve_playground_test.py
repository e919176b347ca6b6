"""`firth playground` from its options to the page."""

import threading

import httpx
from typer.testing import CliRunner

from firth.cli.main import app
from firth.serving.server.process import ServerProcess
from tests.serving.server.playground.served import repeating


def test_page_is_served_at_the_printed_address(made_once, monkeypatch):
    run, opened, pages = ServerProcess.run, [], []

    def asked(server):
        thread = threading.Thread(target=run, args=(server,))
        thread.start()
        try:
            pages.append(httpx.get(opened[0]))
            described = f"{opened[0]}/description.json"
            pages.append(httpx.get(described))
            pages.append(httpx.get(described, headers={"Authorization": "Bearer secret"}))
        finally:
            server.stop()
            thread.join()

    monkeypatch.setattr(ServerProcess, "run", asked)
    monkeypatch.setattr("typer.launch", opened.append)
    arguments = ["playground", f"demo={repeating(made_once, monkeypatch)}", "--open", "--token", "secret"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert opened and opened[0].endswith("/playground") and opened[0] in done.stdout
    assert [each.status_code for each in pages] == [200, 401, 200]
    assert pages[0].headers["content-type"].startswith("text/html")
    assert [each["name"] for each in pages[2].json()["models"]] == ["demo"]
