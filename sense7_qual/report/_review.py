"""A study read as a reviewer reads it: what they will object to, with its numbers and what answers it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import pandas as pd

from sense7_qual import links
from sense7_qual._arguments import check_arguments, check_least, read_mapping
from sense7_qual._present import count, percent
from sense7_qual.adjudication import SettledBy
from sense7_qual.links import MULTIVERSE
from sense7_qual.report._further import objections as to_further, read_further
from sense7_qual.report._review_coders import ON_AGREEMENT, ON_CODERS, ON_MODELS, ON_OVERLAP
from sense7_qual.report._review_coding import ON_CODING
from sense7_qual.report._review_facts import SIZE, Facts, Objection, Study, require_study
from sense7_qual.report._review_links import ON_CHOICES, ON_LINKS
from sense7_qual.report._table import Table, made_with


@dataclass(frozen=True, slots=True)
class Review:
    """What a reviewer will object to in a study; its `repr` has counts only.

    Attributes
    ----------
    objections
        Tuple of objections, each with `kind` (a word), `seen` (what the record shows, with its numbers), `n`
        (how many), `why` a reviewer minds, and `answer`, what would meet it. Those on how the coding was done
        come first, then those on numbers.
    n_checked
        Number of checks made.
    """

    objections: tuple[Objection, ...]
    n_checked: int
    codebook_line: str

    def __repr__(self) -> str:
        return f"Review({len(self.objections)} objections, {self.n_checked} checks)"

    def __iter__(self) -> Iterator[Objection]:
        return iter(self.objections)

    def __len__(self) -> int:
        return len(self.objections)

    @property
    def frame(self) -> pd.DataFrame:
        """One row per objection: kind, seen, n, why, answer."""
        rows = [(one.kind, one.seen, one.n, one.why, one.answer) for one in self.objections]
        kinds = {"kind": "string", "seen": "string", "n": "Int64", "why": "string", "answer": "string"}
        return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)

    @property
    def table(self) -> Table:
        """The objections as a list that can be written, such as ``review.table.write("review.docx")``."""
        none = (("Nothing was found.", "", ""),)
        rows = tuple((one.seen, one.why, one.answer) for one in self.objections)
        return Table(
            title="What a reviewer will object to",
            headers=("What was found", "Why it matters", "What to do"),
            rows=rows or none,
            notes=(f"{count(self.n_checked)} checks were made.", self.codebook_line),
            layout="list",
        )


def review(
    store: Study,
    *,
    with_agreement: bool = True,
    rating: str | None = None,
    cluster: str | None = None,
    settled_by: SettledBy | None = None,
    n_boot: int = 500,
    seed: int = 0,
    multiverse: pd.DataFrame | None = None,
    further: Mapping[str, Any] | None = None,
) -> Review:
    """Read a study as a reviewer does, and return the likely objections.

    It reads the record alone: who coded what when, under which codebook, blind to what. What the record does
    not hold, such as how participants were found, it cannot see; no objection means none of these.

    Parameters
    ----------
    store : Store
        The study, as whoever has it open may see it. Nothing of participants' texts is returned.
    with_agreement : bool
        Whether agreement is part of the argument; without it (one coder, reflexive thematic analysis) nothing
        is asked of it.
    rating, cluster : str, optional
        The columns of the rating that codes are linked to, and of what its intervals take as independent; by
        default as was registered (`Store.preregister`), and "case_id". Where neither says that codes are
        linked, links are not looked at.
    settled_by
        How disagreements count in links, as for `paper`; by default as was registered. Where neither says it
        and several coders decided, links are not looked at.
    n_boot, seed
        Of the intervals of agreement, as for `agreement.by_code`.
    multiverse : DataFrame, optional
        The result of `links.multiverse`: whether links depend on a choice, or on one prompt.
    further : mapping of str to result, optional
        Statistics that the paper reports beyond the record, as for `report.tables.further`.

    Returns
    -------
    Review
        The objections, as values (`Review.objections`), as a DataFrame (`frame`) and as a `Table` (`table`).

    Raises
    ------
    ArgumentError
        `store` is no open study, or a setting of the resampling is out of its range.
    TableError
        `multiverse` lacks a column, or `further` has another result.

    Notes
    -----
    Limits: double-coded at least 10 % of the texts, alpha at least .667 and .80 (O'Connor & Joffe 2020;
    Krippendorff 2004, p. 241); others are stated where they are used. Tests of what would be chance have a
    size of .001 each, over all that they compare in a study. In 50 simulated studies without a flaw
    there was no objection (`benchmarks/review.md`).

    References
    ----------
    O'Connor & Joffe (2020), Intercoder reliability in qualitative research, International Journal of
    Qualitative Methods 19. Krippendorff (2004), Content analysis, 2nd ed., Sage.

    Examples
    --------
    ``report.review(store).table``
    """
    check_arguments(review, locals(), but=("store",))
    check_least(review, 2, n_boot=n_boot)
    check_least(review, 0, seed=seed)
    require_study(store)
    if multiverse is not None:
        MULTIVERSE.require(multiverse)
    facts = Facts(store, n_boot=n_boot, seed=seed, rating=rating, cluster=cluster, settled_by=settled_by)
    checks = (*ON_CODING, *ON_CODERS, *ON_MATERIAL, *((*ON_AGREEMENT, *ON_OVERLAP) if with_agreement else ()))
    checks += (*ON_MODELS, *ON_LINKS) if len(facts.by_models) else ON_LINKS
    objections = [one for check in checks for one in check(facts)]
    if multiverse is not None:
        every = MULTIVERSE.frame(multiverse)
        objections += [one for check in ON_CHOICES for one in check(facts, every)]
    read = read_further(read_mapping(further), function="review")
    objections += to_further(read)
    n_checked = len(checks) + len(read) + len(ON_CHOICES) * (multiverse is not None)
    return Review(tuple(objections), n_checked, made_with(store.codebook))


_FEWEST: Final = 20
_CEILING: Final = 2 / 3  # of the ratings
_MOST_LEVELS: Final = 12
_ALWAYS: Final = 0.95
_FEW_MISSING: Final = 0.05


def _out_of_scale(facts: Facts) -> Iterator[Objection]:
    """Find numbers as far from all others as these are from each other, such as a code for missing."""
    for name in facts.units.columns:
        column = facts.units[name]
        if name == "position" or not pd.api.types.is_numeric_dtype(column.dtype):
            continue
        levels = sorted(column.dropna().astype("float64").unique())
        for odd, rest, gap in (
            (levels[-1:], levels[:-1], levels[-1] - levels[-2] if len(levels) > 1 else 0.0),
            (levels[:1], levels[1:], levels[1] - levels[0] if len(levels) > 1 else 0.0),
        ):
            if 3 <= len(rest) < _MOST_LEVELS and gap >= rest[-1] - rest[0]:
                n = int((column == odd[0]).sum())
                yield Objection(
                    kind="rating_out_of_scale",
                    n=n,
                    seen=f"“{name}” is {odd[0]:g} for {n:,} texts and between {rest[0]:g} and {rest[-1]:g} "
                    "for all others.",
                    why="A code for missing values, or a typing error, counts as a rating in every mean "
                    "and link.",
                    answer="Make it missing in the file, and import the file again.",
                )


def _ceiling(facts: Facts) -> Iterator[Objection]:
    rating = facts.linked[0]
    if rating is None or rating not in facts.coded:
        return
    values = facts.coded[rating].dropna()
    if len(values) < _FEWEST or not pd.api.types.is_numeric_dtype(values.dtype):
        return
    share = {
        end: float((values == of).mean()) for end, of in (("highest", values.max()), ("lowest", values.min()))
    }
    end = max(share, key=share.__getitem__)
    if share[end] > _CEILING and values.nunique() != 2:
        yield Objection(
            kind="rating_ceiling",
            n=int(share[end] * len(values)),
            seen=f"“{rating}” has its {end} value for {percent(share[end])}% of {len(values):,} texts.",
            why="Where nearly all ratings are alike, no code can go with higher ones, whatever it does.",
            answer="Say how ratings are distributed (figures.rating_distributions), and treat an absent link "
            "as inconclusive.",
        )


def _missing(facts: Facts) -> Iterator[Objection]:
    rating = facts.linked[0]
    if rating is None or rating not in facts.coded:
        return
    missing = facts.coded[rating].isna()
    if len(missing) >= _FEWEST and missing.mean() > _FEW_MISSING:
        yield Objection(
            kind="rating_missing",
            n=int(missing.sum()),
            seen=f"“{rating}” is missing for {percent(missing.mean())}% of {len(missing):,} coded texts"
            f"{_by_code(facts, rating)}.",
            why="What these texts would have been rated could change a link, and the rated texts cannot show "
            "that it would not.",
            answer="Report how many are missing with and without each code, and what they could change "
            "(links.models.missing_ratings, report.tables.missing).",
        )


def _by_code(facts: Facts, rating: str) -> str:
    """Return of which codes the texts lack a rating more often, or less often, than others."""
    if facts.cluster is None:
        return ""
    is_rated = facts.units[rating].notna().astype("float64")
    units = facts.units.assign(
        **{rating: is_rated.where(is_rated > 0)}
    )  # of ratings, only that there are any
    found = links.models.missing_ratings(
        facts.decisions, units, rating=rating, cluster=facts.cluster, sources=["majority"]
    )
    found = found.drop_duplicates("code")
    apart = found[found["missing_p"] < SIZE / len(found)]
    more = apart["missing_with"] > apart["missing_without"]
    said = [
        f", {word} often where {facts.labels(list(codes))} applies"
        for word, codes in (("more", apart.loc[more, "code"]), ("less", apart.loc[~more, "code"]))
        if len(codes)
    ]
    return "".join(said)


def _missing_by_condition(facts: Facts) -> Iterator[Objection]:
    rating = facts.linked[0]
    if rating is None or rating not in facts.coded:
        return
    missing = facts.coded[rating].isna()
    for name in facts.conditions:
        if facts.differs(missing, facts.coded[name], by_participant=True) < SIZE / len(facts.conditions):
            shares = missing.groupby(facts.coded[name].astype(str)).mean()
            yield Objection(
                kind="rating_missing_by_condition",
                n=int(missing.sum()),
                seen=f"“{rating}” is missing for {percent(shares.min())} to {percent(shares.max())}% of the "
                f"coded texts, by {name}.",
                why="Ratings are then not missing at random, and conditions are no longer comparable.",
                answer="Say why ratings are missing, and show what is found with and without that condition.",
            )


def _one_condition(facts: Facts) -> Iterator[Objection]:
    """Find coders whose participants are all of one condition."""
    whose = facts.coded.set_index("unit_id", drop=False)
    for name in facts.conditions:
        of_all = facts.coded.drop_duplicates([*facts.drawn, name])[name].value_counts(normalize=True)
        found = []
        for coder, own in facts.decisions.groupby("coder"):
            seen = whose.loc[own["unit_id"].unique()].dropna(subset=[name])
            levels = seen[name].unique()
            n_drawn = len(seen.drop_duplicates(facts.drawn))
            if (
                len(levels) == 1
                and of_all[levels[0]] ** n_drawn * len(facts.coders) * len(facts.conditions) < SIZE
            ):
                found.append((str(coder), str(levels[0])))
        if found:
            named = ", ".join(f"{coder} ({level})" for coder, level in found[:3])
            yield Objection(
                kind="one_condition",
                n=len(found),
                seen=f"Coders who saw texts of only one {name}: {named} ({len(found)} in total).",
                why="What differs between conditions may then be what differs between coders.",
                answer="Assign texts at random or stratified by it (store.assign(…, stratify=…)), and code "
                "blind to it.",
            )


def _half_by_one(facts: Facts) -> Iterator[Objection]:
    counts = facts.coded["case_id"].value_counts()
    if len(counts) > 1 and counts.sum() >= _FEWEST and counts.iloc[0] * 2 >= counts.sum():
        yield Objection(
            kind="participant_dominates",
            n=int(counts.iloc[0]),
            seen=f"One participant wrote {counts.iloc[0]:,} of {counts.sum():,} coded texts.",
            why="The study is then largely about one person.",
            answer="Report what is found without them, and count participants as well as texts.",
        )


def _coded_apart(facts: Facts) -> Iterator[Objection]:
    """Find coders who decide otherwise on a text that they had before, word for word."""
    texts = facts.coded.set_index("unit_id")["text"]
    texts = texts[(texts.str.len() >= 40) & texts.duplicated(keep=False)]
    rows = facts.decisions[facts.decisions["unit_id"].isin(texts.index)]
    rows = rows.assign(text=rows["unit_id"].map(texts))
    same = rows.groupby(["coder", "text", "code"])["applied"].agg(["sum", "size"])
    once = same[(same["size"] > 1) & (same["sum"] > 0)]
    differ = int((once["sum"] < once["size"]).sum())
    if len(once) >= _FEWEST and differ * 3 > len(once):
        yield Objection(
            kind="same_text_coded_apart",
            n=differ,
            seen=f"Of {len(once):,} codes on texts that a coder had twice, word for word, {differ:,} were "
            "applied to only one of the two.",
            why="A coder who does not agree with themselves cannot agree with others.",
            answer="Look at these texts with their coders; agreement.stability measures how consistent "
            "they are.",
        )


def _together(facts: Facts) -> Iterator[Objection]:
    """Find two codes that are applied on the same texts, where neither is above the other in the codebook."""
    table = facts.decisions.pivot_table(
        index=["unit_id", "coder"], columns="code", values="applied", aggfunc="max"
    )
    applied = table.dropna().astype(bool)
    found = []
    for one, other in combinations(applied.columns, 2):
        both, either = (applied[one] & applied[other]).sum(), (applied[one] | applied[other]).sum()
        family = {facts.parent(one), facts.parent(other)} & {one, other}
        if either >= _FEWEST and both >= _ALWAYS * either and either <= 0.9 * len(applied) and not family:
            found.append((str(one), str(other)))
    if found:
        one, other = found[0]
        yield Objection(
            kind="codes_together",
            n=len(found),
            seen=f"{facts.labels([one])} and {facts.labels([other])} were applied to the same texts"
            + (f", and so were {len(found) - 1} more pairs of codes." if len(found) > 1 else "."),
            why="Two codes that always occur together are one code, or coders cannot tell them apart.",
            answer="Merge them, or sharpen the rules that separate them (CodebookWidget).",
        )


def _always(facts: Facts) -> Iterator[Objection]:
    shares = facts.decisions.groupby("code")["applied"].agg(["mean", "size"])
    codes = [str(code) for code in shares.index[(shares["size"] >= _FEWEST) & (shares["mean"] >= _ALWAYS)]]
    if codes:
        yield Objection(
            kind="code_always",
            n=len(codes),
            seen=f"{facts.labels(codes)}: applied to {100 * _ALWAYS:g}% of the texts or more.",
            why="A code that is nearly everywhere distinguishes few texts, and agreement on it rests on "
            "those few.",
            answer="Say so and do not link it to ratings, or split it into narrower codes.",
        )


ON_MATERIAL: Final[tuple[Callable[[Facts], Iterator[Objection]], ...]] = (
    _out_of_scale,
    _ceiling,
    _missing,
    _missing_by_condition,
    _one_condition,
    _half_by_one,
    _coded_apart,
    _together,
    _always,
)
