"""How often the alarm of `agreement.drift` rings where nobody drifts, and which shifts it finds how soon.

python benchmarks/drift.py [--studies 2000] [--only false | power | revised]

False alarms: studies of 2 to 5 coders, 7 to 20 codes of prevalences evenly spread from .02 to .5, and 100 to
1,000 texts a coder. Where there are participants, each has prevalences of their own (beta, intra-class
correlation .3; 40 participants), and texts come in random order, as `corpus.assign` deals them, or
participant by participant, as they must not. The share of studies with any alarm, at any look, of any coder
and code. The control is Fisher's exact test at .05 of all later texts against the first third after every ten
texts.

Revised studies ("revised"; a tenth as many): a record of acts, two coders and seven codes. After 60 % of the
texts one code is split; the coders go on with its parts, and in the end look again at the texts that are
stale. Nobody drifts. Looked at are all codes at the end (the order by first and, as the control, by last
finishes), and all codes before anything was looked at again.

Power: a code's prevalence shifts by .2, right after the first third or in the middle of the later texts. The
level is that of one of 14 tests (two coders, seven codes) or of 100 (five, twenty). Beside `drift`: Fisher's
test once, 60 texts after the shift began, at the whole level of the test (nobody knows when to make it); the
sequential test by e-values of Turner, Ly and Grünwald in blocks of one first and two later texts; and a
cumulative sum of the difference from the first third, less .1 a text, whose limit is found by simulation at
the very prevalence (nobody knows it).
"""

from __future__ import annotations

import argparse
import itertools
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual import acts, agreement, codings
from sense7_qual.agreement._drift import Comparison, comparisons, first_alarm
from sense7_qual.codebook import Code, Codebook, Revision, changes

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

ICC, PARTICIPANTS, SHIFT, NULLS = 0.3, 40, 0.2, 20_000
STUDIES = [(2, 7, 100), (2, 7, 300), (2, 7, 1000), (3, 12, 300), (5, 20, 100), (5, 20, 300), (5, 20, 1000)]
START: Final = pd.Timestamp("2026-01-05T00:00:00Z")


class Revised(NamedTuple):
    """The acts of a study whose codebook was revised, its last codebook, and when looking again began."""

    made: list[acts.Act]
    codebook: Codebook
    revision: Revision
    plan: pd.DataFrame
    reviewed: str


def study(coders: int, codes: int, texts: int, order: str, rng: np.random.Generator) -> Flags:
    """Draw decisions without drift (coders × codes, texts)."""
    p = np.tile(np.geomspace(0.02, 0.5, codes), coders)[:, None]
    if order == "no participants":
        return rng.random((coders * codes, texts)) < p
    spread = 1 / ICC - 1
    own = rng.beta(p * spread, (1 - p) * spread, (coders * codes, PARTICIPANTS))
    who = np.sort(rng.integers(0, PARTICIPANTS, texts))
    if order == "random":
        rng.shuffle(who)
    return np.asarray(rng.random((coders * codes, texts)) < own[:, who])


def false_alarms(coders: int, codes: int, texts: int, order: str, n_studies: int, seed: int) -> str:
    rng, n_first = np.random.default_rng(seed), texts // 3
    compared = comparisons(texts - n_first, 0.05 / (coders * codes))
    often = [Comparison(0, end, 0.05) for end in range(10, texts - n_first + 1, 10)]
    rung, naive = [], []
    for at in range(n_studies):
        given = study(coders, codes, texts, order, rng)
        first, later = given[:, :n_first], given[:, n_first:]
        rung.append((first_alarm(first, later, compared) > 0).any())
        if at < n_studies // 4:
            naive.append((first_alarm(first, later, often) > 0).any())
    shares = f"{100 * np.mean(rung):.2f} | {100 * np.mean(naive):.0f}"
    return f"| {coders} | {codes} | {texts} | {order} | {shares} |"


