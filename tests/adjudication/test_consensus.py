from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual import acts, adjudication, codings
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, ArgumentError, TableError
from sense7_qual.frames import DECISIONS
from sense7_qual.store import Store

SENSE7 = Codebook.read("sense7")


def decisions_of(*rows: tuple[str, str, str, int]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])
    return frame.assign(applied=frame["applied"].astype(bool))


def rule(
    unit_id: str, applied: bool | None, *, at: str, coder: str = "dora", code: str = "interest", **why: str
) -> acts.Act:
    return acts.rule(coder=coder, unit_id=unit_id, code=code, applied=applied, codebook=SENSE7, at=at, **why)


def as_dict(decisions: pd.DataFrame) -> dict[tuple[str, str], bool]:
    return {(row.unit_id, row.code): row.applied for row in decisions.itertuples()}


DISPUTED = decisions_of(
    ("m1", "ana", "interest", 1),
    ("m1", "ben", "interest", 1),
    ("m1", "cleo", "interest", 0),
    ("m2", "ana", "interest", 1),
    ("m2", "ben", "interest", 0),
    ("m3", "ana", "interest", 0),
    ("m3", "ben", "interest", 1),
    ("m3", "ana", "affective", 1),
    ("m3", "ben", "affective", 0),
    ("m4", "ana", "interest", 1),
    ("m4", "ben", "interest", 1),
    ("m5", "ana", "interest", 0),
    ("m5", "ben", "interest", 0),
    ("m6", "ana", "interest", 1),
)


def test_disagreements_come_hardest_first() -> None:
    queue = adjudication.disagreements(DISPUTED)
    # Two coders apart (1.0) before two against one (0.667); m3 has two disputed codes, m2 one.
    assert queue[["unit_id", "code"]].to_numpy().tolist() == [
        ["m3", "affective"],
        ["m3", "interest"],
        ["m2", "interest"],
        ["m1", "interest"],
    ]
    assert queue["disagreement"].tolist() == pytest.approx([1, 1, 1, 2 / 3])
    last = queue.iloc[-1]
    assert (last["n_coders"], last["n_applied"]) == (3, 2)
    assert (last["applied_by"], last["not_applied_by"]) == ("ana, ben", "cleo")


def test_disagreements_do_not_depend_on_row_order_or_computed_decisions() -> None:
    expected = adjudication.disagreements(DISPUTED)
    computed = pd.concat([DISPUTED, codings.majority(DISPUTED), adjudication.consensus(DISPUTED)])
    pd.testing.assert_frame_equal(
        adjudication.disagreements(computed.sample(frac=1, random_state=3)), expected
    )


def test_consensus_needs_two_coders_unless_told_otherwise() -> None:
    agreed = {("m4", "interest"): True, ("m5", "interest"): False}
    found = adjudication.consensus(DISPUTED)
    assert as_dict(found) == agreed
    assert set(found["coder"]) == {"consensus"}
    assert as_dict(adjudication.consensus(DISPUTED, single=True)) == agreed | {("m6", "interest"): True}


def test_the_latest_ruling_stands_also_against_unanimity() -> None:
    rulings = [
        rule("m2", True, at="2026-03-02T10:00:00.000Z", coder="eli"),
        rule("m2", False, at="2026-03-01T10:00:00.000Z"),
        rule("m4", False, at="2026-03-01T10:00:00.000Z"),
    ]
    for order in (rulings, rulings[::-1]):
        found = as_dict(adjudication.consensus(DISPUTED, rulings=order))
        assert found == {("m2", "interest"): True, ("m4", "interest"): False, ("m5", "interest"): False}


def test_a_ruling_on_a_unit_that_nobody_finished_is_a_decision() -> None:
    ruling = rule("m9", True, at="2026-03-01T10:00:00.000Z")
    found = adjudication.consensus(DECISIONS.empty(), rulings=[ruling])
    assert found[list(DECISIONS.columns)].to_numpy().tolist() == [["m9", "consensus", "interest", True]]


