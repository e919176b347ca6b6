"""The playground on this machine: exported models, and the page in a server of its own."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator, Mapping

import tensorflow as tf
import uvicorn
from starlette.applications import Starlette
from starlette.testclient import TestClient

from firth.serving.saved_model import export
from firth.serving.server.app import make_app
from firth.serving.server.metrics import Metrics
from firth.serving.server.models import Models
from firth.serving.server.playground import page
from firth.serving.server.settings import ServerSettings
from firth.serving.server.sources import ModelSource
from firth.serving.signature import Answer, Output, Signature
from tests.exported_model import RECIPE, make_served

# Markup that would run in a page which takes it for its own.
MARKUP = "<img src=x onerror=\"document.title='run'\"><b>bold</b>"
_OF_LABELS = ("batch", "labels")
REPEATED = Signature(
    lambda served, text: {
        "label": text,
        "probability": tf.ones_like(tf.strings.length(text), tf.float32) / 4.0,
        "labels": tf.stack([text, text], axis=1),
        "probabilities": tf.ones([tf.size(text), 2]) * [0.25, 0.75],
        "logit": tf.fill([tf.size(text)], float("-inf")),
    },
    {
        "label": Output("the text itself", "string"),
        "probability": Output("a quarter"),
        "labels": Output("the text, twice", "string", _OF_LABELS),
        "probabilities": Output("a quarter and the rest", shape=_OF_LABELS),
        "logit": Output("a number that JSON does not have"),
    },
    "Repeats a text.",
    example={"text": "a text"},
    answer=Answer({}, lines="{{ label }} {{ '%.2f' % probability }}"),
)


def repeating(made_once, monkeypatch) -> str:
    """Returns the folder of a model that answers with the text that it is asked about."""
    monkeypatch.setattr("firth.serving.saved_model.text_signatures", lambda *_: {"repeat": REPEATED})
    monkeypatch.setattr("firth.serving.warmup.text_signatures", lambda *_: {"repeat": REPEATED})

    def make(folder):
        served = make_served(RECIPE)
        export(served.model, served.tokenizer, RECIPE, None, str(folder))

    return str(made_once("model_that_repeats", make))


@contextlib.contextmanager
def app_of(directories: Mapping[str, str]) -> Iterator[Starlette]:
    """Gives the application of a server.

    Args:
        directories: Folders of the models by name.
    """
    settings, metrics = ServerSettings(reload_seconds=0), Metrics()
    sources = [ModelSource(name, directory) for name, directory in directories.items()]
    with contextlib.closing(Models(sources, settings, metrics)) as models:
        yield make_app(models, settings, metrics)


@contextlib.contextmanager
def asking(directories: Mapping[str, str]) -> Iterator[TestClient]:
    """Gives a client of the playground's routes alone."""
    with app_of(directories) as app:
        yield TestClient(app)


@contextlib.contextmanager
def address(directories: Mapping[str, str]) -> Iterator[str]:
    """Serves the playground on a free port, and gives its address."""
    with app_of(directories) as app, address_of(app) as found:
        yield found


@contextlib.contextmanager
def address_of(app: Starlette) -> Iterator[str]:
    """Serves an application on a free port, and gives the address of its playground."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}{page.PATH}"
        finally:
            server.should_exit = True
            thread.join()
