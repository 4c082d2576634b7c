"""What a reviewer looks at in the agreement of a study: enough of it, high enough, of everybody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from sense7_qual import agreement
from sense7_qual._present import coefficient, counted, percent
from sense7_qual.report._review_facts import Facts, Objection

__all__ = ["ON_AGREEMENT"]

_LEAST_SHARE: Final = 0.1  # O'Connor & Joffe (2020): 10 to 25 % of the units
_TENTATIVE: Final = 0.667  # Krippendorff (2004, p. 241)
_WIDE: Final = 0.4
_FEWEST: Final = 20


def _one_coder(facts: Facts) -> Iterator[Objection]:
    if len(facts.coders) == 1:
        yield Objection(
            kind="one_coder", n=1,
            seen="One coder alone decided on the texts.",
            why="Nothing shows whether somebody else would code them so.",
            answer="Have a random part coded by a second person, blind; or argue without agreement "
            "(with_agreement=False), as reflexive thematic analysis does.",
        )  # fmt: skip


def _overlap(facts: Facts) -> Iterator[Objection]:
    n, total = len(facts.double), facts.decisions["unit_id"].nunique()
    if len(facts.coders) > 1 and n < _LEAST_SHARE * total:
        yield Objection(
            kind="overlap_small", n=n,
            seen=f"{n:,} of {total:,} coded texts ({percent(n / total)}%) were coded by two or more, "
            "independently of suggestions.",
            why="Agreement on so few says little of the rest; 10 to 25% is usual (O'Connor & Joffe 2020).",
            answer="Deal more texts to two coders, at random (store.assign(…, overlap=0.2)).",
        )  # fmt: skip


def _wide(facts: Facts) -> Iterator[Objection]:
    if not facts.double:
        return
    rows = facts.alphas
    wide = rows[(rows["alpha_high"] - rows["alpha_low"]) > _WIDE]
    if len(wide) * 2 > len(rows):
        codes = wide["code"].tolist()
        yield Objection(
            kind="wide_intervals", n=len(codes),
            seen=f"Alpha's 95% CI is wider than {coefficient(_WIDE, 2)} for {facts.labels(codes)}.",
            why="Such agreement may be good or poor: the overlap is too small for what is claimed.",
            answer="Code more texts twice; agreement.sequential says how many.",
        )  # fmt: skip


def _low(facts: Facts) -> Iterator[Objection]:
    if not facts.double:
        return
    rows = facts.alphas
    low = rows[rows["alpha"] < _TENTATIVE]
    if len(low):
        codes, worst = low["code"].tolist(), coefficient(low["alpha"].min(), 2)
        yield Objection(
            kind="low_agreement", n=len(codes),
            seen=f"Alpha is below .667 for {facts.labels(codes)} (lowest {worst}).",
            why="Below it not even a tentative conclusion rests on a code (Krippendorff 2004, p. 241).",
            answer="Sharpen its rules and code fresh texts; or report it without conclusions; "
            "agreement.by_code has what it turns on.",
        )  # fmt: skip


def _pair(facts: Facts) -> Iterator[Objection]:
    """Find codes that pass for all coders together while a pair of them does not agree."""
    if len(facts.coders) < 3 or not facts.double:
        return
    rows = facts.alphas
    passing = set(rows.loc[rows["alpha"] >= _TENTATIVE, "code"])
    pairs = agreement.pairwise(facts.independent)
    poor = pairs[pairs["code"].isin(passing) & (pairs["n_units"] >= _FEWEST) & (pairs["alpha"] < _TENTATIVE)]
    if len(poor):
        codes = list(dict.fromkeys(poor["code"]))
        yield Objection(
            kind="pooled_coders", n=len(poor),
            seen=f"{counted(len(poor), 'pair of coders agrees', 'pairs of coders agree')}"
            f" below .667 on {facts.labels(codes)}, though all coders "
            "together pass it.",
            why="A coefficient over all coders hides one who reads a code differently.",
            answer="Report pairs (agreement.pairwise), and talk with the coder who differs.",
        )  # fmt: skip


def _used_by_one(facts: Facts) -> Iterator[Objection]:
    """Find codes that one coder applies and another, on as many texts of theirs, never does."""
    by_one = []
    for code, own in facts.decisions.groupby("code", sort=False):
        counts = own.groupby("coder")["applied"].agg(["sum", "size"])
        enough = counts[counts["size"] >= _FEWEST]
        share = enough["sum"] / enough["size"]
        if len(enough) > 1 and (share == 0).any() and share.max() >= 0.2:
            by_one.append(str(code))
    if by_one:
        yield Objection(
            kind="used_by_one", n=len(by_one),
            seen=f"{facts.labels(by_one)}: one coder applies it to a fifth of their texts, another never.",
            why="The code is then a property of who coded, and so is what it goes with.",
            answer="Settle what it means (CodebookWidget), and have the texts looked at again.",
        )  # fmt: skip


def _unsettled(facts: Facts) -> Iterator[Objection]:
    n = facts.n_unsettled
    if n:
        yield Objection(
            kind="unsettled", n=n,
            seen=f"{counted(n, 'disagreement is', 'disagreements are')}"
            f" not settled, of {len(facts.disagreements):,}.",
            why="What is counted for these texts depends on whom one believes, and papers must say.",
            answer="Settle them (AdjudicationWidget), leaving readings that are both right as they are.",
        )  # fmt: skip


def _ruled_own(facts: Facts) -> Iterator[Objection]:
    own = set(facts.decisions[["unit_id", "coder"]].drop_duplicates().itertuples(index=False, name=None))
    n = sum((str(act.unit_id), act.coder) in own for act in facts.rulings)
    if n:
        yield Objection(
            kind="ruled_own", n=n,
            seen=f"{counted(n, 'ruling is', 'rulings are')} by somebody who had coded the text.",
            why="Who is a party to a disagreement does not settle it.",
            answer="Have somebody else look at them, or settle them in a discussion and say so.",
        )  # fmt: skip


ON_AGREEMENT: Final[tuple[Callable[[Facts], Iterator[Objection]], ...]] = (
    _one_coder, _overlap, _wide, _low, _pair, _used_by_one, _unsettled, _ruled_own,
)  # fmt: skip
