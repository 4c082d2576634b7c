"""How fast the store takes acts and gives them back: `python benchmarks/store.py` prints Markdown.

Every append is a real commit on the disk that holds the folder (the temporary folder unless one is named).
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from sense7_qual import acts
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.store import Store
from sense7_qual.widgets._coding.session import Session

SENSE7 = Codebook.read("sense7")
N_UNITS = 5_000
TEXT = "It kept asking what I meant, and I felt that somebody was listening to me at last. "


def units() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "unit_id": [f"m{i}" for i in range(N_UNITS)],
            "text": [f"{i}: {TEXT * 3}" for i in range(N_UNITS)],
            "document_id": [f"d{i // 10}" for i in range(N_UNITS)],
            "case_id": [f"p{i // 50}" for i in range(N_UNITS)],
            "position": range(N_UNITS),
        }
    )


def deeds(coder: str, n_acts: int) -> Iterator[Act]:
    """Spans with quotes, whole-unit codes and finished units, as a coder makes them."""
    for i in range(n_acts):
        named = {"coder": coder, "unit_id": f"m{i // 4 % N_UNITS}", "codebook": SENSE7}
        if i % 4 == 3:
            yield acts.finish(**named)
        else:
            span = {"start": i % 40, "end": i % 40 + 30} if i % 4 else {}
            yield acts.apply(code=SENSE7.ids[i % 7], **span, **named)


def spans(coder: str, n_acts: int) -> Iterator[Act]:
    """Codings that all stand beside each other, which is the most that a fold can have to do."""
    for i in range(n_acts):
        start = i // N_UNITS
        named = {"coder": coder, "unit_id": f"m{i % N_UNITS}", "codebook": SENSE7}
        yield acts.apply(code=SENSE7.ids[i % 7], start=start, end=start + 30, **named)


def one_by_one(store: Store, n_acts: int) -> np.ndarray:
    """Return the seconds of each of `n_acts` appends of one act."""
    seconds = []
    for act in deeds("ana", n_acts):
        begin = time.perf_counter()
        store.append([act])
        seconds.append(time.perf_counter() - begin)
    return np.array(seconds)


def in_batches(store: Store, n_acts: int, size: int, coder: str = "ben") -> float:
    """Return the seconds that `n_acts` take in batches of `size`, without making the acts."""
    made, seconds = list(deeds(coder, n_acts)), 0.0
    for begin in range(0, n_acts, size):
        at = time.perf_counter()
        store.append(made[begin : begin + size])
        seconds += time.perf_counter() - at
    return seconds


def session(store: Store, coder: str = "ben") -> Session:
    """Return what a coding widget is made of, up to its first unit."""
    found = Session(store.units, SENSE7, coder=coder, acts=store.acts(coder=coder), rating=None, round=None)
    found.unit(found.position)
    return found


def timed(call: object) -> tuple[float, object]:
    begin = time.perf_counter()
    result = call()  # type: ignore[operator]
    return time.perf_counter() - begin, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--single", type=int, default=1_000, help="appends of one act")
    parser.add_argument("--acts", type=int, default=100_000, help="acts in batches of 1,000")
    parser.add_argument("--fold", type=int, default=1_000_000, help="acts to fold, made in memory")
    parser.add_argument("--folder", type=Path, help="a folder on the disk to measure")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        making, store = timed(lambda: Store.create(Path(folder) / "s", units=units(), codebook=SENSE7))
        single = one_by_one(store, chosen.single)
        batched = in_batches(store, chosen.acts, 1_000)
        reading, recorded = timed(lambda: store.acts(coder="ben"))
        folding, record = timed(lambda: acts.fold(recorded))
        opening, _ = timed(lambda: Store(store.path))
        opening_all, _ = timed(lambda: session(Store(store.path)))
        verifying, found = timed(store.verify)
        size = (store.path / "acts" / "ben.sqlite").stat().st_size
        assert found["ok"].all()
        assert len(recorded) == chosen.acts
        team = Store.create(Path(folder) / "team", units=units(), codebook=SENSE7)
        for number in range(4):
            in_batches(team, chosen.acts // 4, 1_000, f"coder{number}")
        opening_one, _ = timed(lambda: session(Store(team.path), "coder0"))
    million = list(spans("cy", chosen.fold))
    folding_all, folded = timed(lambda: acts.fold(million))
    assert len(folded.codings) == chosen.fold
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1024 if sys.platform != "darwin" else 1024**2
    )
    p50, p99 = np.percentile(single * 1000, [50, 99])
    rows = [
        (f"create a study of {N_UNITS:,} units", f"{making:.2f} s"),
        ("open it", f"{opening:.2f} s"),
        ("append, one act a call", f"{chosen.single / single.sum():,.0f} acts/s"),
        ("append, one act a call, p50 / p99", f"{p50:.1f} / {p99:.1f} ms"),
        ("append, 1,000 acts a call", f"{chosen.acts / batched:,.0f} acts/s"),
        (f"read {chosen.acts:,} acts, every hash and quote checked", f"{reading:.2f} s"),
        (f"fold them into {len(record.codings):,} codings", f"{folding:.2f} s"),
        (f"open it and show ben's first unit after {chosen.acts:,} acts of his", f"{opening_all:.2f} s"),
        (f"the same where {chosen.acts:,} acts are of four coders", f"{opening_one:.2f} s"),
        ("verify the study", f"{verifying:.2f} s"),
        (f"acts file of {chosen.acts:,} acts", f"{size / 1e6:.0f} MB"),
        (f"fold {chosen.fold:,} acts into as many codings", f"{folding_all:.2f} s"),
        ("peak memory of all of this", f"{peak:,.0f} MiB"),
    ]
    print("| store | measured |\n|---|---|")
    print("\n".join(f"| {what} | {value} |" for what, value in rows))


if __name__ == "__main__":
    main()
