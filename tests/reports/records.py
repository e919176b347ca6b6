"""A made-up run, with text in it that a page must escape."""

from firth.recipes import load_recipe
from firth.reports.record import ArtifactRecord, FilledMask, RunRecord

HOSTILE = "<script>alert('x')</script>"


def funnel_row(step, source, came, dropped=(), rejected=()):
    lost = [
        {reason: {"documents": n, "bytes": 10 * n, "words": 2 * n} for reason, n in pairs}
        for pairs in (dropped, rejected)
    ]
    kept = came - sum(n for _, n in (*dropped, *rejected))
    return {
        "step": step,
        "source": source,
        "documents_in": came,
        "bytes_in": 10 * came,
        "words_in": 2 * came,
        "documents_kept": kept,
        "bytes_kept": 10 * kept,
        "words_kept": 2 * kept,
        "dropped": lost[0],
        "rejected": lost[1],
    }


def licence_row(licence, source, came, kept):
    sizes = {"documents": 1, "bytes": 10, "words": 2}
    rows = {"in": came, "kept": kept}
    named = {f"{unit}_{way}": count * size for way, count in rows.items() for unit, size in sizes.items()}
    return {"licence": licence, "source": source, **named}


def split_row(split, source, licence, count):
    sizes = {"documents": count, "bytes": 10 * count, "words": 2 * count}
    return {"split": split, "source": source, "licence": licence, **sizes}


def corpus_report():
    lengths = {"lower": [0, 1, 2, 4], "documents": [0, 1, 3, 5]}
    return {
        "funnel": [
            funnel_row("read", "books", 10, rejected=[("too_long", 1)]),
            funnel_row("read", "news", 5),
            funnel_row("length", "books", 9, dropped=[("too_few_words", 2)]),
            funnel_row("length", "news", 5, dropped=[("too_few_words", 1)]),
        ],
        "repeated_ids": [
            {"source": "news", "ids": 321, "documents": 765, "examples": [{"id": "2e1f", "uri": HOSTILE}]}
        ],
        "counts": [{"step": "pii", "source": HOSTILE, "name": "email", "count": 4321}],
        "splits": [
            {
                "split": "train",
                "source": "books",
                "licence": HOSTILE,
                "documents": 7,
                "bytes": 70,
                "words": 14,
            },
            {"split": "train", "source": "news", "licence": "CC0", "documents": 4, "bytes": 40, "words": 8},
        ],
        "held_out": {
            "asked": 0.05,
            "documents": 0.0,
            "bytes": 0.0,
            "words": 0.0,
            "warning": "cleaning.split.eval_fraction is 0.05, but no document is held out",
        },
        "licences": [licence_row("CC0", "news", 5, 4), licence_row(HOSTILE, "books", 9, 7)],
        "languages": {"read": {"en": 9, "de": 5}, "cleaned": {"en": 9, "de": 2}},
        "duplicate_clusters": [
            {"step": "near", "size": 2, "clusters": 6},
            {"step": "near", "size": 3, "clusters": 2},
            {"step": "near", "size": 4, "clusters": 1},
        ],
        "duplicate_buckets": [
            {"step": "near", "size": 2, "buckets": 90},
            {"step": "near", "size": 10_000, "buckets": 1},
        ],
        "dropped_examples": [
            {
                "step": "length",
                "reason": "too_few_words",
                "source": "books",
                "id": "1d0f",
                "uri": HOSTILE,
                "excerpt": HOSTILE,
            }
        ],
        "lengths": {
            f"{stage}_{unit}": lengths for stage in ("read", "cleaned") for unit in ("words", "characters")
        },
    }


def step_reports():
    """The reports that `decontaminate` and `classifier` write next to the report."""
    row = {"benchmark": "exam", "examples": 9, "examples_too_short": 1, "examples_found": 1, "ngrams": 70}
    found = [{"id": HOSTILE, "ngrams": 7, "ngrams_found": 6}]
    scores = {"lower": [0.0, 0.5], "sources": [{"source": "news", "kept": [1, 3], "dropped": [4, 0]}]}
    return {
        "decontaminate": {"ngram_words": 13, "benchmarks": [{**row, "ngrams_found": 6, "found": found}]},
        "classifier": {
            "auc": 0.9375,
            "held_out": {"crawl": 4, "reference": 4},
            "trained": {"crawl": 36, "reference": 37},
            "scores": scores,
        },
    }


def serving_report(ok=True):
    case = {"name": "one", "batch": 1, "ok": ok, "problem": None if ok else HOSTILE, "seconds": 0.1}
    tensor = {"dtype": "string", "shape": ["batch", 7], "meaning": f"a text {HOSTILE}"}
    described = {"meaning": "Proposes pieces.", "inputs": {"text": tensor}, "outputs": {"pieces": tensor}}
    return {
        "blessed": ok,
        "reasons": [] if ok else [HOSTILE],
        "signatures": {"fill_mask": {**described, "cases": [case]}},
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
        trained=987,
        corpus=corpus_report(),
        corpus_steps=step_reports(),
        vocabulary=("[PAD]", "[UNK]", "the", "cat", "##s"),
        sequence_counts={
            "train": {"rows": 3, "tokens": 300, "sources": {"books": 200, "news": 100}},
            "eval": {"rows": 1, "tokens": 90, "sources": {"books": 90}},
        },
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
        trials=[{"trial_id": "1", "score": 0.75, f"training.{HOSTILE}": 0.001}],
        distances=[
            {
                "comparison": "drift",
                "split": "train",
                "feature": f"{HOSTILE}/words",
                "measure": "jensen_shannon_divergence",
                "distance": 0.25,
                "threshold": 0.125,
            }
        ],
        shares=[
            {"of": "languages", "name": "de", "share": 0.4, "before": 0.1, "change": 0.3, "most": 0.2},
            {"of": "languages", "name": "en", "share": 0.6, "before": 0.7, "change": 0.1, "most": 0.2},
            *(
                {
                    "of": "domains",
                    "name": f"{HOSTILE}{number}.org",
                    "share": 0.05,
                    "before": 0.04,
                    "change": 0.01,
                    "most": 0.1,
                }
                for number in range(12)
            ),
        ],
        pushed=True,
        timings={"Trainer": {"state": "finished", "seconds": 75.0, "peak_bytes": 2_000_000_000}},
        versions={"python": "3.10"},
        artifacts=[ArtifactRecord(7, "model", "Model", "pipeline/Trainer/model/7", "sha256:abc")],
    )
