"""What a claimed change of a meaning leaves of codings, absences, rulings and quotes, by brute force."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual import acts, codings, corpus, report
from sense7_qual.codebook import MEANINGS, Change, Codebook, Revision, changes, redefined
from sense7_qual.errors import CodebookError
from sense7_qual.store import Store
from sense7_qual.store._operations.contents import Cover, published_text
from tests.helpers.revised_codebooks import BASE

VOIDS = {"reword": set(), "narrow": {True}, "widen": {False}, "redefine": {True, False}}
"""Which decisions a change makes open, as the documentation has it."""

CODE = "warm"


def version(number: int) -> Codebook:
    """Return BASE with another definition of one code: a version for each number."""
    codes = (replace(one, definition=f"Definition {number}.") if one.id == CODE else one for one in BASE)
    return replace(BASE, codes=tuple(codes))


def time(n: int) -> str:
    return f"2026-03-01T{n // 60:02d}:{n % 60:02d}:00.000Z"


EVENT = st.sampled_from([*MEANINGS, "apply", "remove", "finish", "rule", "deny", "differ"])


@settings(max_examples=150)
@given(st.lists(EVENT, max_size=12))
def test_a_history_of_changes_gives_what_replaying_each_decision_gives(events: list[str]) -> None:
    book, now, done, steps = version(0), 0, [], []
    applied_under, finished_under, ruled = None, None, None  # the version, or the verdict and the version
    kinds: list[str] = []
    for n, event in enumerate(events):
        named = {"unit_id": "m1", "codebook": book, "at": time(n)}
        if event in MEANINGS:
            new = version(now := now + 1)
            made = changes(book, new, meaning={CODE: event})
            steps.append(
                Revision(
                    coder="lead",
                    at=time(n),
                    why="So.",
                    base=book.fingerprint,
                    codebook=new.fingerprint,
                    changes=made,
                )
            )
            kinds.append(event)
            book = new
        elif event in ("apply", "remove"):
            done.append(getattr(acts, event)(coder="ana", code=CODE, **named))
            applied_under = now if event == "apply" else None
        elif event == "finish":
            done.append(acts.finish(coder="ana", **named))
            finished_under = now
        else:
            verdict = {"rule": True, "deny": False, "differ": None}[event]
            reason = "different_reading" if verdict is None else None
            done.append(acts.rule(coder="lead", code=CODE, applied=verdict, reason=reason, **named))
            ruled = (verdict, now)
    record = acts.fold(done)
    decided = codings.decisions(record.codings, record.coverage, book, revisions=steps)
    open_still = codings.stale(record.codings, record.coverage, book, revisions=steps)
    found = [*decided.loc[decided["code"] == CODE, "applied"], *["open"] * (open_still["code"] == CODE).sum()]
    assert found == expected(applied_under, finished_under, kinds)
    of_rulings = [act.applied for act in codings.rulings(done, book, revisions=steps)]
    assert of_rulings == ([] if ruled is None or is_void(*ruled, kinds) else [ruled[0]])


def expected(applied_under: int | None, finished_under: int | None, kinds: list[str]) -> list[object]:
    if finished_under is None:
        return []
    value = applied_under is not None
    since = max(finished_under, applied_under or 0)
    return ["open"] if any(value in VOIDS[kind] for kind in kinds[since:]) else [value]


def is_void(verdict: bool | None, under: int, kinds: list[str]) -> bool:
    if verdict is None:
        return any(kind != "reword" for kind in kinds[under:])
    return any(verdict in VOIDS[kind] for kind in kinds[under:])


@pytest.mark.parametrize(
    ("role", "kind", "state"),
    [
        ("shows", "reword", "approved"),
        ("shows", "widen", "approved"),
        ("shows", "narrow", "stale"),
        ("disconfirms", "reword", "approved"),
        ("disconfirms", "narrow", "approved"),
        ("disconfirms", "widen", "stale"),
        ("shows", "redefine", "stale"),
        ("disconfirms", "redefine", "stale"),
    ],
)
def test_a_quote_stands_where_the_change_cannot_touch_it(role: str, kind: str, state: str) -> None:
    old, new = version(0), version(1)
    quote = acts.quote(coder="lead", unit_id="m1", code=CODE, state="approved", role=role, codebook=old)
    step = Revision(
        coder="lead",
        at=time(1),
        why="So.",
        base=old.fingerprint,
        codebook=new.fingerprint,
        changes=changes(old, new, meaning={CODE: kind}),
    )
    assert codings.quotes([quote], new, revisions=[step])["state"].tolist() == [state]


def test_a_claim_has_a_reason_of_its_own_and_survives_writing() -> None:
    old, new = version(0), version(1)
    made = changes(old, new, meaning={CODE: ("reword", " A typing error. ")})
    assert made == (Change("reword", CODE, why="A typing error."),)
    step = Revision(
        coder="lead", at=time(1), why="So.", base=old.fingerprint, codebook=new.fingerprint, changes=made
    )
    read = Revision.from_text(step.to_text(), coder="lead", at=time(1), codebook=new.fingerprint)
    assert read == step
    assert '"why": ""' not in replace(step, changes=changes(old, new)).to_text()
    assert redefined(old, new) == [CODE]
    assert "typing" not in f"{made} {step!r}"  # a reason may quote a participant


@pytest.mark.parametrize(
    ("meaning", "message"),
    [
        ({"cold": "reword"}, "meaning names 'cold', but its definition and rules did not change"),
        ({"wram": "reword"}, "did you mean 'warm'"),
        ({CODE: "rephrase"}, "must name one of reword, narrow, widen, redefine"),
        ({CODE: ("reword", 7)}, "must name one of"),
        ({CODE: 7}, "must name one of"),
    ],
)
def test_a_claim_that_fits_no_change_is_refused(meaning: dict[str, object], message: str) -> None:
    with pytest.raises(CodebookError, match=message):
        changes(version(0), version(1), meaning=meaning)  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return a study read from a file: ana finished six texts and applied the code to four of them."""
    table = tmp_path / "answers.csv"
    rows = [f"m{n},p{n},It understood me {n}." for n in range(6)]
    table.write_text("\n".join(["id,case,answer", *rows]), encoding="utf-8")
    units = corpus.read(table, unit_id="id", text="answer", case_id="case")
    made = Store.create(tmp_path / "study", units=units, codebook=version(0))
    for n, unit_id in enumerate(made.units["unit_id"]):
        named = {"coder": "ana", "unit_id": unit_id, "codebook": made.codebook}
        applied = [acts.apply(code=CODE, **named)] if n < 4 else []
        made.append([*applied, acts.finish(**named)])
    return made


