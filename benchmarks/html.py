"""Text of real pages by each extractor: precision, recall and F1 over gold segments, and pages a second.

    python -m benchmarks.html [--runs 3] [--json figures.json]

The pages and segments are those of `web_html` in the folder of real data, which FIRTH_SHARED_DATA names: for
each page, strings that its text must have and strings that it must not. Precision is the share of what must
be there among all segments that are there, recall the share that is there of what must be. Blanks are alike.
"""

import argparse
import json
import os
import pathlib
import statistics
import time
from collections.abc import Callable

from firth.corpus.readers.pages import EXTRACTORS, decode_page

DATA = pathlib.Path(
    os.environ.get("FIRTH_SHARED_DATA", pathlib.Path(__file__).parents[2] / "shared" / "data")
)


def all_text(html: str) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    return extract_plain_text(html)


def with_comments_and_fallbacks(html: str) -> str:
    from trafilatura import extract

    return extract(html) or ""


def with_fallbacks(html: str) -> str:
    from trafilatura import extract

    return extract(html, include_comments=False) or ""


EXTRACTORS: dict[str, Callable[[str], str]] = {
    **{f"firth {name}": extract for name, extract in EXTRACTORS.items()},
    "trafilatura with fallbacks": with_fallbacks,
    "trafilatura as it comes": with_comments_and_fallbacks,
    "resiliparse, all text": all_text,
}


def read_pages(folder: pathlib.Path) -> list[tuple[dict, str]]:
    gold = json.loads((folder / "evaldata.json").read_text(encoding="utf-8")).values()
    found = [(each, folder / "html" / each["file"]) for each in gold]
    return [(each, decode_page(path.read_bytes())) for each, path in found if path.exists()]


def squeeze(text: str) -> str:
    return " ".join(text.split())


def score(pages: list[tuple[dict, str]], texts: list[str]) -> dict[str, float]:
    """Returns precision, recall and F1."""
    wanted = found = unwanted = 0
    for (gold, _), text in zip(pages, map(squeeze, texts)):
        wanted += len(gold["with"])
        found += sum(squeeze(segment) in text for segment in gold["with"])
        unwanted += sum(squeeze(segment) in text for segment in gold["without"])
    precision, recall = found / (found + unwanted), found / wanted
    return {"precision": precision, "recall": recall, "f1": 2 * precision * recall / (precision + recall)}


def measure(pages: list[tuple[dict, str]], runs: int) -> dict[str, dict[str, float]]:
    """Returns the figures of each extractor; all take the pages in turn, to share the load of the machine."""
    seconds: dict[str, list[float]] = {name: [] for name in EXTRACTORS}
    figures = {}
    for run in range(runs + 1):
        for name, extract in EXTRACTORS.items():
            start = time.process_time()
            texts = [extract(html) for _, html in pages]
            if run:  # The first warms up.
                seconds[name].append(time.process_time() - start)
            figures[name] = score(pages, texts)
    return {
        name: {**figures[name], "pages_per_second": len(pages) / statistics.median(seconds[name])}
        for name in EXTRACTORS
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    arguments = parser.parse_args()
    if not (DATA / "web_html").exists():
        raise SystemExit(f"there is no {DATA / 'web_html'}; FIRTH_SHARED_DATA names the folder of real data")
    pages = read_pages(DATA / "web_html")
    figures = measure(pages, arguments.runs)
    megabytes = sum(len(html.encode()) for _, html in pages) / 1e6
    print(f"{len(pages)} pages, {megabytes:.1f} MB, one process")
    print(f"{'':30}{'precision':>10}{'recall':>8}{'F1':>8}{'pages/s':>9}")
    for name, row in figures.items():
        print(
            f"{name:30}{row['precision']:10.3f}{row['recall']:8.3f}{row['f1']:8.3f}"
            f"{row['pages_per_second']:9.0f}"
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