@pytest.mark.long
def test_an_undone_ruling_does_not_count_and_other_acts_are_passed_over() -> None:
    ruling = rule("m2", True, at="2026-03-01T10:00:00.000Z")
    others = [
        acts.apply(coder="ana", unit_id="m2", code="interest", codebook=SENSE7),
        acts.finish(coder="ana", unit_id="m2", codebook=SENSE7),
    ]
    assert ("m2", "interest") in as_dict(adjudication.consensus(DISPUTED, rulings=[*others, ruling]))
    undone = [*others, ruling, acts.undo(ruling, codebook=SENSE7)]
    pd.testing.assert_frame_equal(
        adjudication.consensus(DISPUTED, rulings=undone), adjudication.consensus(DISPUTED)
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A study with one unit, on which ana and ben disagree about one code."""
    units = {
        "unit_id": ["m1"],
        "text": ["It asked."],
        "document_id": ["d1"],
        "case_id": ["p1"],
        "position": [0],
    }
    made = Store.create(tmp_path / "pilot", units=pd.DataFrame(units), codebook=SENSE7)
    made.append(
        [
            acts.apply(coder="ana", unit_id="m1", code="interest", codebook=SENSE7),
            acts.finish(coder="ana", unit_id="m1", codebook=SENSE7),
        ]
    )
    made.append([acts.finish(coder="ben", unit_id="m1", codebook=SENSE7)])
    return made


@pytest.mark.long
def test_an_undone_ruling_in_the_store_does_not_count(store: Store) -> None:
    decided = codings.decisions(store.codings(), store.coverage(), store.codebook)

    def verdict() -> list[bool]:
        final = adjudication.consensus(decided, rulings=store.acts(kind="rule"))
        return final.loc[final["code"] == "interest", "applied"].tolist()

    assert verdict() == []
    first = rule("m1", True, at="2026-03-01T10:00:00.000Z")
    second = rule("m1", False, at="2026-03-01T10:01:00.000Z")
    store.append([first, second])
    assert verdict() == [False]
    store.append([acts.undo(second, codebook=SENSE7)])
    assert verdict() == [True]  # the ruling before it
    store.append([acts.undo(first, codebook=SENSE7)])
    assert verdict() == []
    store.append([acts.redo(second, codebook=SENSE7)])
    assert verdict() == [False]


def test_the_store_gives_rulings_with_the_undo_and_redo_acts_about_them(store: Store) -> None:
    ruling = rule("m1", True, at="2026-03-01T10:00:00.000Z")
    other = rule("m1", False, at="2026-03-01T10:00:00.000Z", coder="eli")
    memo = acts.memo(coder="dora", unit_id="m1", text="Why?", codebook=SENSE7)
    undone, again = acts.undo(ruling, codebook=SENSE7), acts.redo(ruling, codebook=SENSE7)
    without = acts.undo(memo, codebook=SENSE7)
    store.append([ruling, memo, undone, without, again])
    store.append([other])
    assert store.acts(kind="rule") == [ruling, undone, again, other]
    assert store.acts(kind="rule", coder="dora") == [ruling, undone, again]
    assert store.acts(kind="memo") == [memo, without]
    assert store.acts(kind="undo") == [undone, without]
    assert store.acts(kind="redo") == [again]
    assert store.acts(kind="reopen") == []


def test_a_ruling_without_a_verdict_is_refused() -> None:
    with pytest.raises(ActError, match=r"True, False or None – found str"):
        acts.Act(
            act_id="0f0e1c9a-52f6-4c39-9d4e-0b1a2c3d4e5f",
            kind="rule",
            coder="dora",
            at="2026-03-01",
            codebook="c",
            unit_id="m2",
            code="interest",
            applied="yes",  # type: ignore[arg-type]
        )


def test_where_both_readings_stand_there_is_no_consensus_and_no_majority() -> None:
    both = rule("m1", None, at="2026-03-01T10:00:00.000Z", reason="different_reading")  # two against one
    alike = rule("m4", None, at="2026-03-01T10:00:00.000Z", reason="different_reading")
    found = as_dict(adjudication.consensus(DISPUTED, rulings=[both, alike], single=True))
    assert found == {("m5", "interest"): False, ("m6", "interest"): True}
    later = rule("m1", True, at="2026-03-02T10:00:00.000Z", reason="ambiguous_text")
    assert as_dict(adjudication.consensus(DISPUTED, rulings=[both, later]))["m1", "interest"] is True
    back = adjudication.consensus(DISPUTED, rulings=[later, replace(both, at="2026-03-03T10:00:00.000Z")])
    assert ("m1", "interest") not in as_dict(back)


# the queue, and what remains ------------------------------------------------------------------------

AT = "2026-03-01T10:00:00.000Z"


def test_the_queue_says_what_was_settled_how_and_by_whom() -> None:
    rulings = [
        rule("m3", True, at=AT, code="affective", reason="slip"),
        rule("m2", False, at=AT),
        rule("m1", None, at=AT, reason="different_reading"),
        rule("m4", True, at=AT),  # on which nobody disagrees: no row
    ]
    queue = adjudication.queue(DISPUTED, rulings=iter(rulings))
    pd.testing.assert_frame_equal(
        queue[list(adjudication.disagreements(DISPUTED))], adjudication.disagreements(DISPUTED)
    )
    said = queue.set_index(["unit_id", "code"])[["settled", "reason", "ruled_by", "ruled_at"]]
    said = said.astype(object).where(said.notna(), None)
    assert said.loc[("m3", "affective")].tolist() == ["applied", "slip", "dora", AT]
    assert said.loc[("m3", "interest")].tolist() == [None] * 4
    assert said.loc[("m2", "interest")].tolist() == ["absent", None, "dora", AT]
    assert said.loc[("m1", "interest")].tolist() == ["differing", "different_reading", "dora", AT]


@pytest.mark.long
def test_the_queue_puts_together_what_belongs_together() -> None:
    def groups(by: str, **named: object) -> list[tuple[str, str, str]]:
        queue = adjudication.queue(DISPUTED, rulings=rulings, by=by, **named)
        return list(zip(queue["group"], queue["unit_id"], queue["code"], strict=True))

    rulings: list[acts.Act] = []
    assert groups("code") == [
        ("interest", "m3", "interest"),
        ("interest", "m2", "interest"),
        ("interest", "m1", "interest"),
        ("affective", "m3", "affective"),
    ]
    assert groups("pair") == [
        ("ana – ben", "m3", "affective"),
        ("ana – ben", "m3", "interest"),
        ("ana – ben", "m2", "interest"),
        ("ana – cleo", "m1", "interest"),
        ("ben – cleo", "m1", "interest"),
    ]
    units = pd.DataFrame({"unit_id": ["m1", "m2", "m3"], "case_id": ["p2", "p2", "p1"]})
    by_case = groups("participant", units=units, cluster="case_id")
    assert [group for group, _, _ in by_case] == ["p1", "p1", "p2", "p2"]
    rulings += [rule("m3", True, at=AT), rule("m3", True, at=AT, code="affective")]
    assert [group for group, _, _ in groups("participant", units=units, cluster="case_id")] == [
        "p2",
        "p2",
        "p1",
        "p1",
    ]


@pytest.mark.parametrize(
    "named",
    [{"by": "hardest"}, {"by": "participant"}, {"by": "code", "units": pd.DataFrame(), "cluster": "case_id"}],
)
def test_a_queue_that_cannot_be_made_is_refused(named: dict[str, object]) -> None:
    with pytest.raises((ArgumentError, TableError)):
        adjudication.queue(DISPUTED, **named)


def test_what_remains_adds_up_to_the_consensus_for_each_code() -> None:
    rulings = [
        rule("m2", False, at=AT),
        rule("m1", None, at=AT, reason="different_reading"),
        rule("m4", None, at=AT, reason="different_reading"),  # on which nobody disagrees
    ]
    left = adjudication.remaining(DISPUTED, rulings=rulings).set_index("code")
    assert left.loc["interest"].drop("basis").to_dict() == {
        "n_units": 5,
        "n_disputed": 3,
        "n_applied": 0,
        "n_absent": 1,
        "n_differing": 2,
        "n_open": 1,
        "share_open": pytest.approx(0.2),
    }
    assert left.loc["affective", ["n_units", "n_open", "share_open"]].tolist() == [1, 1, 1]
    rows = adjudication.consensus(DISPUTED, rulings=rulings).groupby("code").size()
    assert rows["interest"] == 5 - 2 - 1
    assert "affective" not in rows
    alone = adjudication.remaining(decisions_of(("m1", "ana", "interest", 1)))
    assert alone["n_units"].tolist() == [0]
    assert alone["share_open"].isna().all()


def test_overruled_says_for_each_coder_what_and_why() -> None:
    rulings = [
        rule("m1", True, at=AT, reason="slip", note="look again"),
        rule("m2", None, at=AT, reason="different_reading"),
        rule("m4", False, at=AT, reason="unclear_rule"),
    ]
    found = adjudication.overruled(DISPUTED, rulings=rulings)
    wrong = found[found["overruled"]]
    assert wrong[["coder", "unit_id", "applied", "ruled", "reason"]].to_numpy().tolist() == [
        ["ana", "m4", True, False, "unclear_rule"],
        ["ben", "m4", True, False, "unclear_rule"],
        ["cleo", "m1", False, True, "slip"],
    ]
    assert wrong["note"].fillna("").tolist() == ["", "", "look again"]
    assert found.groupby("coder").size().to_dict() == {"ana": 3, "ben": 3, "cleo": 1}
    assert found.loc[found["unit_id"] == "m2", "ruled"].isna().all()
    assert not found.loc[found["unit_id"] == "m2", "overruled"].any()


def test_no_decisions_give_no_rows() -> None:
    empty = DECISIONS.empty()
    assert adjudication.disagreements(empty).empty
    assert list(adjudication.consensus(empty).columns) == [*DECISIONS.columns, "basis"]


def test_what_is_not_decisions_is_refused() -> None:
    for function in (adjudication.disagreements, adjudication.consensus):
        with pytest.raises(TableError, match="more than once"):
            function(pd.concat([DISPUTED, DISPUTED]))


@pytest.mark.nightly
@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["m1", "m2", "m3"]), st.sampled_from(["ana", "ben", "cleo"])), st.booleans()
    )
)
def test_every_unit_is_agreed_or_disputed_or_singly_coded(verdicts: dict[tuple[str, str], bool]) -> None:
    decisions = decisions_of(
        *[(unit, coder, "interest", applied) for (unit, coder), applied in verdicts.items()]
    )
    disputed = set(adjudication.disagreements(decisions)["unit_id"])
    agreed = set(adjudication.consensus(decisions, single=True)["unit_id"])
    assert disputed | agreed == set(decisions["unit_id"])
    assert not disputed & agreed
