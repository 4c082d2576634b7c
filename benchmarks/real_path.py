"""The whole path on real texts: import, coding in a real browser, agreement, links, themes, tables.

The 1,860 messages of Buechel et al. (EMNLP 2018, CC BY 4.0), each with its writer's ratings of empathy and
distress (1–7), are dealt to two coders. The codes are applied by a seeded rule (words, with each coder's own
slips), the first texts by pressing the real widget's keys in Chromium, the rest through the store.

Prints a Markdown table of seconds, sizes and peak memory. Data: first argument, or ../shared/data beside
the project.
"""

from __future__ import annotations

import re
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

import sense7_qual as qual
from tests.helpers import lab as labs

DATA = Path(__file__).parents[2] / "shared" / "data" / "empathic-reactions" / "messages.csv"
CODERS = ("ana", "ben")
BROWSER_UNITS = 30
WORDS = {
    "sadness": r"sad|heartbreak|tragic|terribl|awful|depress",
    "anger": r"anger|angry|outrag|disgust|furious|shame",
    "help": r"help|support|donat|should do|need to",
    "family": r"famil|child|kids|mother|father|parent",
}
OTHER_UNIT = "old => ![undefined, old].includes(document.querySelector('.s7-unit-id')?.innerText)"
MISSES, SLIPS = {"ana": 0.08, "ben": 0.15}, {"ana": 0.01, "ben": 0.03}


def codebook() -> qual.Codebook:
    """Return the four codes of the rule, with the keys 1 to 4."""
    codes = [qual.Code(id=name, label=name.capitalize(), key=str(n)) for n, name in enumerate(WORDS, start=1)]
    return qual.Codebook(name="reactions", codes=tuple(codes))


def units(path: Path = DATA) -> pd.DataFrame:
    """Read the messages: the writer is the case, empathy and distress are ratings."""
    return qual.corpus.read(
        path, text="essay", unit_id="message_id", case_id="response_id", ratings=["empathy", "distress"]
    )


def applied(texts: pd.DataFrame, coder: str, *, seed: int) -> dict[str, list[str]]:
    """Return the codes that the rule, with the coder's slips, applies to each unit."""
    rng = np.random.default_rng([seed, CODERS.index(coder)])
    decided: dict[str, list[str]] = {}
    for unit in texts.sort_values("unit_id").itertuples():
        shown = {code: bool(re.search(words, unit.text, re.IGNORECASE)) for code, words in WORDS.items()}
        chance = rng.random(len(WORDS))
        decided[unit.unit_id] = [
            code
            for code, draw in zip(WORDS, chance, strict=True)
            if (draw >= MISSES[coder] if shown[code] else draw < SLIPS[coder])
        ]
    return decided


def code_by_program(store: qual.Store, texts: pd.DataFrame, coder: str, decided: dict[str, list[str]]) -> int:
    """Code every unit of `texts` that the coder has not finished, through the store."""
    finished = set(store.coverage(coder=coder)["unit_id"])
    common = {"coder": coder, "codebook": store.codebook}
    deeds = [
        act
        for unit_id in texts["unit_id"]
        if unit_id not in finished
        for act in [
            *(qual.acts.apply(unit_id=unit_id, code=code, **common) for code in decided[unit_id]),
            qual.acts.finish(unit_id=unit_id, **common),
        ]
    ]
    return store.append(deeds)


def code_in_browser(folder: Path, coder: str, decided: dict[str, list[str]], *, seed: int, n: int) -> None:
    """Code the coder's first `n` units by pressing the widget's keys in a real JupyterLab."""
    source = (
        "import sense7_qual as qual\nfrom sense7_qual.widgets import CodingWidget\n"
        f"store = qual.Store({str(folder / 'study')!r})\n"
        f"store.assign(coders={list(CODERS)!r}, overlap=0.3, seed={seed}, coder='lead')\n"
        f"CodingWidget(store, coder={coder!r})"
    )
    keys = {code.id: str(code.key) for code in codebook().codes}
    with labs.running(folder / "lab") as server:
        labs.notebook(server.root / "coding.ipynb", source)
        with server.page() as page:
            server.open(page, "coding.ipynb")
            page.wait_for_selector(".s7-text")
            page.locator(".s7").focus()
            for _ in range(n):
                unit_id = page.locator(".s7-unit-id").inner_text()
                for code in decided[unit_id]:
                    # Every other code goes on a span, the first word; Escape then drops the selection.
                    for key in ("w", keys[code], "Escape") if keys[code] in "13" else (keys[code],):
                        page.keyboard.press(key)
                page.keyboard.press("Enter")
                page.wait_for_function(OTHER_UNIT, arg=unit_id)
            page.wait_for_selector(".s7-saved")
        server.end_kernels()
        if server.errors or server.strangers:
            raise RuntimeError(f"the page was not clean: {server.errors} {server.strangers}")


