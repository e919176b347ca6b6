"""transformers' worker of `benchmarks.structured`: `generate` driven by llguidance or by outlines."""

import importlib.metadata
import json
import os
import pathlib
import platform
import time

import torch
import transformers

from benchmarks.workers.generation_sizes import GenerationSize
from benchmarks.workers.generation_transformers import MODELS
from benchmarks.workers.structured_schemas import END, prompts


class _LLGuidance:
    """Matchers of llguidance, by its functions for torch."""

    package = "llguidance"

    def __init__(self, texts):
        import llguidance
        from llguidance import torch as kernels

        class Vocabulary:
            eos_token_id, bos_token_id = END, None

            def __init__(self):
                self.tokens = [b"<%d>" % row if text is None else text for row, text in enumerate(texts)]
                self.special_token_ids = [row for row, text in enumerate(texts) if text is None]
                self.known = {text: row for row, text in enumerate(texts) if text is not None}

            def __call__(self, text):
                rest, ids = text if isinstance(text, bytes) else text.encode(), []
                while rest:
                    size = next(
                        size for size in range(min(len(rest), 64), 0, -1) if rest[:size] in self.known
                    )
                    ids.append(self.known[rest[:size]])
                    rest = rest[size:]
                return ids

        self._library, self._kernels, self._rows = llguidance, kernels, len(texts)
        self._tokenizer = llguidance.LLTokenizer(
            llguidance.TokenizerWrapper(Vocabulary()), n_vocab=len(texts)
        )
        self._executor = llguidance.LLExecutor()

    def compiled(self, schema):
        options = {"whitespace_flexible": False}
        grammar = self._library.LLMatcher.grammar_from_json_schema(json.dumps(schema), overrides=options)
        return self._library.LLMatcher(self._tokenizer, grammar, log_level=0)

    def begun(self, compiled):
        return compiled.deep_copy()

    def words(self, batch):
        return self._kernels.allocate_token_bitmask(batch, self._rows)

    def fill(self, texts, words):
        pairs = [(each, row) for row, each in enumerate(texts)]
        self._kernels.fill_next_token_bitmask_par(self._executor, pairs, words)

    def accept(self, text, token):
        text.consume_token(token)

    def apply(self, scores, words):
        self._kernels.apply_token_bitmask_inplace(scores, words)


class _Outlines:
    """Guides of outlines-core, by its functions for torch."""

    package = "outlines_core"

    def __init__(self, texts):
        import outlines_core
        from outlines_core.kernels import torch as kernels

        self._library, self._kernels, self._rows = outlines_core, kernels, len(texts)
        by_text: dict[bytes, list[int]] = {}
        for row, text in enumerate(texts):
            if text is not None:
                by_text.setdefault(text, []).append(row)
        self._vocabulary = outlines_core.Vocabulary(END, by_text)

    def compiled(self, schema):
        from outlines_core import json_schema

        expression = json_schema.build_regex_from_schema(json.dumps(schema), whitespace_pattern="")
        return self._library.Index(expression, self._vocabulary)

    def begun(self, compiled):
        return self._library.Guide(compiled)

    def words(self, batch):
        return torch.cat([self._kernels.allocate_token_bitmask(self._rows) for _ in range(batch)])

    def fill(self, texts, words):
        for row, each in enumerate(texts):
            self._kernels.fill_next_token_bitmask(each, words[row : row + 1])

    def accept(self, text, token):
        text.advance(token, return_tokens=False)

    def apply(self, scores, words):
        self._kernels.apply_token_bitmask_inplace(scores, words)


ENGINES = {"llguidance": _LLGuidance, "outlines": _Outlines}


class _Held(transformers.LogitsProcessor):
    """Holds each row of `generate` to a constraint."""

    def __init__(self, engine, texts, given):
        self._engine, self._texts, self._given = engine, texts, given
        self._words = engine.words(len(texts))
        self._ended = [False] * len(texts)

    def __call__(self, ids, scores):
        if ids.shape[1] > self._given:
            for row, token in enumerate(ids[:, -1].tolist()):
                self._ended[row] |= token == END
                if not self._ended[row]:
                    self._engine.accept(self._texts[row], token)
        self._engine.fill(self._texts, self._words)
        self._engine.apply(scores, self._words)
        return scores


class Model:
    """Writes JSON after prompts; see `benchmarks.workers.structured_work`.

    Args:
        way: Name of the engine.
    """

    def __init__(self, way: str, size: GenerationSize, folder: str):
        path = pathlib.Path(folder, "assets.extra", "token_bytes.json")
        described = json.loads(path.read_text())["texts"]
        texts = [None if each is None else each.encode("latin-1") for each in described]
        torch.manual_seed(0)
        torch.set_num_threads(os.cpu_count())
        self._size, self._compiled = size, {}
        self._engine = ENGINES[way](texts)
        self._model = MODELS[size.family](size).eval()
        self.versions = {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            self._engine.package: importlib.metadata.version(self._engine.package),
        }

    def compile(self, name, schema):
        """Returns the seconds in which a schema was made ready."""
        begin = time.perf_counter()
        self._compiled[name] = self._engine.compiled(schema)
        self._engine.begun(self._compiled[name])
        return time.perf_counter() - begin

    def begun(self, name, batch):
        """Returns texts without a token."""
        return [self._engine.begun(self._compiled[name]) for _ in range(batch)]

    def masks(self, texts):
        """Returns the masks of texts."""
        words = self._engine.words(len(texts))
        self._engine.fill(texts, words)
        return words.numpy()

    def accept(self, texts, row, token):
        """Takes the next token of a text."""
        self._engine.accept(texts[row], token)

    def write(self, name, batch, most):
        """Returns the steps of the batch."""
        ids = torch.tensor(prompts(self._size, batch))
        torch.manual_seed(1)
        held = [] if name is None else [_Held(self._engine, self.begun(name, batch), ids.shape[1])]
        with torch.inference_mode():
            made = self._model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                do_sample=True,
                top_k=0,
                min_new_tokens=most if name is None else None,
                max_new_tokens=most,
                eos_token_id=END,
                pad_token_id=END,
                logits_processor=transformers.LogitsProcessorList(held),
            )
        return made.shape[1] - ids.shape[1]
