"""What a reviewer looks at in links: what was fixed in advance, what is left open, and other choices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import pandas as pd

from sense7_qual import links
from sense7_qual._present import counted
from sense7_qual.errors import TableError
from sense7_qual.report._review_facts import Facts, Objection
from sense7_qual.report._settled_by import linked_source
from sense7_qual.report.tables._links import of_hypothesis

_FOUND: Final = 0.05
_BOTH: Final = " + human"


def _adjustment_open(facts: Facts) -> Iterator[Objection]:
    """Find a registered plan that links several codes and leaves open how their p are adjusted."""
    plan, n = facts.registered, len(facts.codebook.codable)
    if plan is not None and plan.rating is not None and plan.adjust is None and n > 1:
        yield Objection(
            kind="adjustment_open",
            n=n,
            seen=f"The registered plan links {counted(n, 'code')} to “{plan.rating}” and leaves open how p "
            "is adjusted, and over which of them.",
            why="Whoever chooses this after the results can choose which links are found.",
            answer="Report p by max-T over all codes and sources (links.code_to_rating(…, adjust='max-t')); "
            "in the next plan name it: AnalysisPlan(adjust='max-t').",
        )


def _settled_by_open(facts: Facts) -> Iterator[Objection]:
    """Find a registered plan that links codes and leaves open how disagreements count."""
    plan = facts.registered
    if plan is not None and plan.rating is not None and plan.settled_by is None and facts.disagreements:
        yield Objection(
            kind="settled_by_open",
            n=len(facts.disagreements),
            seen=f"The registered plan links codes to “{plan.rating}” and leaves open how "
            f"{counted(len(facts.disagreements), 'disagreement')} count.",
            why="Whoever chooses this after the results can choose which links are found.",
            answer="Report the links under each choice (links.multiverse); in the next plan name it: "
            "AnalysisPlan(settled_by='rulings').",
        )


def _inconclusive(facts: Facts) -> Iterator[Objection]:
    """Find codes of which neither a link nor its absence is shown, by the margin that was registered."""
    rows = _registered_links(facts)
    if rows is None:
        return
    of = of_hypothesis(rows.to_dict("records"))
    p = f"{of}_p_adjusted" if rows[f"{of}_p"].notna().any() else "p_adjusted"
    left_open = rows[(rows[p] >= _FOUND) & (rows["equivalence_p_adjusted"] >= _FOUND)]
    if len(left_open):
        yield Objection(
            kind="links_inconclusive",
            n=len(left_open),
            seen=f"{facts.labels(left_open['code'].tolist())}: neither a link with the rating nor, by the "
            "registered margin, its absence is shown.",
            why="A link that is not found is not a link that is not there.",
            answer="Do not write that there is none: report the interval beside the margin "
            "(figures.link_plot), and how many participants would tell (links.power).",
        )


def _of_participants(facts: Facts) -> Iterator[Objection]:
    """Find a rating that is the same in all rated texts of each participant, though they wrote several."""
    rating, cluster = facts.linked
    if rating is None or rating not in facts.coded or cluster not in facts.coded:
        return
    grouped = facts.coded.dropna(subset=[rating, cluster]).groupby(cluster)[rating]
    if not len(grouped) or grouped.size().max() < 2 or grouped.nunique().max() > 1:
        return
    yield Objection(
        kind="rating_of_participants",
        n=len(grouped),
        seen=f"“{rating}” is the same in all texts of each of {counted(len(grouped), 'participant')}.",
        why="A participant's own texts then cannot be compared: a link is one between participants, and "
        "whatever else they differ in counts in it.",
        answer="Report r with its own interval and p (report.tables.link prints them), and write of "
        "participants who rate higher or lower, not of texts that are rated so.",
    )


def _registered_links(facts: Facts) -> pd.DataFrame | None:
    """Return the links that were registered with a margin of equivalence; None where there are none."""
    plan, (rating, cluster) = facts.registered, facts.linked
    if plan is None or not plan.equivalence or rating is None or facts.settled_by is None:
        return None
    if facts.settled.empty:
        return None
    source = linked_source(facts.settled_by, facts.coders)
    try:
        every = links.code_to_rating(
            facts.settled,
            facts.units,
            rating=rating,
            cluster=cluster,
            adjust=plan.adjust or "bh",
            equivalence=plan.equivalence,
            hypothesis=plan.hypothesis or "within",
            n_boot=2,
            sources=None if plan.adjust == "max-t" and source == "pooled" else [source],
        )
    except TableError:  # the rating, or whose it is, cannot be read: other checks say so
        return None
    return every[every["source"] == source]


def _by_choice(facts: Facts, every: pd.DataFrame) -> Iterator[Objection]:
    """Find links that an interval shows under some choices, and all choices together do not."""
    tried = every[every["analysis"] != "whole"]
    none = tried["effect"].eq("odds_ratio").astype("float64")
    shown = set(tried.loc[(tried["low"] > none) | (tried["high"] < none), "code"])
    whole_p = every.drop_duplicates("code").set_index("code")["whole_p"]
    codes = [str(code) for code, p in whole_p.items() if code in shown and p >= _FOUND]
    if codes:
        yield Objection(
            kind="link_by_choice",
            n=len(codes),
            seen=f"{facts.labels(codes)}: a link under some choices of source, analysis and exclusion, and "
            "none in all of them together (p .05 or more).",
            why="A link that depends on a choice may be that choice's.",
            answer="Print all choices and their p (report.tables.multiverse, figures.specification_curve), "
            "and draw no conclusion from one of them.",
        )


def _one_prompt(facts: Facts, every: pd.DataFrame) -> Iterator[Objection]:
    """Find models whose link rests on one prompt."""
    whole = every[every["analysis"] == "whole"]
    names = [str(one).removesuffix(_BOTH) for one in whole["source"].unique() if str(one).endswith(_BOTH)]
    alone = [
        name
        for name in names
        if (whole.loc[(whole["source"] == name) & whole["low"].notna(), "n_prompts"] == 1).any()
    ]
    if alone:
        yield Objection(
            kind="one_prompt",
            n=len(alone),
            seen=f"The link of {', '.join(alone[:3])} rests on one prompt.",
            why="Another wording of the same question may give another link, and nothing shows how far.",
            answer="Ask a part of the texts with other wordings and orders (coders.variants), and report the "
            "whole error (links.multiverse(…, arms=…)).",
        )


ON_LINKS: Final[tuple[Callable[[Facts], Iterator[Objection]], ...]] = (
    _adjustment_open,
    _settled_by_open,
    _inconclusive,
    _of_participants,
)
ON_CHOICES: Final[tuple[Callable[[Facts, pd.DataFrame], Iterator[Objection]], ...]] = (
    _by_choice,
    _one_prompt,
)
