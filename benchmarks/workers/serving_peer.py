"""A server as users of transformers write one: a model of a Hugging Face folder behind an ASGI server.

    python -m benchmarks.workers.serving_peer FOLDER embed|classify torch|onnxruntime

Requests that arrive while a batch is computed are computed together, by near length, padded to their longest:
what users add to such a server. It answers `/v1/embeddings` and `/v1/classify` as firth does and prints its
port.
"""

import asyncio
import base64
import concurrent.futures
import pathlib
import socket
import sys

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

MOST_ROWS, LONGEST = 32, 512


class TorchModel:
    """The model on torch."""

    def __init__(self, folder: str, task: str) -> None:
        import torch

        self._torch = torch
        kind = AutoModel if task == "embed" else AutoModelForSequenceClassification
        self.model = kind.from_pretrained(folder).eval()

    def __call__(self, inputs: dict[str, np.ndarray]) -> np.ndarray:
        """Returns the last states, or the logits."""
        with self._torch.inference_mode():
            found = self.model(**{name: self._torch.from_numpy(each) for name, each in inputs.items()})
        return found[0].numpy()


class OnnxModel:
    """The model on onnxruntime, exported from torch."""

    def __init__(self, folder: str, task: str) -> None:
        import onnxruntime
        import torch

        path = pathlib.Path(folder) / f"{task}.onnx"
        if not path.exists():
            names = ["input_ids", "attention_mask", "token_type_ids"]
            model = TorchModel(folder, task).model

            class ByName(torch.nn.Module):
                """Traced without the decorators of `forward`, whose arguments an exporter fills by place."""

                def __init__(self):
                    super().__init__()
                    self.model = model

                def forward(self, *values):
                    return self.model(**dict(zip(names, values)), return_dict=False)[0]

            example = tuple(torch.ones(2, 8, dtype=torch.int64) for _ in names)
            axes = {name: {0: "rows", 1: "tokens"} for name in names}
            torch.onnx.export(
                ByName().eval(),
                example,
                str(path),
                input_names=names,
                dynamic_axes=axes,
                dynamo=False,
                output_names=["found"],
            )
        self._session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])

    def __call__(self, inputs: dict[str, np.ndarray]) -> np.ndarray:
        """Returns the last states, or the logits."""
        return self._session.run(None, inputs)[0]


class Batches:
    """Computes texts of several requests together."""

    def __init__(self, folder: str, task: str, library: str) -> None:
        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        self._model = {"torch": TorchModel, "onnxruntime": OnnxModel}[library](folder, task)
        self._task = task
        self._pool = concurrent.futures.ThreadPoolExecutor(1)
        self._waiting: list[tuple[str, asyncio.Future]] = []
        self._arrived = asyncio.Event()

    async def answer(self, texts: list[str]) -> list[np.ndarray]:
        """Returns the vector or the class probabilities of each text."""
        loop = asyncio.get_running_loop()
        asked = [(text, loop.create_future()) for text in texts]
        self._waiting += asked
        self._arrived.set()
        return await asyncio.gather(*(future for _, future in asked))

    async def work(self) -> None:
        """Computes batches for ever."""
        loop = asyncio.get_running_loop()
        while True:
            await self._arrived.wait()
            self._waiting.sort(key=lambda each: len(each[0]))
            batch, self._waiting = self._waiting[:MOST_ROWS], self._waiting[MOST_ROWS:]
            if not self._waiting:
                self._arrived.clear()
            found = await loop.run_in_executor(self._pool, self._compute, [text for text, _ in batch])
            for (_, future), each in zip(batch, found):
                if not future.cancelled():
                    future.set_result(each)

    def _compute(self, texts: list[str]) -> np.ndarray:
        inputs = dict(
            self._tokenizer(texts, padding=True, truncation=True, max_length=LONGEST, return_tensors="np")
        )
        inputs = {name: each.astype(np.int64) for name, each in inputs.items()}
        found = self._model(inputs)
        if self._task == "embed":
            mask = inputs["attention_mask"][..., None]
            return (found * mask).sum(1) / mask.sum(1)
        exponents = np.exp(found - found.max(-1, keepdims=True))
        return exponents / exponents.sum(-1, keepdims=True)


def app_of(batches: Batches) -> Starlette:
    """Returns the application."""

    async def embeddings(request: Request) -> JSONResponse:
        given = (await request.json())["input"]
        found = await batches.answer([given] if isinstance(given, str) else given)
        data = [
            {"index": place, "embedding": base64.b64encode(each.astype("<f4").tobytes()).decode()}
            for place, each in enumerate(found)
        ]
        return JSONResponse({"object": "list", "data": data})

    async def classify(request: Request) -> JSONResponse:
        given = (await request.json())["input"]
        found = await batches.answer([given] if isinstance(given, str) else given)
        return JSONResponse({"data": [{"probs": each.tolist()} for each in found]})

    return Starlette(
        routes=[
            Route("/v1/embeddings", embeddings, methods=["POST"]),
            Route("/v1/classify", classify, methods=["POST"]),
        ]
    )


async def serve(folder: str, task: str, library: str) -> None:
    """Serves until the process is ended."""
    batches = Batches(folder, task, library)
    working = asyncio.create_task(batches.work())
    # asyncio switches Nagle's algorithm off for sockets that say their protocol alone; with it on, an answer
    # waits 40 ms for the client's acknowledgement.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen(100)
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(app_of(batches), log_config=None, access_log=False, lifespan="off")
    await uvicorn.Server(config).serve(sockets=[listening])
    working.cancel()


if __name__ == "__main__":
    asyncio.run(serve(*sys.argv[1:]))
