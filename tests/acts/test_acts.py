"""Acts: the constructors, what stands after undo and redo, and the fold."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import replace
from itertools import count

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual import acts
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError, CodebookError, QualError
from sense7_qual.frames import CODINGS, COVERAGE, MEMOS, PROPOSALS
from sense7_qual.rounds import independent
from tests.helpers.small_study import facet

SENSE7 = Codebook.read("sense7")
AT = "2026-01-31T12:00:00.000Z"
SENTINEL = "Sentinel-Quokka"
_numbers = count(1)


def new_id() -> str:
    """An act_id that is never given twice in a test run and the same in every run."""
    return f"00000000-0000-4000-8000-{next(_numbers):012x}"


def an(kind: Callable[..., acts.Act], **named: object) -> acts.Act:
    given_names = {"coder": "ana", "codebook": SENSE7, "at": AT, "act_id": new_id()} | named
    return kind(**given_names)


def put(code: str = "interest", unit_id: str = "m1", **named: object) -> acts.Act:
    return an(acts.apply, unit_id=unit_id, code=code, **named)


def take(act: acts.Act, kind: Callable[..., acts.Act] = acts.undo) -> acts.Act:
    return kind(act, codebook=SENSE7, at=AT, act_id=new_id())


def codes(recorded: list[acts.Act]) -> list[str]:
    return acts.fold(recorded).codings["code"].tolist()


# constructors ---------------------------------------------------------------------------------------


def test_a_constructor_stamps_id_time_and_codebook() -> None:
    act = acts.apply(coder="ana", unit_id="m1", code="interest", codebook=SENSE7)
    other = acts.apply(coder="ana", unit_id="m1", code="interest", codebook=SENSE7)
    assert act.act_id != other.act_id
    assert act.codebook == SENSE7.fingerprint
    assert pd.Timestamp(act.at).tzinfo is not None
    assert act.at.endswith("Z")


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"coder": "Ana Maria"}, "pseudonym"),
        ({"coder": ""}, "pseudonym"),
        ({"coder": "../ana"}, "pseudonym"),
        ({"coder": "Consensus"}, "computed decisions"),
        ({"confidence": "certain"}, "confidence"),
        ({"act_id": "1"}, "UUID"),
        ({"act_id": 17}, "UUID"),
        ({"act_id": ""}, "UUID as act_id – found ''"),  # it was given a new id at every repetition
        ({"start": 4}, "start 4, end None"),
        ({"start": 4, "end": 4}, "0 ≤ start < end"),
        ({"start": -1, "end": 4}, "0 ≤ start < end"),
        ({"start": 1.0, "end": 4.0}, "whole number of code points as start – found float"),
        ({"start": 1, "end": pd.NA}, "whole number of code points as end"),
        ({"unit_id": None}, "expected unit_id"),
        ({"round": ""}, "expected the name of a round"),
        ({"round": "one "}, "expected the name of a round"),
        ({"codebook": "sense7"}, "expected a Codebook – found str"),
    ],
)
def test_a_value_of_another_form_is_refused(named: dict[str, object], message: str) -> None:
    with pytest.raises(ActError, match=message):
        put(**named)


def test_a_frames_integers_become_plain_ones() -> None:
    act = put(start=np.int64(3), end=np.uint8(9))
    assert (type(act.start), type(act.end)) == (int, int)
    assert act == dataclasses.replace(act, start=3, end=9)


def test_an_unknown_code_is_refused_with_the_nearest() -> None:
    with pytest.raises(CodebookError, match="did you mean 'prosocial'"):
        put("prosical")
    with pytest.raises(CodebookError, match="did you mean 'prosocial'"):
        an(acts.rule, unit_id="m1", code="prosical", applied=True)


@pytest.mark.parametrize("applied", ["no", "False", 0, 1, np.nan, pd.NA])
def test_a_verdict_is_true_or_false_and_not_what_counts_as_such(applied: object) -> None:
    with pytest.raises(ActError, match="expected applied to be True, False or None"):
        an(acts.rule, unit_id="m1", code="interest", applied=applied)
    assert an(acts.rule, unit_id="m1", code="interest", applied=np.False_).applied is False


def test_a_ruling_has_a_reason_out_of_a_closed_list() -> None:
    on = {"unit_id": "m1", "code": "interest"}
    for reason in acts.REASONS:
        ruling = an(acts.rule, **on, applied=None if reason == "different_reading" else True, reason=reason)
        assert ruling.reason == reason
        assert ruling.facets == f"reason={reason}"
    assert an(acts.rule, **on, applied=True).reason is None
    assert put(facets={"valence": "met"}).reason is None
    with pytest.raises(ActError, match="did you mean 'slip'"):
        an(acts.rule, **on, applied=True, reason="slipp")
    with pytest.raises(ActError, match="expected a reason out of"):
        an(acts.rule, **on, applied=True, reason=["slip"])


@pytest.mark.parametrize(
    ("applied", "reason"),
    [(None, None), (None, "slip"), (True, "different_reading"), (False, "different_reading")],
)
def test_only_legitimately_different_readings_are_left_undecided(
    applied: bool | None, reason: str | None
) -> None:
    with pytest.raises(ActError, match="expected applied to be None with the reason 'different_reading'"):
        an(acts.rule, unit_id="m1", code="interest", applied=applied, reason=reason)
    made = an(acts.rule, unit_id="m1", code="interest", applied=True)
    facets = None if reason is None else f"reason={reason}"
    with pytest.raises(ActError, match="expected applied to be None"):
        dataclasses.replace(made, applied=applied, facets=facets)


def test_the_note_of_a_ruling_is_words_and_never_shown() -> None:
    on = {"unit_id": "m1", "code": "interest", "applied": True, "reason": "slip"}
    ruling = an(acts.rule, **on, note="She said Quokka.")
    assert ruling.text == "She said Quokka."
    assert "Quokka" not in repr(ruling)
    assert an(acts.rule, **on, note="").text is None
    with pytest.raises(ActError, match="expected text as note – found int"):
        an(acts.rule, **on, note=7)


def test_a_text_in_the_place_of_an_id_is_not_shown() -> None:
    words = "It listened to what I said."
    for named in (
        {"code": words},
        {"unit_id": words, "facets": {"valence": words}},
        {"unit_id": words, "start": 1, "end": 0},
    ):
        with pytest.raises((ActError, CodebookError), match="27 characters") as refused:
            put(**named)
        assert "listened" not in str(refused.value)


def test_a_code_that_only_groups_others_cannot_be_applied() -> None:
    codebook = Codebook(
        name="small", codes=(Code(id="tone", label="Tone", codable=False), Code(id="warm", label="Warm"))
    )
    with pytest.raises(ActError, match="only groups"):
        put("tone", codebook=codebook)
    with pytest.raises(ActError, match="only groups"):
        an(acts.rule, unit_id="m1", code="tone", applied=True, codebook=codebook)
    with pytest.raises(CodebookError, match="expected one of its facets – found 'valence' – there are none"):
        put("warm", codebook=codebook, facets={"valence": "met"})


@pytest.mark.parametrize(
    ("facets", "message"),
    [
        ({"valence": "mett"}, "expected one of its values – found 'mett' – did you mean 'met'"),
        ({"valance": "met"}, "expected one of its facets – found 'valance' – did you mean 'valence'"),
        ({"valence": ["met"]}, "expected one of its values – found list"),
        ("valence=met", "expected facets to be a mapping – found 'valence=met'"),
    ],
)
def test_a_facet_or_value_that_the_codebook_has_not_is_refused(facets: object, message: str) -> None:
    with pytest.raises(QualError, match=message):
        put(facets=facets)


def test_facets_are_recorded_in_one_form_and_for_the_codes_that_they_are_for() -> None:
    codes = (Code(id="warm", label="Warm"), Code(id="cold", label="Cold"))
    facets = (facet("valence", "met", "unmet"), facet("Intensity", "low", "high", codes=("warm",)))
    codebook = Codebook(name="two", facets=facets, codes=codes)
    act = put("warm", codebook=codebook, facets={"valence": "met", "Intensity": "high"})
    again = put("warm", codebook=codebook, facets={"Intensity": "high", "valence": "met"})
    assert act.facets == again.facets == "Intensity=high valence=met"
    assert act.facet_values == {"Intensity": "high", "valence": "met"}
    assert put("warm", codebook=codebook, facets={}).facets is None
    with pytest.raises(CodebookError, match=r"expected one of its codes \(.*\) – found 'cold'"):
        put("cold", codebook=codebook, facets={"Intensity": "high"})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "met",
        "valence=met intensity=high",
        "a=b a=b",
        "a=b a=c",
        "a=b  c=d",
        "a=b ",
        "a=b\nc=d",
        "a=é",
        "a=b=c",
        7,
    ],
)
def test_facets_in_another_form_than_the_recorded_one_are_refused(text: object) -> None:
    with pytest.raises(ActError, match="expected facets like 'intensity=high valence=met', sorted"):
        dataclasses.replace(put(), facets=text)


def test_codings_have_a_column_for_each_facet_of_the_codebook_and_for_those_stated() -> None:
    codes = (Code(id="warm", label="Warm"),)
    book = Codebook(name="b", facets=(facet("z", "one"), facet("a", "one")), codes=codes)
    older = replace(book, facets=(facet("old", "one"),))
    deeds = [put("warm", codebook=older, facets={"old": "one"}), put("warm", "m2", codebook=book)]
    codings = acts.fold(deeds, codebook=book).codings
    assert codings.columns.tolist() == [*CODINGS.columns, "z", "a", "old"]
    assert (codings[["z", "a", "old"]].dtypes == "string").all()
    assert codings["old"].fillna("none").tolist() == ["one", "none"]
    assert acts.fold(deeds).codings.columns.tolist() == [*CODINGS.columns, "old"]
    assert acts.fold([], codebook=book).codings.columns.tolist() == [*CODINGS.columns, "z", "a"]


def test_a_memo_needs_what_it_is_about() -> None:
    with pytest.raises(ActError, match="expected the code that it is about"):
        an(acts.memo, text="n", target_kind="code")
    with pytest.raises(ActError, match="expected target_kind out of unit, span, code, study"):
        an(acts.memo, text="n", target_kind="units", unit_id="m1")


def test_undo_of_an_undo_is_refused() -> None:
    act = put()
    with pytest.raises(ActError, match="expected an act that can be undone"):
        take(take(act))


@pytest.mark.parametrize("act", ["an id", None, 7])
def test_undo_and_the_fold_take_acts_alone(act: object) -> None:
    with pytest.raises(ActError, match="expected the act itself"):
        take(act)
    with pytest.raises(ActError, match="expected acts"):
        acts.fold([act])


def test_no_repr_holds_a_text() -> None:
    memo = an(acts.memo, unit_id="m1", text=SENTINEL)
    quote = dataclasses.replace(put(start=0, end=15), text=SENTINEL)
    assert SENTINEL not in f"{memo!r} {quote!r} {memo} {acts.fold([memo, quote])!r}"


def test_no_error_of_a_memo_holds_its_text() -> None:
    with pytest.raises(ActError) as refused:
        an(acts.memo, unit_id="m1", text=SENTINEL, coder="no one")
    assert SENTINEL not in str(refused.value)


# what stands ----------------------------------------------------------------------------------------


def test_nothing_gives_three_empty_frames_in_their_contracts() -> None:
    record = acts.fold([])
    for frame, contract in (
        (record.codings, CODINGS),
        (record.coverage, COVERAGE),
        (record.memos, MEMOS),
        (record.proposals, PROPOSALS),
    ):
        pd.testing.assert_frame_equal(contract.check(frame)[list(contract.columns)], contract.empty())


def test_applying_again_replaces_the_facets_and_keeps_one_coding() -> None:
    record = acts.fold(
        [
            put(facets={"valence": "met"}, confidence="sure"),
            put(facets={"valence": "unmet"}, confidence="unsure"),
        ]
    )
    assert record.codings[["valence", "confidence"]].to_numpy().tolist() == [["unmet", "unsure"]]


def test_remove_takes_the_coding_of_exactly_this_span() -> None:
    gone = an(acts.remove, unit_id="m1", code="interest", start=0, end=4)
    recorded = [put(), put(start=0, end=4), put(start=0, end=5), gone]
    assert acts.fold(recorded).codings["end"].tolist() == [pd.NA, 5]


def test_finish_and_reopen() -> None:
    finish, reopen = an(acts.finish, unit_id="m1"), an(acts.reopen, unit_id="m1")
    assert acts.fold([finish]).coverage["unit_id"].tolist() == ["m1"]
    assert acts.fold([finish, reopen]).coverage.empty
    assert len(acts.fold([finish, reopen, an(acts.finish, unit_id="m1")]).coverage) == 1
    assert len(acts.fold([finish, an(acts.finish, unit_id="m1", round="two")]).coverage) == 2


def test_a_memo_is_revised_by_its_id_and_ended_by_no_text() -> None:
    first = an(acts.memo, unit_id="m1", text="one")
    second = an(acts.memo, unit_id="m1", text="two", memo_id=first.memo_id)
    end = an(acts.memo, unit_id="m1", text="", memo_id=first.memo_id)
    assert acts.fold([first, second]).memos["text"].tolist() == ["two"]
    assert acts.fold([first, second, end]).memos.empty
    assert acts.fold([first, second, end, take(end)]).memos["text"].tolist() == ["two"]


def test_the_last_ruling_of_an_adjudicator_stands() -> None:
    first = an(acts.rule, unit_id="m1", code="interest", applied=True)
    second = an(acts.rule, unit_id="m1", code="interest", applied=False)
    assert acts.standing([first, second]) == [second]
    assert acts.standing([first, second, take(second)]) == [first]


# undo and redo --------------------------------------------------------------------------------------


def test_undo_of_apply_takes_the_coding_away_and_redo_brings_it_back() -> None:
    act = put()
    undo, redo = take(act), take(act, acts.redo)
    assert codes([act, undo]) == []
    assert codes([act, undo, redo]) == ["interest"]
    assert codes([act, undo, redo, take(act)]) == []


def test_undo_of_a_second_apply_gives_the_first_back() -> None:
    first, second = put(facets={"valence": "met"}), put(facets={"valence": "unmet"})
    assert acts.fold([first, second, take(second)]).codings["valence"].tolist() == ["met"]


def test_undo_of_remove_gives_the_coding_back() -> None:
    act, gone = put(), an(acts.remove, unit_id="m1", code="interest")
    assert codes([act, gone]) == []
    assert codes([act, gone, take(gone)]) == ["interest"]
    assert codes([act, gone, take(gone), take(gone, acts.redo)]) == []


def test_undo_of_reopen_gives_finished_back() -> None:
    finish, reopen = an(acts.finish, unit_id="m1"), an(acts.reopen, unit_id="m1")
    assert len(acts.fold([finish, reopen, take(reopen)]).coverage) == 1
    assert acts.fold([finish, reopen, take(reopen), take(finish)]).coverage.empty


def test_redo_of_what_was_never_undone_changes_nothing() -> None:
    act, gone = put(), an(acts.remove, unit_id="m1", code="interest")
    assert codes([act, gone, take(act, acts.redo)]) == []


def test_redo_is_done_in_its_old_place() -> None:
    first, second = put(facets={"valence": "met"}), put(facets={"valence": "unmet"})
    recorded = [first, take(first), second, take(first, acts.redo)]
    assert acts.fold(recorded).codings["valence"].tolist() == ["unmet"]
    gone = an(acts.remove, unit_id="m1", code="interest")
    assert codes([first, take(first), second, gone, take(first, acts.redo)]) == []


def test_an_act_that_comes_again_changes_nothing() -> None:
    act, gone = put(), an(acts.remove, unit_id="m1", code="interest")
    assert codes([act, gone, act]) == []
    undo = take(act)
    assert codes([act, undo, take(act, acts.redo), undo]) == ["interest"]


def test_an_undo_of_another_coders_act_changes_nothing() -> None:
    act = put()
    foreign = dataclasses.replace(take(act), coder="ben")
    assert codes([act, foreign]) == ["interest"]


@pytest.mark.parametrize("withheld", [True, False])
def test_what_is_decided_after_suggestions_were_withheld_counts_as_before_them(withheld: bool) -> None:
    finished, later = an(acts.finish, unit_id="m1"), put()
    shown = an(acts.contents.show_suggestions, unit_id="m1", model="words", withheld=withheld)
    assert independent([finished, shown, later], ()).acts == [finished, shown, *[later] * withheld]


# properties -----------------------------------------------------------------------------------------

_deeds = st.tuples(
    st.sampled_from(["ana", "ben"]),
    st.sampled_from(["apply", "remove", "finish", "reopen", "memo", "propose", "undo", "redo"]),
    st.sampled_from(["m1", "m2"]),
    st.sampled_from(["interest", "relational"]),
    st.sampled_from([None, (0, 3), (1, 4)]),
    st.integers(0, 30),
)


def history(deeds: list[tuple[str, str, str, str, tuple[int, int] | None, int]]) -> list[acts.Act]:
    """Acts as people do them: undo and redo name an earlier act of the same coder."""
    recorded: list[acts.Act] = []
    for coder, kind, unit_id, code, span, which in deeds:
        own = [act for act in recorded if act.coder == coder and act.kind not in ("undo", "redo")]
        start, end = span or (None, None)
        common: dict[str, object] = {"coder": coder, "unit_id": unit_id}
        if kind in ("apply", "remove"):
            recorded.append(an(getattr(acts, kind), code=code, start=start, end=end, **common))
        elif kind in ("finish", "reopen"):
            recorded.append(an(getattr(acts, kind), **common))
        elif kind == "memo":
            recorded.append(an(acts.memo, text="n" * (which % 3), memo_id=f"{coder}-{which % 2}", **common))
        elif kind == "propose":
            recorded.append(an(acts.propose, label="n" * (1 + which), start=start, end=end, **common))
        elif own:
            recorded.append(take(own[which % len(own)], getattr(acts, kind)))
    return recorded


histories = st.lists(_deeds, max_size=25).map(history)


def same(one: acts.Record, other: acts.Record) -> None:
    for name in ("codings", "coverage", "memos", "proposals"):
        frames = [getattr(record, name) for record in (one, other)]
        by = ["coder", *[column for column in frames[0].columns if column != "coder"]]
        ordered = [frame.sort_values(by, ignore_index=True) for frame in frames]
        pd.testing.assert_frame_equal(*ordered)


def of(recorded: list[acts.Act], coder: str) -> list[acts.Act]:
    return [act for act in recorded if act.coder == coder]


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(histories)
def test_the_fold_keeps_its_contracts(recorded: list[acts.Act]) -> None:
    record = acts.fold(recorded)
    CODINGS.check(record.codings)
    COVERAGE.check(record.coverage)
    MEMOS.check(record.memos)
    PROPOSALS.check(record.proposals)


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(histories)
def test_coders_never_touch_each_other(recorded: list[acts.Act]) -> None:
    together = acts.fold(recorded)
    for coder in ("ana", "ben"):
        alone = acts.fold(of(recorded, coder))
        assert (
            together.codings.query("coder == @coder")["act_id"].tolist() == alone.codings["act_id"].tolist()
        )
        pd.testing.assert_frame_equal(
            together.coverage.query("coder == @coder").reset_index(drop=True), alone.coverage
        )


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(histories, st.randoms(use_true_random=False))
def test_the_order_between_coders_does_not_matter(recorded: list[acts.Act], random: object) -> None:
    queues = {coder: of(recorded, coder) for coder in ("ana", "ben")}
    shuffled = []
    while any(queues.values()):
        coder = random.choice([name for name, queue in queues.items() if queue])  # type: ignore[attr-defined]
        shuffled.append(queues[coder].pop(0))
    same(acts.fold(recorded), acts.fold(shuffled))


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(histories)
def test_undoing_everything_leaves_nothing_and_redoing_it_gives_all_back(recorded: list[acts.Act]) -> None:
    deeds = [act for act in recorded if act.kind not in ("undo", "redo")]
    undone = [*recorded, *[take(act) for act in reversed(deeds)]]
    assert acts.standing(undone) == []
    same(acts.fold([*undone, *[take(act, acts.redo) for act in deeds]]), acts.fold(deeds))


@settings(max_examples=60, deadline=None)
@given(histories)
def test_undo_and_at_once_redo_change_nothing(recorded: list[acts.Act]) -> None:
    standing = acts.standing(recorded)
    again = [deed for act in standing for deed in (take(act), take(act, acts.redo))]
    assert acts.standing([*recorded, *again]) == standing