def run(folder: Path, data: Path, *, seed: int = 7, browser: bool = True) -> dict[str, Any]:
    """Walk the whole path; return what each step gave, and its seconds."""
    seconds: dict[str, float] = {}

    @contextmanager
    def timed(step: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        seconds[step] = time.perf_counter() - start

    with timed("import, study, plan"):
        texts = units(data)
        store = qual.Store.create(folder / "study", units=texts, codebook=codebook())
        plan = qual.corpus.assign(store.units, coders=CODERS, overlap=0.3, seed=seed)
        decided = {coder: applied(plan[coder], coder, seed=seed) for coder in CODERS}
    if browser:
        with timed(f"{BROWSER_UNITS} texts in the browser"):
            code_in_browser(folder, "ana", decided["ana"], seed=seed, n=BROWSER_UNITS)
    in_browser = store.acts(coder="ana")
    with timed("the rest through the store"):
        n_acts = sum(code_by_program(store, plan[coder], coder, decided[coder]) for coder in CODERS)
    with timed("decisions"):
        decisions = store.decisions()
    with timed("agreement, 2,000 resamples"):
        agreement = qual.agreement.by_code(
            decisions, units=store.units, cluster="case_id", n_boot=2000, seed=seed
        )
    with timed("links, 2,000 resamples"):
        links = qual.links.code_to_rating(
            decisions, store.units, rating="empathy", cluster="case_id", n_boot=2000, seed=seed
        )
    with timed("themes"):
        themes = qual.themes.fit(store.units, embed=qual.models.embedder(), seed=seed)
        against = qual.themes.against_codebook(
            themes, decisions, store.codebook, units=store.units, cluster="case_id"
        )
    with timed("tables and figures"):
        tables = {
            "codebook": qual.report.tables.codebook(store.codebook),
            "reliability": qual.report.tables.reliability(agreement, codebook=store.codebook),
            "links": qual.report.tables.link(links, source="majority", codebook=store.codebook),
            "quotes": qual.report.tables.quote(
                store.codings(), store.units, codebook=store.codebook, rating="empathy", seed=seed
            ),
        }
        for name, table in tables.items():
            for suffix in (".tex", ".md", ".html"):
                table.write(folder / f"{name}{suffix}")
        qual.figures.agreement_plot(agreement, codebook=store.codebook).write(folder / "agreement.pdf")
        qual.figures.link_plot(links, source="majority", codebook=store.codebook).write(folder / "links.svg")
    return {
        "seconds": seconds,
        "store": store,
        "plan": plan,
        "decided": decided,
        "in_browser": in_browser,
        "n_acts": n_acts,
        "decisions": decisions,
        "agreement": agreement,
        "links": links,
        "themes": themes,
        "against": against,
        "tables": tables,
    }


def main() -> None:
    """Measure and print."""
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    if not data.is_file():
        print(f"skipped: the messages are not at {data.name}; name the file as the first argument")
        return
    browser = labs.chromium() is not None
    with tempfile.TemporaryDirectory() as folder:
        found = run(Path(folder), data, browser=browser)
    print("| step | seconds |\n|---|--:|")
    for step, seconds in found["seconds"].items():
        print(f"| {step} | {seconds:.2f} |")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    counts = (
        f"{len(found['store'].units)} texts, {found['n_acts']} acts, {len(found['decisions'])} decisions, "
        f"{len(found['themes'].summary)} themes; peak memory {peak:.0f} MB."
    )
    print(f"\n{counts}\n")
    columns = ["code", "n_units", "prevalence", "percent", "alpha", "alpha_low", "alpha_high"]
    print(found["agreement"][columns].round(3).to_string(index=False))


if __name__ == "__main__":
    main()
