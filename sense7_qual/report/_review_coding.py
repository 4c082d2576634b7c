"""What a reviewer looks at in how a study was coded: blindness, order, completeness, the codebook."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Final

import pandas as pd

from sense7_qual._basis import Basis
from sense7_qual._messages import first_three
from sense7_qual._present import counted
from sense7_qual.acts.contents import Suggested
from sense7_qual.report._review_facts import Facts, Objection

_KEEPING: Final = ("add", "rename", "move", "annotate", "reword", "retire")
_FEWEST_PARTICIPANTS: Final = 10
_SECONDS: Final = 3.0
_LEAST_GAPS: Final = 20
_CLOCK: Final = pd.Timedelta(minutes=10)  # by which a clock may well be set back
_MANY_CODERS: Final = 12  # fewer may well be more than the texts of a first try


def _unfinished(facts: Facts) -> Iterator[Objection]:
    dealt = facts.plan.dropna(subset=["coder"])[["unit_id", "coder"]].drop_duplicates()
    done = facts.coverage[["unit_id", "coder"]].drop_duplicates()
    n = len(dealt) - len(dealt.merge(done, on=["unit_id", "coder"]))
    if n:
        yield Objection(
            kind="unfinished",
            n=n,
            seen=f"Of {counted(len(dealt), 'assigned coding')} of a text, {n:,} "
            f"{'is' if n == 1 else 'are'} not finished.",
            why="Which texts a coder leaves out is seldom random.",
            answer="Finish them, or assign the rest again (store.assign) and say what was left out and why.",
        )


def _no_round(facts: Facts) -> Iterator[Objection]:
    shared = facts.coverage[facts.coverage["unit_id"].isin(facts.double)]
    n = shared.loc[shared["round"].isna(), "unit_id"].nunique()
    if n:
        yield Objection(
            kind="no_round",
            n=n,
            seen=f"{counted(n, 'text was', 'texts were')} coded by several coders outside any round.",
            why="Nothing in the record shows that their coders were blind to each other.",
            answer="Open a round for texts that several code (rounds.open_round) before they are coded; for "
            "these, say how coders were kept blind.",
        )


def _late(facts: Facts) -> Iterator[Objection]:
    late = [
        key
        for key, at in facts.first_finished.items()
        if (since := facts.unblinded.get(str(key[2]))) is not None and at > since
    ]
    if late:
        yield Objection(
            kind="finished_after_unblinding",
            n=len(late),
            seen=f"{counted(len(late), 'text was', 'texts were')}"
            " first finished after their round was unblinded.",
            why="Whoever could see the others' codings did not code independently of them.",
            answer="Code other texts in a new round, blind, and report those.",
        )


def _changed(facts: Facts) -> Iterator[Objection]:
    changed = {
        (act.coder, act.unit_id)
        for act in facts.acts
        if act.traits.subject == "coding"
        and (act.coder, act.unit_id, act.round) in facts.first_finished
        and (since := facts.unblinded.get(str(act.round))) is not None
        and facts.decided_at.get((act.coder, act.act_id), act.at) > since
    }
    if changed:
        yield Objection(
            kind="changed_after_unblinding",
            n=len(changed),
            seen=f"{counted(len(changed), 'coding of a text was', 'codings of a text were')}"
            " changed in a round after it was unblinded.",
            why="Such changes may be concessions to the others, not what each coder read.",
            answer="Revise in a round of discussion (rounds.open_round(…, discusses=…)) and report before "
            "and after separately (report.tables.difference).",
        )


def _time_runs_back(facts: Facts) -> Iterator[Objection]:
    """Find acts that say they were done well before another one that their coder had done already."""
    latest: dict[str, pd.Timestamp] = {}
    early = []
    for act in facts.acts:
        at = pd.Timestamp(act.at)
        before = latest.get(act.coder, at)
        latest[act.coder] = max(at, before)
        if act.traits.decides and before - at > _CLOCK:
            early.append(act.coder)
    if early:
        yield Objection(
            kind="time_runs_back",
            n=len(early),
            seen=f"{counted(len(early), 'act was', 'acts were')} recorded with a time before that of an "
            f"earlier one, by {first_three(sorted(set(early)))}.",
            why="When they were done is not known: a computer's clock was wrong, or somebody set a time so "
            "that they count as made before an unblinding.",
            answer="Ask whose clock it was, and say so; leave these coders out of agreement "
            "(store.decisions(coder=…)) where nobody knows.",
        )


def _revised(facts: Facts) -> Iterator[Objection]:
    if not facts.unblinded:
        return
    since, last = min(facts.unblinded.values()), max(facts.coverage["finished_at"], default="")
    late = [
        one
        for one in facts.revisions
        if one.at > since and any(change.kind not in _KEEPING for change in one.changes) and last < one.at
    ]
    if late:
        yield Objection(
            kind="revised_after_unblinding",
            n=len(late),
            seen=f"{counted(len(late), 'revision')}"
            " changed what codes mean after a round was unblinded, and nothing "
            "was coded since.",
            why="A codebook that was changed after the codings were compared is not the one that was tested.",
            answer="Code fresh texts under the last version, blind, and report those.",
        )


def _stale(facts: Facts) -> Iterator[Objection]:
    n = len(facts.stale)
    if n:
        codes = list(dict.fromkeys(facts.stale["code"]))
        yield Objection(
            kind="stale_open",
            n=n,
            seen=f"{counted(n, 'decision')} on {facts.labels(codes)} left open since the codebook changed.",
            why="They are missing from every count, and not at random.",
            answer="Have them reviewed: CodingWidget(store, coder=…, review=codings.stale(…)).",
        )


def _suggested_first(facts: Facts) -> Iterator[Objection]:
    first = {
        (act.coder, act.unit_id)
        for act in facts.acts
        if act.kind == "show_suggestions"
        and act.text is not None
        and (shown := Suggested.from_text(act.text)).when == "shown"
        and not shown.withheld
    }
    if first:
        yield Objection(
            kind="suggestions_first",
            n=len(first),
            seen=f"A model's suggestions were shown before {counted(len(first), 'coding')} of a text.",
            why="Coders follow what they are shown, so what they decide is partly the model's.",
            answer="Agreement leaves out what was decided after a suggestion (store.decisions()); report "
            "what suggestions changed (suggestions.effect).",
        )


def _rating_seen(facts: Facts) -> Iterator[Objection]:
    shown = [
        act
        for act in facts.acts
        if act.kind == "set_options" and json.loads(str(act.text)).get("rating") == "shown"
    ]
    if shown:
        yield Objection(
            kind="rating_seen",
            n=len(shown),
            seen="The participant's rating was shown next to the text while it was coded.",
            why="Coders who know the rating read the text with it in mind, which links the two by itself.",
            answer="Hide ratings until a text is finished (store.set_options(rating='finished')), have some "
            "texts coded again that way, and compare the links.",
        )


def _participants(facts: Facts) -> Iterator[Objection]:
    cases = facts.units.set_index("unit_id")["case_id"].reindex(facts.decisions["unit_id"].unique())
    n_missing, n = int(cases.isna().sum()), cases.nunique()
    if n_missing:
        yield Objection(
            kind="no_participant",
            n=n_missing,
            seen=f"{counted(n_missing, 'coded text names', 'coded texts name')} no participant.",
            why="Texts of one person are alike: intervals that treat them as independent are too narrow.",
            answer="Import the column of participants (case_id).",
        )
    elif 0 < n < _FEWEST_PARTICIPANTS:
        yield Objection(
            kind="few_participants",
            n=n,
            seen=f"The coded texts come from {counted(n, 'participant')}.",
            why=f"No interval over fewer than {_FEWEST_PARTICIPANTS} participants can be relied on.",
            answer="Describe what was found without testing links, or code texts of more participants.",
        )


def _coders_are_participants(facts: Facts) -> Iterator[Objection]:
    both = sorted({one.coder for one in facts.acts} & set(facts.units["case_id"].dropna().astype(str)))
    if both:
        yield Objection(
            kind="coder_is_participant",
            n=len(both),
            seen=f"{counted(len(both), 'coder has', 'coders have')} the id of a participant.",
            why="Either people coded their own texts, or two columns were swapped on import.",
            answer="Compare the columns of the import (corpus.recognise) with the file.",
        )


def _axes(facts: Facts) -> Iterator[Objection]:
    """Find texts and coders that were taken for each other when codings were brought in."""
    ids = set(facts.units["unit_id"].astype(str)) | set(facts.units["document_id"].dropna().astype(str))
    named, n_units = sorted(set(facts.coders) & ids), facts.decisions["unit_id"].nunique()
    many = len(facts.coders) if len(facts.coders) > max(n_units, _MANY_CODERS) else 0
    if named or many:
        seen = f"{counted(len(named), 'coder has', 'coders have')} the id of a text or conversation."
        if many:
            seen = f"{many:,} coders decided on {n_units:,} texts: more coders than texts."
        yield Objection(
            kind="swapped_axes",
            n=many or len(named),
            seen=seen,
            why="If coders and texts are swapped, every number compares texts instead of people.",
            answer="Check in the table that the codings came from which column holds the coder and which the "
            "text (codings.from_table).",
        )


def _links(facts: Facts) -> Iterator[Objection]:
    """Find links to a rating whose intervals take texts of one participant for independent."""
    rating, cluster = facts.linked
    rows = facts.units[facts.units["unit_id"].isin(facts.decisions["unit_id"])]
    if rating is None or rating not in rows or cluster not in rows:
        return
    rows = rows[rows[rating].notna()]
    whose = rows.dropna(subset=[cluster, "case_id"]).groupby("case_id")[cluster].nunique()
    apart, missing = int((whose > 1).sum()), int(rows[cluster].isna().sum())
    if apart or missing:
        seen = f"{apart:,} of {len(whose):,} participants have texts in several of these"
        if missing:
            seen = f"{missing:,} of {len(rows):,} texts are in none of these"
        yield Objection(
            kind="links_without_clusters",
            n=missing or apart,
            seen=f"Codes are linked to “{rating}” with intervals over the values of {cluster}, but {seen}.",
            why="Texts of one participant are alike: intervals that ignore this are too narrow.",
            answer="Resample participants: cluster='case_id' in links.code_to_rating and in the plan.",
        )


def _one_participant(facts: Facts) -> Iterator[Objection]:
    cases = facts.units.set_index("unit_id")["case_id"]
    present = facts.decisions[facts.decisions["applied"]].drop_duplicates(["unit_id", "code"])
    carried = []
    for code, own in present.groupby("code", sort=False):
        counts = own["unit_id"].map(cases).value_counts()
        if len(own) >= 5 and len(counts) and counts.iloc[0] * 2 >= len(own):
            carried.append(str(code))
    if carried:
        yield Objection(
            kind="one_participant",
            n=len(carried),
            seen=f"One participant wrote half or more of the texts with {facts.labels(carried)}.",
            why="What one person says often is not a theme of the study.",
            answer="Report participants as well as texts for each code (report.tables.condition), and say "
            "so.",
        )


def _unused(facts: Facts) -> Iterator[Objection]:
    applied = set(facts.decisions.loc[facts.decisions["applied"], "code"])
    known = applied | {one.code for one in Basis.of(facts.decisions).waiting}  # still to be reviewed
    unused = [code.id for code in facts.codebook.codable if code.id not in known]
    if unused and len(facts.decisions):
        yield Objection(
            kind="code_unused",
            n=len(unused),
            seen=f"{facts.labels(unused)}: never applied.",
            why="A code that nobody applies is either not in the material or not understood.",
            answer="Say which it is, or retire it (CodebookWidget).",
        )


def _undefined(facts: Facts) -> Iterator[Objection]:
    bare = [code.id for code in facts.codebook.codable if not code.definition.strip()]
    if bare:
        yield Objection(
            kind="no_definition",
            n=len(bare),
            seen=f"{facts.labels(bare)}: no definition.",
            why="Nobody else can apply, or judge, a code that is a name alone.",
            answer="Write what it means, when to use it and when not (CodebookWidget).",
        )


def _unsure(facts: Facts) -> Iterator[Objection]:
    n, total = int((facts.codings["confidence"] == "unsure").sum()), len(facts.codings)
    if total >= 20 and n * 4 > total:
        yield Objection(
            kind="many_unsure",
            n=n,
            seen=f"Coders were unsure about {n:,} of {total:,} codings.",
            why="Where coders doubt one coding in four, the rules are not clear enough.",
            answer="Sharpen the rules of the codes concerned, and report results without unsure codings too.",
        )


def _found_by_search(facts: Facts) -> Iterator[Objection]:
    n, total = int((facts.codings["found_by"] == "search").sum()), len(facts.codings)
    if n:
        yield Objection(
            kind="found_by_search",
            n=n,
            seen=f"Of {counted(total, 'coding')}, {n:,} {'was' if n == 1 else 'were'} made at once for the "
            "results of a search.",
            why="A word is not its meaning: such passages may not have been read, and passages that say the "
            "same in other words are missed.",
            answer="Read these passages, remove the code where it does not fit, and report how many were "
            "found by a search.",
        )


def _too_fast(facts: Facts) -> Iterator[Objection]:
    fast = []
    for coder, own in facts.by_hand.groupby("coder"):
        gaps = own["at"].diff().dt.total_seconds().dropna()
        if len(gaps) >= _LEAST_GAPS and 0 < gaps.median() < _SECONDS:
            fast.append(str(coder))
    if fast:
        yield Objection(
            kind="too_fast",
            n=len(fast),
            seen=f"{counted(len(fast), 'coder')}"
            f" finished half of their texts in under {_SECONDS:g} seconds each.",
            why="Nobody reads a text and decides on every code that fast.",
            answer="Ask them how they coded; have some of their texts coded by someone else.",
        )


def _repeated(facts: Facts) -> Iterator[Objection]:
    texts = facts.units.set_index("unit_id")["text"].reindex(facts.decisions["unit_id"].unique()).dropna()
    long = texts[texts.str.len() >= 40]
    n = int(long.duplicated().sum())
    if n * 20 > len(texts):
        yield Objection(
            kind="same_texts",
            n=n,
            seen=f"Of {counted(len(texts), 'coded text')}, {n:,} {'repeats' if n == 1 else 'repeat'} another "
            "word for word.",
            why="Texts that occur twice count twice in every number.",
            answer="Find out where they come from, and leave the repetitions out.",
        )


ON_CODING: Final[tuple[Callable[[Facts], Iterator[Objection]], ...]] = (
    _unfinished,
    _no_round,
    _late,
    _changed,
    _time_runs_back,
    _revised,
    _stale,
    _suggested_first,
    _rating_seen,
    _participants,
    _coders_are_participants,
    _axes,
    _links,
    _one_participant,
    _unused,
    _undefined,
    _unsure,
    _found_by_search,
    _too_fast,
    _repeated,
)
