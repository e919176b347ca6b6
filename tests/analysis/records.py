"""A made-up run, with text in it that a page must escape."""

from firth.analysis.record import ArtifactRecord, FilledMask, RunRecord
from firth.recipes import load_recipe

HOSTILE = "<script>alert('x')</script>"


def funnel_row(step, source, came, dropped=(), rejected=()):
    lost = [
        {reason: {"documents": n, "bytes": 10 * n} for reason, n in pairs} for pairs in (dropped, rejected)
    ]
    kept = came - sum(n for _, n in (*dropped, *rejected))
    return {
        "step": step,
        "source": source,
        "documents_in": came,
        "bytes_in": 10 * came,
        "documents_kept": kept,
        "bytes_kept": 10 * kept,
        "dropped": lost[0],
        "rejected": lost[1],
    }


def corpus_report():
    lengths = {"lower": [0, 1, 2, 4], "documents": [0, 1, 3, 5]}
    return {
        "funnel": [
            funnel_row("read", "books", 10, rejected=[("too_long", 1)]),
            funnel_row("read", "news", 5),
            funnel_row("length", "books", 9, dropped=[("too_few_words", 2)]),
            funnel_row("length", "news", 5, dropped=[("too_few_words", 1)]),
        ],
        "splits": [{"split": "train", "source": "books", "licence": HOSTILE, "documents": 7, "bytes": 70}],
        "dropped_examples": [
            {
                "step": "length",
                "reason": "too_few_words",
                "source": "books",
                "uri": HOSTILE,
                "excerpt": HOSTILE,
            }
        ],
        "lengths": {"read_words": lengths, "cleaned_words": lengths},
    }


def serving_report(ok=True):
    case = {"name": "one", "batch": 1, "ok": ok, "problem": None if ok else HOSTILE, "seconds": 0.1}
    return {
        "blessed": ok,
        "reasons": [] if ok else [HOSTILE],
        "signatures": {"fill_mask": {"cases": [case]}},
        "ops": [{"name": "MatMul", "library": "tensorflow"}],
        "size_bytes": 1000,
        "load_seconds": 1.0,
    }


def run_record():
    history = [
        {"step": step, "loss": 9.0 - step / 10, "mlm_loss": 8.0 - step / 10, "nsp_loss": 0.7,
         "learning_rate": 1e-3, "tokens_per_second": 1000.0, "tokens": 512 * step}
        for step in range(1, 11)
    ]  # fmt: skip
    metrics = {"mlm_perplexity": 120.5, "unigram_perplexity": 840.25, "perplexity_over_unigram": 0.1434}
    candidates = [("cat", 0.5), ("dog", 0.25), (HOSTILE, 0.125)]
    return RunRecord(
        recipe=load_recipe("demo").model_copy(update={"description": HOSTILE}),
        parameters={"encoder": 1000, "masked_lm_head": 234, "total": 1000, "total_with_heads": 1234},
        corpus=corpus_report(),
        vocabulary=("[PAD]", "[UNK]", "the", "cat", "##s"),
        sequence_counts={"train": {"rows": 3, "tokens": 300}, "eval": {"rows": 1, "tokens": 90}},
        history=history,
        evaluation={"overall": metrics, f"source={HOSTILE}": metrics},
        blessed=True,
        serving=serving_report(),
        filled_masks=[FilledMask("the", "dog", f"sat {HOSTILE}", "books", candidates)],
        objective_rates={
            "kind": "masked_lm",
            "rows": 2000,
            "ok": True,
            "rates": [{"name": "selected", "measured": 0.15, "lower": 0.14, "upper": 0.16, "ok": True}],
            "histograms": {"span_lengths": {"1": 90, "2": 10}},
        },
        pushed=True,
        timings={"Trainer": {"state": "finished", "seconds": 75.0, "peak_bytes": 2_000_000_000}},
        versions={"python": "3.10"},
        artifacts=[ArtifactRecord(7, "model", "Model", "pipeline/Trainer/model/7", "sha256:abc")],
    )
