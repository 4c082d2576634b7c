"""Recompute every table, figure and number of this bundle, and compare it with what the bundle holds.

    python rerun.py            recompute, and compare; exit status 0 where all is the same
    python rerun.py --write    write tables/ and figures/ again

Tables and figures are compared to the last byte, and the unrounded numbers behind them (numbers_….csv) to
nine digits: the sixteenth is another on another kind of processor. record/analysis.json says
what is computed: the analysis plan, and the other choices.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pandas as pd

from sense7_qual import agreement, links, report
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.store import Store

HERE = Path(__file__).resolve().parent
_FOLDERS = ("tables", "figures")
_PICTURES = (".pdf", ".png")
_UNROUNDED = "numbers_"
_NEAR = 1e-9  # processors of different makers differ in the sixteenth digit: they add in another order


def compute(target: Path, *, bundle: Path = HERE, progress: Callable[[int, int], None] | None = None) -> None:
    """Write tables/ and figures/ of the bundle into the folder `target`."""
    store, analysis = Store(bundle), json.loads((bundle / "record" / "analysis.json").read_text("utf-8"))
    plan = AnalysisPlan.from_text(analysis["plan"])
    with tempfile.TemporaryDirectory() as folder:
        written = report.paper(
            store,
            plan,
            folder,
            formats=analysis["formats"],
            conditions=analysis["conditions"],
            with_texts=analysis["texts"] != "withheld",
            with_prose=False,
            progress=progress,
        )
        for name in _FOLDERS:
            (target / name).mkdir(parents=True, exist_ok=True)
        files = (Path(folder, name) for name in written.files["file"])
        for file in sorted(file for file in files if file.stem != "review"):  # it is not for print
            kind = "figures" if file.suffix in _PICTURES else "tables"
            (target / kind / file.name).write_bytes(file.read_bytes())
    for name, frame in numbers(store, plan):
        frame.to_csv(target / "tables" / name, index=False, lineterminator="\n")


def numbers(store: Store, plan: AnalysisPlan) -> Iterator[tuple[str, Any]]:
    """Yield what the tables are printed from, unrounded: the decisions, agreement, and links."""
    asked, units = _asked(store, plan), store.units
    boot: dict[str, Any] = {"n_boot": plan.n_boot, "seed": plan.seed}
    first, last = store.decisions(**asked), store.decisions(settled_by="nothing", **asked)
    by: Any = plan.settled_by
    settled = last if by is None else store.decisions(settled_by=by, **asked)
    frames = [first] if plan.with_agreement else []
    frames += [last] if by in (None, "nothing") else [last, settled]
    yield "numbers_decisions.csv", pd.concat(frames, ignore_index=True)
    said = report.ai_statement(store, with_agreement=plan.with_agreement, **boot).sentences
    yield "numbers_use_of_ai.csv", pd.DataFrame({"sentence": [str(one) for one in said]})
    cases = units.set_index("unit_id")["case_id"].reindex(last["unit_id"].unique())
    cluster = plan.cluster or (None if cases.isna().any() else "case_id")
    if plan.with_agreement and first.groupby("unit_id")["coder"].nunique().gt(1).any():
        yield "numbers_agreement.csv", agreement.by_code(first, units=units, cluster=cluster, **boot)
    if plan.rating is not None and cluster is not None and len(settled):
        sources = [str(name) for name in settled["coder"].unique()]
        only = sources if len(sources) == 1 else None if plan.adjust == "max-t" else ["pooled"]
        yield (
            "numbers_links.csv",
            links.code_to_rating(
                settled,
                units,
                rating=plan.rating,
                cluster=cluster,
                sources=only,
                adjust=plan.adjust or "bh",
                equivalence=plan.equivalence,
                **boot,
            ),
        )


def _asked(store: Store, plan: AnalysisPlan) -> dict[str, Any]:
    """Return the rounds and coders of a plan that is not the registered one, as `paper` takes them."""
    plans = store.preregistrations
    rounds, coders = (plans[-1].plan.rounds, plans[-1].plan.coders) if plans else ((), ())
    asked: dict[str, Any] = {}
    if plan.rounds and plan.rounds != rounds:
        blind = [one for one in store.rounds if not (one.is_training or one.discusses or one.of_models)]
        asked["round"] = [*(one.name for one in blind if one.name in plan.rounds), None]
    if plan.coders and plan.coders != coders:
        coded = set(store.coverage()["coder"])
        asked["coder"] = [name for name in plan.coders if name in coded]
    return asked


def compare(again: Path, *, bundle: Path = HERE) -> list[str]:
    """Return, in a sentence each, where what was recomputed into `again` differs from the bundle."""
    names = {
        path.relative_to(root).as_posix()
        for root in (again, bundle)
        for folder in _FOLDERS
        for path in (root / folder).glob("*")
    }
    return [told for name in sorted(names) for told in _difference(name, bundle / name, again / name)]


def _difference(name: str, before: Path, after: Path) -> Iterator[str]:
    if not (before.exists() and after.exists()):
        yield f"{name}: {'is not in the bundle' if after.exists() else 'was not recomputed'}"
    elif before.read_bytes() != after.read_bytes():
        if before.suffix != ".csv":
            yield f"{name}: looks otherwise, with other versions than in requirements.txt perhaps"
        elif n_cells := _cells(before, after, near=before.name.startswith(_UNROUNDED)):
            yield f"{name}: {n_cells} cells differ"


def _cells(before: Path, after: Path, *, near: bool) -> int:
    """Return how many cells of two tables differ; with `near`, numbers by more than `_NEAR`."""
    old, new = (
        list(csv.reader(path.read_text("utf-8-sig").splitlines(keepends=True))) for path in (before, after)
    )
    none: list[str] = []
    pairs = [pair for row, again in zip_longest(old, new, fillvalue=none) for pair in zip_longest(row, again)]
    return sum(one != other and not (near and _is_near(one, other)) for one, other in pairs)


def _is_near(one: str | None, other: str | None) -> bool:
    try:
        return math.isclose(float(one or ""), float(other or ""), rel_tol=_NEAR, abs_tol=_NEAR)
    except ValueError:
        return False


def _is_same(one: Path, other: Path) -> bool:
    return other.exists() and one.read_bytes() == other.read_bytes()


def main() -> int:
    """Recompute, and compare or write; return the exit status."""
    parser = argparse.ArgumentParser(description="Recompute every table and figure of this bundle.")
    parser.add_argument("--write", action="store_true", help="write tables/ and figures/ again")
    parser.add_argument("--progress", action="store_true", help="print how far it is")
    chosen = parser.parse_args()
    tell = (lambda done, total: print(f"{done}/{total}", flush=True)) if chosen.progress else None
    if chosen.write:
        compute(HERE, progress=tell)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        compute(Path(folder), progress=tell)
        differences = compare(Path(folder))
        same = [path for path in Path(folder).glob("*/*") if _is_same(path, HERE / path.relative_to(folder))]
        n_files = sum(1 for _ in Path(folder).glob("*/*"))
    for line in differences:
        print(f"DIFFERS  {line}")
    print(f"{n_files} files were recomputed; {len(same)} of them are the same to the last byte.")
    if not differences and len(same) < n_files:
        print("The others are unrounded numbers that differ by less than 1e-9: another processor.")
    print("NOT THE SAME" if differences else "ALL THE SAME")
    return int(bool(differences))


if __name__ == "__main__":
    sys.exit(main())
