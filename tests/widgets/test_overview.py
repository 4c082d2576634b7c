"""The overview asked as a browser asks: numbers equal to the engines', and nothing of blind work."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sense7_qual as qual
from sense7_qual import acts, adjudication, agreement, codings, corpus, rounds
from sense7_qual._basis import Basis
from sense7_qual._present import coefficient
from sense7_qual.errors import ArgumentError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from sense7_qual.widgets import CodingWidget, OverviewWidget
from sense7_qual.widgets._lead_view import duration
from sense7_qual.widgets._overview.rows import per_text
from tests.helpers.browser import OfStudy, new_id
from tests.helpers.lead import Lead
from tests.helpers.overview import IDS, SENTINEL, UNITS, N, Viewer, coded, open_rounds, unblind, work
from tests.helpers.revised_codebooks import BASE, edited, plus

pytestmark = pytest.mark.long

New = Callable[[], Store]


@pytest.fixture(
    params=["folder", pytest.param("postgresql", marks=[pytest.mark.nightly, pytest.mark.postgres])]
)
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[New]:
    """Make a study; in PostgreSQL the coders have no role of their own."""
    made: list[Store] = []

    def new() -> Store:
        if request.param == "folder":
            made.append(Store.create(tmp_path / f"s{len(made)}", units=UNITS, codebook=BASE))
            return made[-1]
        postgres: Callable[..., str] = request.getfixturevalue("postgres")
        made.append(Store.create(postgres(), units=UNITS, codebook=BASE))
        for coder in ("ana", "ben", "cleo", "chair"):
            made[-1].admin.add_coder(coder)
        return made[-1]

    yield new
    Viewer.end()
    for store in made:
        if request.param == "postgresql":
            server.connect(str(store.path)).engine.dispose()


def half_blind(path: Path) -> None:
    made = Store.create(path, units=UNITS, codebook=BASE)
    open_rounds(made)
    work(made, "ana", seed=1)
    work(made, "ben", seed=2, seconds=95)
    unblind(made, "one")


@pytest.fixture
def store(copied: Callable[[Callable[[Path], object]], Store]) -> Iterator[Store]:
    """A study whose round one is coded by ana and ben and unblinded; round two is blind."""
    yield copied(half_blind)
    Viewer.end()


def of_code(rows: list[dict[str, Any]], code: str) -> dict[str, Any]:
    return next(row for row in rows if row["code"] == code)


# numbers --------------------------------------------------------------------------------------------


def test_progress_is_that_of_the_rounds_with_the_time_that_is_left(store: Store) -> None:
    work(store, "ben", round="two", n=12, seconds=40)
    work(store, "cleo", round="two", n=4)
    shown = Viewer(store).look()["rounds"]["rows"]
    got = [(row["round"], one["coder"], one["n"], one["done"]) for row in shown for one in row["coders"]]
    wanted = rounds.progress(store.rounds, store.coverage())
    assert got == list(wanted[["round", "coder", "n_units", "n_finished"]].itertuples(index=False, name=None))
    ana, ben, cleo = shown[1]["coders"]
    assert ben["time"] == "about 20 min at 40 s a text"  # 28 × 40 s
    assert (ana["time"], cleo["time"]) == ("", "")  # none, and fewer than five times between texts
    assert [row["state"] for row in shown] == ["unblinded", "blind"]
    assert [one["time"] for one in shown[0]["coders"]] == ["", ""]  # nothing is left


def test_who_was_dealt_a_part_of_a_round_is_measured_by_that_part(store: Store) -> None:
    store.assign(coders=["ana", "ben", "cleo"], overlap=0.0, coder="chair", round="two")
    two = Viewer(store).look()["rounds"]["rows"][1]
    assert sum(one["n"] for one in two["coders"]) == two["n_units"] == N


def test_agreement_is_that_of_the_engines(store: Store) -> None:
    parts = Viewer(store, width=0.4).look()
    decided, named = store.decisions(), {"units": UNITS, "cluster": "case_id"}
    once = agreement.by_code(decided, **named).set_index("code")
    looks = agreement.sequential(decided, width=0.4, **named).set_index("code")
    for row in parts["agreement"]["rows"]:
        code = row["code"]
        wanted = [once.loc[code, name] for name in ("n_units", "alpha", "alpha_low", "alpha_high")]
        assert [row[name] for name in ("n", "alpha", "low", "high")] == pytest.approx(wanted)
        wanted = [looks.loc[code, name] for name in ("low", "high", "n_more")]
        assert [row[name] for name in ("look_low", "look_high", "n_more")] == pytest.approx(wanted)
    assert [row["code"] for row in parts["agreement"]["rows"]] == list(BASE.ids)
    assert of_code(parts["agreement"]["rows"], "cold")["more"].endswith(" more texts")


def test_where_a_text_has_no_participant_texts_are_taken_for_independent_and_that_is_said(
    tmp_path: Path,
) -> None:
    units = UNITS.assign(case_id=UNITS["case_id"].mask(UNITS["unit_id"] == IDS[3]))
    store = Store.create(tmp_path / "s", units=units, codebook=BASE)
    open_rounds(store)
    work(store, "ana", seed=1)
    work(store, "ben", seed=2)
    unblind(store, "one")
    parts = Viewer(store).look()
    once = agreement.by_code(store.decisions()).set_index("code")
    row = of_code(parts["agreement"]["rows"], "warm")
    assert [row["low"], row["high"]] == pytest.approx(list(once.loc["warm", ["alpha_low", "alpha_high"]]))
    assert "no participant" in " ".join(parts["agreement"]["words"])
    assert (parts["change"]["came"], "no participant" in parts["change"]["came_words"]) == ([], True)


def test_agreement_of_each_round_is_that_of_the_engine_and_none_of_a_blind_one(store: Store) -> None:
    look = Viewer(store).look()["agreement"]
    assert look["by_round"] == []  # one round alone
    work(store, "ana", round="two", seed=3)
    work(store, "ben", round="two", seed=4)
    assert Viewer(store).look()["agreement"]["by_round"] == []  # the other one is blind
    unblind(store, "two")
    shown = Viewer(store).look()["agreement"]["by_round"]
    assert [one["round"] for one in shown] == ["one", "two"]
    for one in shown:
        decided = store.decisions(round=one["round"])
        wanted = agreement.by_code(decided, units=store.units, cluster="case_id").set_index("code")
        assert set(one["codes"]) == set(wanted.index)
        for code, row in one["codes"].items():
            assert row["value"] == coefficient(wanted.loc[code, "alpha"], 2)
            assert row["n"] == wanted.loc[code, "n_units"]
    values = [[row["value"] for row in one["codes"].values()] for one in shown]
    assert values[0] != values[1]


def test_agreement_is_of_what_was_decided_before_suggestions(store: Store) -> None:
    before = Viewer(store).look()["agreement"]
    ids = store.coverage(coder="ana")["unit_id"].tolist()[:20]
    theirs = store.codings(coder="ben").groupby("unit_id")["code"].agg(set)
    for unit_id in ids:
        mine = {"coder": "ana", "unit_id": unit_id, "codebook": BASE, "round": "one"}
        batch = [acts.contents.show_suggestions(**mine, model="words")]
        batch += [acts.apply(**mine, code=code) for code in theirs.get(unit_id, ())]
        store.append(batch)
    after = Viewer(store).look()["agreement"]
    assert after["rows"] == before["rows"]
    decided, last = store.decisions(), store.decisions(settled_by="nothing")
    wanted = agreement.by_code(decided, units=store.units, cluster="case_id").set_index("code")
    now = agreement.by_code(last, units=store.units, cluster="case_id").set_index("code")
    shown = {row["code"]: row["alpha"] for row in after["rows"]}
    assert shown == pytest.approx(wanted["alpha"].to_dict())
    assert (now["alpha"] > wanted["alpha"] + 0.05).any()


def test_a_repeated_round_is_mixed_into_no_other_and_its_own_row_says_what_its_coders_had_seen(
    store: Store,
) -> None:
    before = Viewer(store).look()
    work(store, "ana", round="two", seed=3)
    for unit_id in IDS:  # ben copies what ana decided in round one, which he has read
        of_ana = store.codings(coder="ana", round="one").query("unit_id == @unit_id")["code"]
        store.append(coded("ben", unit_id, *of_ana, round="two"))
    unblind(store, "two")
    after = Viewer(store).look()
    assert after["agreement"]["rows"] == before["agreement"]["rows"]
    two = next(one for one in after["agreement"]["by_round"] if one["round"] == "two")
    basis = Basis.parse(two["basis"])
    assert (basis.rounds, dict(basis.inside)["after seeing others"]) == (("two",), N)
    first, last = (
        Basis.parse(after[part][name].removeprefix("Basis: ").removesuffix("."))
        for part, name in (("agreement", "basis"), ("codes", "words"))
    )
    assert (first.rounds, dict(first.left_out)["of a later round"]) == (("one",), 2 * N)
    assert (last.rule, last.rounds) == ("last", ("two",))


def test_codes_are_counted_as_the_decisions_have_them(store: Store) -> None:
    shown = Viewer(store).look()["codes"]
    counts = codings.tally(store.decisions(settled_by="nothing"))
    for row in shown["rows"]:
        mine = counts[counts["code"] == row["code"]]
        assert row["n"] == (mine["n_applied"] > 0).sum()
        assert row["share"] == pytest.approx(mine["n_applied"].sum() / mine["n_coders"].sum())
    assert shown["n_finished"] == N


def test_behind_each_number_stand_as_many_texts(store: Store) -> None:
    work(store, "cleo", round="two", n=4)
    viewer = Viewer(store)
    parts = viewer.look()
    for row in parts["agreement"]["rows"]:
        assert len(viewer.units("double", code=row["code"])) == row["n"]
    for row in parts["codes"]["rows"]:
        assert len(viewer.units("applied", code=row["code"])) == row["n"]
    for row in parts["rounds"]["rows"]:
        assert viewer.units("planned", round=row["round"]) == IDS[: row["n_units"]]
        for one in row["coders"]:
            named = {"round": row["round"], "coder": one["coder"]}
            assert len(viewer.units("finished", **named)) == one["done"]
            assert len(viewer.units("left", **named)) == one["left"]
    found = adjudication.queue(store.decisions(settled_by="nothing", viewer="chair"))
    assert viewer.units("open") == list(dict.fromkeys(found["unit_id"]))
    assert viewer.units("open", code="cold") == found.loc[found["code"] == "cold", "unit_id"].tolist()
    page = viewer.ask("units", door={"of": "open", "code": "cold"}, first=0, find="")
    assert page["rows"][0]["note"] in ("ana – not ben", "ben – not ana")
    found = viewer.ask("units", door={"of": "planned", "round": "one"}, first=0, find="TEXT 7 ")
    assert [row["unit_id"] for row in found["rows"]] == ["m07"]


def test_a_text_opens_with_the_codings_that_may_be_seen(store: Store) -> None:
    start = UNITS["text"][0].index("of")
    span = {"start": start, "end": start + 2}
    named: dict[str, Any] = {"coder": "ana", "unit_id": "m00", "codebook": BASE, "round": "one"}
    store.append([acts.apply(code="other", **named, **span), acts.finish(**named)])
    store.append(coded("cleo", "m00", "cold", round="two"))
    text = Viewer(store, coder="ben").ask("unit", unit_id="m00")
    assert text["text"] == UNITS["text"][0]
    assert [one["coder"] for one in text["coders"]] == ["ben", "ana"]  # one's own first
    ana = {one["code"]: one for one in text["coders"][1]["codings"] if one["start"] is not None}
    assert (ana["other"]["start"], ana["other"]["end"]) == (start + 2, start + 4)  # 👍🏽 is four units there
    assert Viewer(store).ask("unit", unit_id="nowhere")["type"] == "refused"


# what is next ---------------------------------------------------------------------------------------


def test_a_round_that_all_finished_and_is_blind_comes_first_and_says_how_it_is_unblinded(
    store: Store,
) -> None:
    for coder in ("ana", "ben", "cleo"):
        work(store, coder, round="two", seed=3)
    chair = Viewer(store).look()
    first = chair["attention"]["rows"][0]
    assert "round 'two'" in first["what"]
    exec(first["cell"], {"qual": __import__("sense7_qual"), "store": store})  # noqa: S102 – our own cell
    assert store.rounds[1].unblinded_at is not None
    assert not any("still blind" in row["what"] for row in Viewer(store).look()["attention"]["rows"])


def test_weak_codes_disagreements_proposals_and_stale_texts_are_named(store: Store) -> None:
    named: dict[str, Any] = {"coder": "ana", "unit_id": "m01", "codebook": BASE, "round": "one"}
    store.append([acts.propose(label="Hope", definition="Ahead.", **named)])
    rows = Viewer(store).look()["attention"]["rows"]
    viewer = Viewer(store)
    viewer.look()
    assert [len(viewer.units(**row["door"])) for row in rows] == [row["n"] for row in rows]
    weak = of_weak(rows)
    assert weak[0].startswith("Cold: alpha ")
    n_open = len(adjudication.queue(store.decisions(settled_by="nothing")))
    assert any(row["what"].startswith(f"{n_open} disagreements are") for row in rows)
    assert any(row["what"].startswith("1 proposed code waits") for row in rows)
    store.revise(edited(BASE, "warm", definition="Closer."), why="Clearer.", coder="chair")
    viewer = Viewer(store)
    rows = viewer.look()["attention"]["rows"]
    again = [row for row in rows if "to look at again" in row["what"]]
    assert [(row["n"], row["door"]["coder"]) for row in again] == [(N, "ana"), (N, "ben")]
    assert viewer.units("stale", coder="ana", round="one") == IDS
    assert viewer.units("stale", coder="ana") == []
    stale = codings.stale(store.codings(), store.coverage(), store.codebook, revisions=store.revisions)
    assert set(stale["unit_id"]) == set(IDS)
    text = viewer.ask("unit", unit_id="m00")
    assert text["coders"][0]["again"] == ["Warm"]


def of_weak(rows: list[dict[str, Any]]) -> list[str]:
    return [row["what"] for row in rows if "under .667" in row["what"]]


def test_a_ruling_of_ones_own_settles_a_disagreement(store: Store) -> None:
    before = len(Viewer(store).units("open", code="cold"))
    unit_id = adjudication.queue(store.decisions()).query("code == 'cold'")["unit_id"].iloc[0]
    store.append([acts.rule(coder="chair", unit_id=unit_id, code="cold", applied=True, codebook=BASE)])
    assert len(Viewer(store).units("open", code="cold")) == before - 1


def test_the_codebook_widget_shows_the_same_agreement(store: Store) -> None:
    lead = Lead(store, coder="chair")
    lead.ask("hello")
    figures = lead.counted("figures")["figures"]
    Lead.end_counting()
    rows = Viewer(store).look()["agreement"]["rows"]
    assert len(rows) == len(BASE.ids)
    for row in rows:
        value, low, high = (coefficient(row[name], 2) for name in ("alpha", "low", "high"))
        assert figures[row["code"]]["alpha"] == f"{value} ({low}–{high})"


# who codes differently ------------------------------------------------------------------------------


@pytest.fixture
def leaning(tmp_path: Path) -> Iterator[Store]:
    """A study read from a file in which ben never applies "cold", which ana and cleo apply to every third."""
    table = tmp_path / "answers.csv"
    rows = [f"m{i:03},p{i},{SENTINEL} {i}." for i in range(90)]
    table.write_text("\n".join(["id,case,answer", *rows]), encoding="utf-8")
    units = corpus.read(table, unit_id="id", text="answer", case_id="case")
    made, coders = Store.create(tmp_path / "s", units=units, codebook=BASE), ["ana", "ben", "cleo"]
    ids = made.units["unit_id"].tolist()
    for name in ("one", "two"):
        made.append([rounds.open_round(name, units=ids, coders=coders, coder="chair", codebook=BASE)])
    for round in ("one", "two"):
        for number, coder in enumerate(coders):
            every_third = coder != "ben" and round == "one"
            done = [
                coded(coder, unit_id, *["cold"] * (every_third and (i + (i == number)) % 3 == 0), round=round)
                for i, unit_id in enumerate(ids)
            ]
            made.append([act for one in done for act in one])
        if round == "one":
            unblind(made, "one")
    yield made
    Viewer.end()


def test_who_codes_differently_is_as_the_profile_has_it_with_the_texts(leaning: Store) -> None:
    viewer = Viewer(leaning)
    shown = viewer.look()["leaning"]["rows"]
    decided = leaning.decisions(round="one")
    found = adjudication.profile(decided, units=leaning.units, cluster="case_id", n_draws=1).coders
    wanted = found[found["leans"].notna()].sort_values("difference", key=abs, ascending=False)
    got = [(row["coder"], row["code"], row["n"], row["at"], row["others_at"]) for row in shown]
    columns = ["coder", "code", "n_units", "prevalence", "others"]
    assert got == [tuple(row) for row in wanted[columns].itertuples(index=False)]
    assert got[0][:2] == ("ben", "cold")
    by_text = decided[decided["code"] == "cold"].pivot(index="unit_id", columns="coder", values="applied")
    apart = by_text.index[(by_text["ana"] == by_text["cleo"]) & (by_text["ben"] != by_text["ana"])].tolist()
    assert viewer.units("against", coder="ben", code="cold") == apart
    assert shown[0]["n_apart"] == len(apart)


def test_a_code_that_one_coder_reads_differently_is_to_be_read_together_before_it_is_sharpened(
    leaning: Store,
) -> None:
    viewer = Viewer(leaning)
    rows = viewer.look()["attention"]["rows"]
    (weak,) = [row for row in rows if row["what"].startswith("Cold: alpha")]
    assert weak["todo"].startswith("ben applies it to 0.0 % of ")
    assert weak["todo"].endswith("Read these with ben first: the rule may be good.")
    assert weak["door"] == {"of": "against", "coder": "ben", "code": "cold"}
    assert not any("sharpen" in row["todo"] for row in rows)
    own = Viewer(leaning, coder="ben").look()["attention"]["rows"]
    assert any(
        "You apply it to 0.0 %" in row["todo"] and "with the others first" in row["todo"] for row in own
    )


def test_who_codes_differently_is_the_leads_to_know_where_the_study_names_its_leads(leaning: Store) -> None:
    leaning.set_options(leads=["chair"], coder="chair")
    assert Viewer(leaning, coder="ben").look()["leaning"]["rows"] == []
    assert Viewer(leaning).look()["leaning"]["rows"] != []


def test_a_coders_overview_lists_the_inbox_of_their_coding_widgets_with_the_texts_and_the_cells(
    store: Store,
) -> None:
    store.set_options(leads=["chair"], coder="chair")
    store.append([act for unit_id in IDS[:3] for act in coded("ana", unit_id, "warm", round="two")])
    named: dict[str, Any] = {"coder": "ana", "unit_id": "m01", "codebook": BASE, "round": "one"}
    proposal = acts.propose(label="Hope", definition="Ahead.", **named)
    store.append([proposal])
    answer = {**named, "coder": "chair", "memo_id": proposal.act_id}
    store.append([acts.memo(text="Went into Warm.", **answer)])
    store.revise(edited(BASE, "warm", definition="Closer."), why="Clearer.", coder="chair")
    viewer = Viewer(store, coder="ana")
    told = viewer.look()["attention"]
    rows = {row["what"]: row for row in told["rows"]}
    assert told["of_coder"]
    assert len(rows) == len(told["rows"]), "what two widgets list is listed once"
    again = [row for what, row in rows.items() if "to look at again in round" in what]
    behind = [(row["n"], sorted(viewer.units(**row["door"]))) for row in again]
    assert behind == [(N, IDS), (3, IDS[:3])]
    assert all(row["todo"].startswith("‘Warm’ has a new definition. ") for row in again)
    assert rows["Round ‘two’: 37 texts to go"]["cell"] == (
        "qual.widgets.CodingWidget(store, coder='ana', round='two')"
    )
    assert rows["Your proposal ‘Hope’"]["todo"] == "Went into Warm."
    for row in told["rows"]:
        if row["cell"]:
            exec(row["cell"], {"store": store, "qual": qual})  # noqa: S102 – the cell that a coder copies
    items = set()
    for name in ("one", "two"):
        coding = OfStudy(store, coder="ana", round=name)
        items |= {one["title"] for one in coding.ask("inbox")["items"]}
    assert items == {what.partition(" in round")[0] for what in rows}
    chair = Viewer(store).look()["attention"]
    assert not chair["of_coder"]
    assert any("disagreements are not settled" in row["what"] for row in chair["rows"])


# what changes ---------------------------------------------------------------------------------------


@pytest.fixture
def drifting(tmp_path: Path) -> Iterator[Store]:
    """A study in which ben applies a code to one in six of the first 60 texts, and to most of those after."""
    n = 180
    units = pd.DataFrame(
        {
            "unit_id": [f"m{i:03}" for i in range(n)],
            "text": SENTINEL,
            "document_id": "d",
            "case_id": [f"p{i % 30}" for i in range(n)],
            "position": range(n),
        }
    )
    made = Store.create(tmp_path / "s", units=units, codebook=BASE)
    ids = units["unit_id"].tolist()
    for name in ("one", "two"):
        made.append([rounds.open_round(name, units=ids, coders=["ana", "ben"], coder="chair", codebook=BASE)])
    begun = pd.Timestamp("2026-03-02T09:00:00Z")
    for round in ("one", "two"):
        for coder in ("ana", "ben"):
            done: list[acts.Act] = []
            for i, unit_id in enumerate(ids):
                often = coder == "ben" and i >= 60
                at = (begun + pd.Timedelta(minutes=i + 500 * (round == "two"))).isoformat()
                codes = ["warm"] if (i % 4 > 0 if often else i % 6 == 0) else []
                done += coded(coder, unit_id, *codes, round=round, at=at.replace("+00:00", "Z"))
            made.append(done)
        if round == "one":
            unblind(made, "one")
    yield made
    Viewer.end()


def test_a_coder_who_drifts_is_named_with_the_texts_and_nobody_of_a_blind_round(drifting: Store) -> None:
    viewer = Viewer(drifting)
    parts = viewer.look()
    (alarm,) = parts["change"]["alarms"]
    assert (alarm["coder"], alarm["code"], alarm["n_later"]) == ("ben", "warm", 120)
    assert "ben applies Warm more often than at first" in alarm["words"]
    rows = parts["attention"]["rows"]
    assert [row["what"] for row in rows if row["door"]["of"] == "later"] == [alarm["words"]]
    with_code_first = sorted(range(60, 180), key=lambda i: i % 4 == 0)
    assert viewer.units("later", coder="ben", code="warm") == [f"m{i:03}" for i in with_code_first]
    decided, plan = drifting.decisions(viewer="chair"), drifting.plan
    wanted = agreement.drift(
        decided, drifting.coverage(viewer="chair"), plan=plan[plan["round"] == "one"].reset_index(drop=True)
    )
    assert wanted.loc[wanted["alarm"], ["coder", "code"]].to_numpy().tolist() == [["ben", "warm"]]
    said = parts["change"]["drift_words"]
    assert said.startswith("Drift: 1 alarm among 8 pairs")
    assert said.endswith("at most 5 % of studies have any alarm, however often you look.")


def test_where_texts_were_not_planned_the_bound_on_false_alarms_is_said_of_one_look(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s", units=UNITS, codebook=BASE)
    for seed, coder in enumerate(("ana", "ben")):
        work(store, coder, round=None, seed=seed)
    said = Viewer(store, without_round=True).look()["change"]["drift_words"]
    assert "Drift: no alarms among" in said
    assert said.endswith("for one look at the end, since texts were not planned.")
    Viewer.end()


def test_the_shares_in_parts_of_the_order_are_together_the_share(drifting: Store) -> None:
    row = of_code(Viewer(drifting).look()["codes"]["rows"], "warm")
    sizes = [23] * 4 + [22] * 4  # 180 texts in 8 parts
    weighed = sum(share * n for share, n in zip(row["parts"], sizes, strict=True)) / 180
    assert weighed == pytest.approx(row["share"])
    assert row["parts"][-1] > row["parts"][0]


def test_codes_that_came_are_shown_by_participant_and_with_what_more_would_bring(store: Store) -> None:
    change = Viewer(store).look()["change"]
    named: dict[str, Any] = {"cluster": "case_id", "coverage": store.coverage()}
    came = codings.development(store.codings(), UNITS, **named)
    assert change["came"] == came["n_codes"].tolist()
    assert "saturation does not apply" in change["came_words"]
    store.revise(plus(BASE, "hope"), why="Seen.", coder="chair")
    now: dict[str, Any] = {"coder": "ana", "unit_id": "m03", "codebook": store.codebook, "round": "one"}
    store.append([acts.apply(code="hope", **now), acts.finish(**now)])
    assert "until the codes that emerged" in Viewer(store).look()["change"]["came_words"]
    for coder in ("ana", "ben"):
        again = {**now, "coder": coder}
        store.append([acts.finish(**{**again, "unit_id": unit_id}) for unit_id in IDS])
    change = Viewer(store).look()["change"]
    standing = codings.carried(
        store.codings(viewer="chair"),
        store.coverage(viewer="chair"),
        store.codebook,
        revisions=store.revisions,
    )[0]
    wanted = codings.saturation(
        standing,
        UNITS,
        cluster="case_id",
        emerged=["hope"],
        coverage=store.coverage(viewer="chair"),
        more=[5],
    ).iloc[0]
    assert f"about {wanted['new_codes']:.1f} more codes of those" in change["came_words"]
    assert f"(95% CI {wanted['low']:.1f} to" in change["came_words"]


# blindness ------------------------------------------------------------------------------------------


def everything(viewer: Viewer) -> str:
    """Return all that an overview says, through every door."""
    viewer.look()
    for of in ("planned", "finished", "left", "stale"):
        for round in (None, "one", "two"):
            for who in ("ana", "ben", "cleo"):
                viewer.ask("units", door={"of": of, "round": round, "coder": who}, first=0, find="")
    for of in ("double", "applied", "open", "later", "proposals"):
        for code in BASE.ids:
            viewer.ask("units", door={"of": of, "code": code, "coder": "cleo"}, first=0, find="")
    for unit_id in IDS[:10]:
        viewer.ask("unit", unit_id=unit_id)
    state = {name: value for name, value in viewer.widget.get_state().items() if name != "layout"}
    said = [{**one, "id": None, "at": None} for one in (*viewer.heard, *viewer.told)]
    return json.dumps([said, state], default=str)


def blind_work(store: Store) -> None:
    """Cleo does in round two, and in none, all that one can do."""
    work(store, "cleo", round="two", seed=9)
    named: dict[str, Any] = {"coder": "cleo", "unit_id": "m05", "codebook": BASE}
    for round in ("two", None):
        store.append(
            [
                acts.propose(label=f"Seen {round}", definition="x", round=round, **named),
                acts.memo(text="Seen", round=round, **named),
            ]
        )
    store.append(coded("cleo", "m07", "warm", round=None))
    store.append(
        [acts.rule(coder="cleo", unit_id=unit, code="cold", applied=True, codebook=BASE) for unit in IDS]
    )


def test_a_coders_overview_is_the_same_whatever_others_do_blind(new_store: New) -> None:
    store = new_store()
    open_rounds(store)
    work(store, "ana", seed=1)
    work(store, "ben", seed=2)
    unblind(store, "one")
    work(store, "ana", round="two", n=5, seed=4)
    before = everything(Viewer(store, coder="ana"))
    blind_work(store)
    assert everything(Viewer(store, coder="ana")) == before
    ana = Viewer(store, coder="ana")
    two = ana.look()["rounds"]["rows"][1]
    assert ([one["coder"] for one in two["coders"]], two["n_coders"]) == (["ana"], 3)
    refused = ana.ask("units", door={"of": "left", "round": "two", "coder": "cleo"}, first=0, find="")
    assert refused["type"] == "refused"
    sight = rounds.Sight.of(store.acts(), viewer="ana")
    known = [act for act in store.acts() if sight.follows(act)]
    assert {(act.coder, act.round) for act in known} == {("ana", "one"), ("ben", "one"), ("ana", "two")}
    chair = everything(Viewer(store))  # who leads the round sees how far cleo is, and no coding of hers
    assert '"coder": "cleo", "n": 40, "done": 40' in chair
    assert '"coder": "cleo", "finished": true' not in chair
    assert "Seen two" not in chair
    unblind(store, "two")
    after = everything(Viewer(store, coder="ana"))
    assert "Seen two" in after
    assert '"coder": "cleo", "finished": true' in after


@pytest.mark.postgres
def test_a_coders_own_role_in_postgresql_reads_no_more(postgres: Callable[..., str]) -> None:
    address = postgres()
    store = Store.create(address, units=UNITS, codebook=BASE)
    for coder in ("ana", "ben", "cleo", "chair"):
        store.admin.add_coder(coder, **({"role": "ana"} if coder == "ana" else {}))
    open_rounds(store)
    of_ana = Store(postgres("ana", address.rpartition("=")[2]))
    work(of_ana, "ana", seed=1)
    work(store, "ben", seed=2)
    unblind(store, "one")
    before = everything(Viewer(of_ana, coder="ana"))
    assert '"coder": "ben", "finished": true' in before
    blind_work(store)
    assert everything(Viewer(of_ana, coder="ana")) == before
    # The database keeps it, too: nor does another pseudonym, or without_round, show more.
    assert 'cleo", "finished' not in everything(Viewer(of_ana, coder="chair", without_round=True))
    Viewer.end()
    for one in (store, of_ana):
        server.connect(str(one.path)).engine.dispose()


def test_a_blind_round_has_no_agreement_for_its_lead_either_and_says_why(new_store: New) -> None:
    store = new_store()
    open_rounds(store)
    for coder in ("ana", "ben"):
        work(store, coder, round="two")
    parts = Viewer(store).look()
    assert parts["agreement"]["rows"] == []
    assert "'two'" in " ".join(parts["agreement"]["words"])
    assert "nobody sees agreement yet" in " ".join(parts["agreement"]["words"])
    assert {row["n"] for row in parts["codes"]["rows"]} == {0}


def test_training_and_discussion_are_followed_and_count_in_no_number(store: Store) -> None:
    before = Viewer(store).look()
    gold = pd.DataFrame(
        [(unit, code, False) for unit in IDS[:3] for code in BASE.ids], columns=["unit_id", "code", "applied"]
    )
    named: dict[str, Any] = {"units": IDS[:3], "coders": ["ana", "ben"], "coder": "chair", "codebook": BASE}
    store.append([rounds.open_round("learn", gold=gold, **named)])
    store.append([rounds.open_round("talk", discusses="one", **named)])
    for round in ("learn", "talk"):
        for coder in ("ana", "ben"):
            work(store, coder, round=round, n=2, seed=7)
    after = Viewer(store).look()
    assert after["agreement"]["rows"] == before["agreement"]["rows"]
    assert after["codes"]["rows"] == before["codes"]["rows"]
    learn, talk = after["rounds"]["rows"][2:]
    assert (learn["state"], talk["state"]) == ("training blind", "discussion blind")
    assert [one["done"] for row in (learn, talk) for one in row["coders"]] == [2, 2, 2, 2]


def test_texts_of_no_round_are_shown_to_who_assigned_them_and_counted_when_told_so(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s", units=UNITS, codebook=BASE)
    store.assign(coders=["ana", "ben"], overlap=1.0, coder="chair")
    for seed, coder in enumerate(("ana", "ben")):
        work(store, coder, round=None, seed=seed, n=20)
    (row,) = Viewer(store).look()["rounds"]["rows"]
    assert [(one["coder"], one["done"]) for one in row["coders"]] == [("ana", 20), ("ben", 20)]
    (row,) = Viewer(store, coder="ana").look()["rounds"]["rows"]
    assert [one["coder"] for one in row["coders"]] == ["ana"]
    assert Viewer(store).look()["agreement"]["rows"] == []
    rows = Viewer(store, without_round=True).look()["agreement"]["rows"]
    wanted = agreement.by_code(store.decisions(), units=UNITS, cluster="case_id")
    assert {row["code"]: row["alpha"] for row in rows} == pytest.approx(
        wanted.set_index("code")["alpha"].to_dict()
    )
    Viewer.end()


# the widget -----------------------------------------------------------------------------------------


def test_no_words_of_the_study_are_in_the_traits(store: Store) -> None:
    viewer = Viewer(store)
    viewer.look()
    viewer.units("planned", round="one")
    assert SENTINEL in json.dumps(viewer.heard)
    state = json.dumps(viewer.widget.get_state(), default=str) + repr(viewer.widget)
    assert SENTINEL not in state
    assert "ana" not in state.replace("widget_manager", "")
    assert repr(viewer.widget) == f"OverviewWidget('chair', {N} units)"


def test_nothing_that_a_model_coded_or_left_open_counts_as_a_persons(store: Store) -> None:
    before = Viewer(store).look()
    mine: dict[str, Any] = {"coder": "model-a", "codebook": store.codebook, "round": "model-a"}
    store.append([rounds.open_round("model-a", units=IDS, coders=["model-a"], coder="lead", codebook=BASE)])
    made = [acts.contents.describe(settings={"model": "a"}, **mine)]
    for place, unit_id in enumerate(IDS):
        one = acts.apply if place % 2 else acts.contents.abstain
        how = {} if place % 2 else {"reason": "unsure"}
        made += [one(unit_id=unit_id, code="warm", **how, **mine), acts.finish(unit_id=unit_id, **mine)]
    store.append(made)
    assert len(store.decisions(coder="model-a")) == N * len(BASE.codable) - (N + 1) // 2
    after = Viewer(store).look()
    for look in (before, after):
        look["rounds"].pop("at")  # when it was counted
    assert after == before
    assert "model-a" not in json.dumps(after)


def test_it_hears_when_another_widget_of_this_kernel_saves(store: Store) -> None:
    viewer = Viewer(store)
    viewer.look()
    coding = CodingWidget(store, coder="ana", round="two")
    act = {"id": new_id(), "kind": "finish", "unit_id": "m00"}
    coding._receive(coding, {"type": "act", "client": "x", "id": act["id"], "act": act}, [])
    assert viewer.told[-1]["type"] == "acted"
    viewer.ask("count")
    viewer.widget._counting.join()
    told = [one for one in viewer.told if one["type"] == "rounds"][-1]
    assert told["rows"][1]["coders"][0]["done"] == 1
    coding.close()


def test_what_is_no_study_no_width_and_no_number_is_refused(store: Store) -> None:
    with pytest.raises(ArgumentError, match="an open study as store – found DataFrame"):
        OverviewWidget(UNITS, coder="lead")
    with pytest.raises(ArgumentError, match=r"width of at least 0\.001"):
        OverviewWidget(store, coder="chair", width=0.0)
    viewer = Viewer(store)
    assert viewer.ask("units", door={"of": "secrets"}, first=0, find="")["type"] == "refused"
    assert viewer.ask("units", door="all", first=0, find="")["type"] == "refused"
    assert viewer.ask("else")["type"] == "refused"


def test_a_study_with_nothing_in_it_has_nothing_to_show(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s", units=UNITS, codebook=BASE)
    parts = Viewer(store).look()
    assert parts["agreement"]["rows"] == []
    assert [row["coders"] for row in parts["rounds"]["rows"]] == [[]]
    Viewer.end()


def test_an_empty_study_lists_the_first_steps_whose_cells_run(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s", units=UNITS, codebook=BASE)

    def steps() -> list[str]:
        rows = Viewer(store).look()["attention"]["rows"]
        assert {(row["door"]["of"], row["n"]) for row in rows} == {("begin", 0)}
        return [row["cell"] for row in rows]

    assign, code, look = steps()
    for cell in (assign, code, look):
        exec(cell, {"store": store, "qual": qual})  # noqa: S102 – the cell that a lead copies
    assert steps() == [code, look]  # the texts are assigned
    open_rounds(store)
    assert "coder='ana', round='one'" in steps()[0]
    store.append([acts.finish(coder="ana", unit_id=IDS[0], codebook=BASE)])
    assert "begin" not in {row["door"]["of"] for row in Viewer(store).look()["attention"]["rows"]}
    Viewer.end()


def test_times_are_said_no_finer_than_they_are_known() -> None:
    assert [duration(s) for s in (5, 540, 3500, 7800, 36000)] == ["1 min", "9 min", "1 h", "2 h 10", "10 h"]
    assert [per_text(s) for s in (0.2, 59.4, 60, 61)] == ["1 s", "59 s", "1 min", "1 min 1 s"]