def revised_study(n_texts: int, rng: np.random.Generator) -> Revised:
    """Draw a study in which a code is split in two while coding goes on, and stale texts are coded again."""
    before = Codebook(name="b", codes=tuple(Code(id=one, label=one) for one in "abcdefg"))
    codes = [Code(id=one, label=one) for one in ("a1", "a2", *"bcdefg")]
    after = Codebook(name="b", codes=tuple(codes))
    parts = changes(before, after, split={"a": ["a1", "a2"]})
    step = Revision(
        coder="lead",
        at="2026-02-01T00:00:00Z",
        why="",
        base=before.fingerprint,
        codebook=after.fingerprint,
        changes=parts,
    )
    prevalence, end, made, plans = [0.3, *np.geomspace(0.05, 0.5, 6)], int(0.6 * n_texts), [], []
    for coder in ("ana", "ben"):
        units = [f"m{place:04}" for place in rng.permutation(n_texts)]
        applied = rng.random((n_texts, 7)) < prevalence
        parts_of = np.where(rng.random(n_texts) < 0.5, "a1", "a2")
        plans.append(pd.DataFrame({"coder": coder, "unit_id": units, "round": None, "place": range(n_texts)}))
        minutes = itertools.count()
        for place in [*range(n_texts), *np.flatnonzero(applied[:end, 0])]:
            minute = next(minutes)
            again, book = minute >= n_texts, before if minute < end else after
            own: dict[str, Any] = {"coder": coder, "unit_id": units[place], "codebook": book}
            own["at"] = (START + pd.Timedelta(minutes=minute)).strftime("%Y-%m-%dT%H:%M:%SZ")
            of_a = [] if not applied[place, 0] else ["a" if book is before else str(parts_of[place])]
            others = (
                [] if again else [code for code, has in zip("bcdefg", applied[place, 1:], strict=True) if has]
            )
            made += [acts.remove(code="a", **own)] * again
            made += [acts.apply(code=code, **own) for code in [*of_a, *others]] + [acts.finish(**own)]
    reviewed = (START + pd.Timedelta(minutes=n_texts)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Revised(made, after, step, pd.concat(plans, ignore_index=True), reviewed)


def revised_alarms(n_texts: int, n_studies: int, seed: int) -> str:
    rng, rung = np.random.default_rng(seed), []
    for _ in range(n_studies):
        one = revised_study(n_texts, rng)
        rung.append([])
        for record in (acts.fold(one.made), acts.fold(act for act in one.made if act.at < one.reviewed)):
            frames = record.codings, record.coverage
            decided = codings.decisions(*frames, one.codebook, revisions=[one.revision])
            for coverage in (frames[1], frames[1].drop(columns="first_finished_at")):
                rung[-1].append(agreement.drift(decided, coverage, plan=one.plan)["alarm"].any())
    at_end, by_last, pending, _ = 100 * np.mean(rung, axis=0)
    return f"| {n_texts} | {at_end:.1f} | {by_last:.0f} | {pending:.1f} |"


def e_values(first: Flags, later: Flags, level: float) -> Integers:
    """Return after how many later texts the product of the blocks' e-values first reached 1 / level."""
    n = min(first.shape[1], later.shape[1] // 2)
    seen = np.zeros((4, len(first)))
    log, at = np.zeros(len(first)), np.zeros(len(first), dtype=np.int64)
    for block in range(n):
        a, b = ((seen[i] + 0.18) / (seen[i] + seen[i + 1] + 0.36) for i in (0, 2))
        both = (a + 2 * b) / 3
        x, y = first[:, block], later[:, 2 * block : 2 * block + 2].sum(axis=1)
        log += np.log(np.where(x, a / both, (1 - a) / (1 - both)))
        log += y * np.log(b / both) + (2 - y) * np.log((1 - b) / (1 - both))
        at = np.where((at == 0) & (log >= -np.log(level)), 2 * (block + 1), at)
        seen += np.stack([x, ~x, y, 2 - y])
    return at


def cumulative_sum(first: Flags, later: Flags) -> Floats:
    """Return the larger of both sums after each later text (tests, texts)."""
    centre, up, down = first.mean(axis=1), np.zeros(len(first)), np.zeros(len(first))
    path = np.empty(later.shape)
    for at in range(later.shape[1]):
        beyond = later[:, at] - centre
        up, down = np.maximum(0, up + beyond - SHIFT / 2), np.maximum(0, down - beyond - SHIFT / 2)
        path[:, at] = np.maximum(up, down)
    return path


def reached(path: Floats, limit: float) -> Integers:
    rings = path > limit
    return np.where(rings.any(axis=1), rings.argmax(axis=1) + 1, 0)


def power(texts: int, tests: int, p: float, middle: bool, n: int, seed: int) -> str:
    rng, n_first = np.random.default_rng(seed), texts // 3
    n_later, level = texts - n_first, 0.05 / tests
    start = n_later // 2 if middle else 0
    shifted = np.where(np.arange(n_later) < start, p, p + SHIFT)
    first, later = rng.random((n, n_first)) < p, rng.random((n, n_later)) < shifted
    once = [Comparison(start, start + 60, level)]
    nulls = [
        cumulative_sum(rng.random((2000, n_first)) < p, rng.random((2000, n_later)) < p).max(axis=1)
        for _ in range(NULLS // 2000)
    ]
    limit = float(np.quantile(np.concatenate(nulls), 1 - level))
    shown = []
    for at in (
        first_alarm(first, later, comparisons(n_later, level)),
        e_values(first, later, level),
        reached(cumulative_sum(first, later), limit),
    ):
        found = [np.mean((at > start) & (at <= start + more)) for more in (60, 120, n_later)]
        shown.append(" / ".join(f"{100 * share:.0f}" for share in found))
    best = 100 * np.mean(first_alarm(first, later, once) > 0) if start + 60 <= n_later else np.nan
    when = "middle" if middle else "start"
    design = f"| {texts} | {tests} | {p} → {p + SHIFT:.1f} | {when}"
    return f"{design} | {shown[0]} | {best:.0f} | {shown[1]} | {shown[2]} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--only", choices=["false", "power", "revised"])
    arguments = parser.parse_args()
    if arguments.only in (None, "revised"):
        print(
            "| texts a coder | alarm % | control: by last finishes % | before looking again % |\n|"
            + 4 * "---|"
        )
        for seed, texts in enumerate((100, 300, 1000)):
            print(revised_alarms(texts, max(arguments.studies // 10, 1), seed), flush=True)
    if arguments.only in (None, "false"):
        print("| coders | codes | texts a coder | order | alarm % | control % |\n|" + 6 * "---|")
        for order in ("no participants", "random", "by participant"):
            for seed, (coders, codes, texts) in enumerate(STUDIES):
                print(false_alarms(coders, codes, texts, order, arguments.studies, seed), flush=True)
    if arguments.only in (None, "power"):
        print(
            "\n| texts a coder | tests | prevalence | shift begins at | found within 60 / 120 / at all % "
            "| one test % | e-values % | cumulative sum % |\n|" + 8 * "---|"
        )
        for texts in (100, 300, 1000):
            for tests in (14, 100):
                for middle in (False, True):
                    for seed, p in enumerate((0.1, 0.3, 0.5)):
                        print(power(texts, tests, p, middle, 2000, seed), flush=True)


if __name__ == "__main__":
    main()