def open_texts(store: Store) -> list[str]:
    left = codings.stale(store.codings(), store.coverage(), store.codebook, revisions=store.revisions)
    return sorted(left["unit_id"])


@pytest.mark.parametrize(
    ("kind", "places"),
    [("reword", []), ("narrow", [0, 1, 2, 3]), ("widen", [4, 5]), ("redefine", range(6))],
)
def test_a_typing_error_costs_nothing_and_a_narrower_code_exactly_the_texts_that_have_it(
    store: Store, kind: str, places: list[int]
) -> None:
    store.revise(version(1), why="A typing error.", coder="lead", meaning={CODE: kind})
    assert open_texts(store) == [store.units["unit_id"][place] for place in places]
    assert [one.kind for one in Store(store.path).revisions[0].changes] == [kind]


def test_paper_and_table_say_what_was_claimed(store: Store) -> None:
    store.revise(version(1), why="Clearer.", coder="lead", meaning={CODE: ("reword", "A typing error.")})
    table = report.tables.revision(store.revisions, codebooks=store.codebooks)
    assert "reworded, with the same meaning (A typing error.)" in table.rows[1][3]
    text = report.methods(store, n_boot=20)
    said = str(text)
    assert "“Warm” was reworded, in the lead’s judgement without a change of meaning." in said
    numbers = [one for each in text.sentences for one in each.numbers if one.printed == "“Warm”"]
    assert [eval(one.call, {"store": store}) for one in numbers] == ["“Warm”"]  # noqa: S307


def test_a_claim_on_what_somebody_else_changed_alike_is_left_out(store: Store) -> None:
    other = Store(store.path)
    other.revise(version(1), why="A typing error.", coder="lead", meaning={CODE: "reword"})
    changed = replace(version(1), title="Another title")
    store.revise(changed, why="The same, and a title.", coder="lead", meaning={CODE: "narrow"})
    assert [[one.kind for one in step.changes] for step in store.revisions] == [["reword"], []]
    assert open_texts(store) == []


def test_a_bundle_withholds_a_reason_that_repeats_a_text() -> None:
    old, new = version(0), version(1)
    made = changes(old, new, meaning={CODE: ("reword", "as in 'It understood me'")})
    step = Revision(
        coder="lead", at=time(1), why="So.", base=old.fingerprint, codebook=new.fingerprint, changes=made
    )
    line = {"kind": "revise", "text": step.to_text()}
    shown = published_text(line, Cover(lambda text: "understood" in text))
    assert [one["why"] for one in json.loads(str(shown))["changes"]] == ["[withheld]"]
    assert json.loads(str(shown))["why"] == "So."
