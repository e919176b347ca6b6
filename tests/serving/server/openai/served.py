"""OpenAI's official client of tiny exported models: one that writes in slots, and an encoder."""

import functools
import pathlib
import shutil

import openai
from starlette.testclient import TestClient

from firth.serving.exported_model import FOLDER
from firth.serving.server.app import make_app
from firth.serving.server.models import Models
from firth.serving.server.settings import ServerSettings
from firth.serving.server.sources import ModelSource
from firth.serving.warmup import FILE
from tests.exported_model import exported_model
from tests.serving.slots.models import exported_without_warmup

WRITER, ENCODER = "writer", "encoder"


def models_of(made_once) -> Models:
    """Returns both models, which are loaded once.

    Args:
        made_once: The fixture of this name.
    """
    # `../playground/page_test.py` has a server that warms up.
    return _models(exported_without_warmup(made_once), cold_encoder(made_once))


def cold_encoder(made_once) -> str:
    """Returns the folder of a copy of the exported model without its warm-up requests.

    Args:
        made_once: The fixture of this name.
    """
    return str(made_once("encoder_cold", _encoder))


def _encoder(folder: pathlib.Path) -> None:
    shutil.copytree(exported_model().directory, folder)
    (folder / FOLDER / FILE).unlink()


@functools.cache
def _models(writer: str, encoder: str) -> Models:
    sources = [ModelSource(WRITER, writer), ModelSource(ENCODER, encoder)]
    return Models(sources, ServerSettings())


def http_of(made_once) -> TestClient:
    """Returns a client of the addresses of OpenAI's API, of encoders, and of tokens."""
    return TestClient(make_app(models_of(made_once), ServerSettings()))


def client_of(made_once) -> openai.OpenAI:
    """Returns OpenAI's client of them."""
    http = http_of(made_once)
    return openai.OpenAI(base_url=f"{http.base_url}/v1", api_key="none", http_client=http, max_retries=0)
