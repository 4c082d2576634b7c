"""What of the lead's and of others' acts goes with a hand-out: those that its coder may see and needs."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sense7_qual import acts, rounds
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.store import Store
from sense7_qual.widgets import CodingWidget

BOOK = Codebook(name="small", codes=(Code(id="warm", label="Warm"), Code(id="cold", label="Cold")))
ANIMALS = ["quokka", "numbat", "bandicoot", "potoroo", "wombat", "echidna"]
WORDS = {f"u{i}": f"The {animal} slept {i} nights under my own bed." for i, animal in enumerate(ANIMALS)}
LEAD: dict[str, Any] = {"coder": "lead", "codebook": BOOK}
AT_HOME = ("RULING-REASON", "PRIVATE-MEMO", "PARAPHRASE", "OTHERS-ANSWER", "HYPOTHESIS", "BLIND-MEMO")


def study(place: Path, **texts: str) -> Store:
    """Six texts of six participants: a first round that was unblinded and settled, and a second one."""
    said = WORDS | texts
    units = pd.DataFrame({"unit_id": list(said), "text": list(said.values())}).assign(
        document_id=None,
        position=None,
        case_id=[f"p{i}" for i in range(6)],
        Warmth=[0.123456789 + i for i in range(6)],
        Arm=[f"ARM-{i}" for i in range(6)],
    )
    store = Store.create(place, units=units, codebook=BOOK)
    opened(store, "one", ["u0", "u1", "u2"])
    for coder, code in (("ana", "warm"), ("ben", "cold")):
        done = [work(code, unit_id, coder, round="one", start=4, end=9) for unit_id in ("u0", "u1", "u2")]
        ended = {"coder": coder, "round": "one", "codebook": BOOK}
        store.append([*done, *(acts.finish(unit_id=one.unit_id, **ended) for one in done)])
    store.append([rounds.unblind("one", **LEAD)])
    return store


def opened(store: Store, name: str, units: list[str]) -> None:
    store.append([rounds.open_round(name, units=units, coders=["ana", "ben"], **LEAD)])


def work(code: str, unit_id: str, coder: str, **named: Any) -> acts.Act:
    return acts.apply(**{"coder": coder, "unit_id": unit_id, "code": code, "codebook": BOOK} | named)


def private(text: str, **named: Any) -> acts.Act:
    return acts.memo(text=text, target_kind="study", **named)


def settled(store: Store) -> None:
    """What the lead does before the second round, and what ana does in it; ben may see none of it."""
    store.append([acts.rule(unit_id="u0", code="warm", applied=True, note="RULING-REASON", **LEAD)])
    store.append([acts.quote(unit_id="u1", code="cold", state="approved", paraphrase="PARAPHRASE", **LEAD)])
    store.append([private("PRIVATE-MEMO", **LEAD)])
    hope = acts.propose(coder="ana", label="Hope", unit_id="u1", codebook=BOOK)
    store.append([hope])
    store.append([acts.answer(proposal=hope.act_id, text="OTHERS-ANSWER", **LEAD)])
    store.preregister(AnalysisPlan(question="?", hypotheses=("HYPOTHESIS",)), coder="lead")
    opened(store, "two", ["u2", "u3", "u4"])
    store.append(
        [
            work("cold", "u3", "ana", round="two", start=4, end=11),
            acts.memo(coder="ana", text="BLIND-MEMO", unit_id="u4", round="two", codebook=BOOK),
        ]
    )


ROBIN = "My neighbour Eberhard listened to me"


def of_robin(store: Store, where: str) -> None:
    """Put half a sentence of a text that ben does not get into what goes out."""
    said = f"as {ROBIN[3:24]} did"  # "neighbour Eberhard li": fewer than 25 letters
    book = store.codebook
    if where == "codebook":
        codes = (replace(book.codes[0], definition=said), *book.codes[1:])
        store.revise(replace(book, codes=codes), why="clearer", coder="lead")
    if where == "revise":
        codes = (replace(book.codes[0], definition="Kind."), *book.codes[1:])
        store.revise(replace(book, codes=codes), why=said, coder="lead")
    if where == "round":
        store.append([rounds.open_round(said, units=["u2"], coders=["ana"], **LEAD)])
    if where == "memo":
        store.append([acts.memo(text=said, target_kind="study", round="one", **LEAD)])


def given(store: Store, name: str, place: Path) -> Store:
    store.copies.hand_out(name, "ben", place / f"{name}.zip")
    return Store.restore(place / f"{name}.zip", place / name)


def bytes_of(path: Path) -> bytes:
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    return b"".join(file.read_bytes() for file in files if file.is_file())


def test_after_it_was_settled_a_second_round_goes_out_and_comes_back(tmp_path: Path) -> None:
    store = study(tmp_path / "study")
    settled(store)
    ben = given(store, "two", tmp_path)
    assert ben.verify()["ok"].all()
    assert [one.name for one in ben.rounds] == ["one", "two"]
    assert {act.kind for act in ben.acts(coder="lead")} == {"open_round", "unblind"}
    assert CodingWidget(ben, coder="ben")._session.unit_ids == ["u2", "u3", "u4"]
    ben.append([work("warm", "u3", "ben", round="two")])
    ben.copies.archive(tmp_path / "kept.zip")
    assert Store.restore(tmp_path / "kept.zip", tmp_path / "kept").acts() == ben.acts()
    ben.copies.hand_in(tmp_path / "back.zip")
    before = store.acts()
    assert store.copies.merge(tmp_path / "back.zip").counts["new"] == 1
    assert len(store.acts()) == len(before) + 1
    assert store.verify()["ok"].all()


def test_what_ben_may_not_see_is_in_no_byte(tmp_path: Path) -> None:
    store = study(tmp_path / "study")
    settled(store)
    store.append([private("BENS-OWN", coder="ben", codebook=BOOK)])
    store.copies.hand_out("two", "ben", tmp_path / "folder")
    given(store, "two", tmp_path)
    for place in ("folder", "two.zip", "two"):
        content = bytes_of(tmp_path / place)
        assert b"BENS-OWN" in content
        assert [secret for secret in AT_HOME if secret.encode() in content] == []
        assert {animal: animal.encode() in content for animal in ANIMALS} == {
            # ben coded u0 to u2 in the first round, and gets u2 to u4
            "quokka": True,
            "numbat": True,
            "bandicoot": True,
            "potoroo": True,
            "wombat": True,
            "echidna": False,
        }


def test_an_extract_says_that_it_is_one_and_not_how_much_was_left_out(tmp_path: Path) -> None:
    """Not by numbers of acts, by clocks that count, nor by texts that belong to none."""
    store = study(tmp_path / "study")
    at = "2026-01-31T12:00:00.000Z"
    store.append([private(f"PRIVATE-MEMO {n}", at=at, **LEAD) for n in range(40)])
    opened(store, "two", ["u3"])
    ben = given(store, "two", tmp_path)
    note = ben.verify().set_index("file").loc["acts/lead.sqlite", "note"]
    assert note == "an extract: the acts that 'ben' needs"
    with closing(sqlite3.connect(ben.path / "acts" / "lead.sqlite")) as connection:
        rows = connection.execute("SELECT seq, clock FROM acts ORDER BY seq").fetchall()
        n_texts = connection.execute("SELECT count(*) FROM texts").fetchone()[0]
    assert [seq for seq, _ in rows] == [1, 2, 3]
    assert all(clock is None or clock.endswith("/0") for _, clock in rows)
    assert n_texts == 2  # the openings of the rounds
    hashes = {link for (link,) in all_hashes(store.path / "acts" / "lead.sqlite")}
    kept = {link for (link,) in all_hashes(ben.path / "acts" / "lead.sqlite", "coalesce(branch, hash)")}
    assert kept < hashes  # each act can still be held against the study's own


def all_hashes(file: Path, what: str = "hash") -> Iterator[tuple[str]]:
    with closing(sqlite3.connect(file)) as connection:
        yield from connection.execute(f"SELECT {what} FROM acts").fetchall()


def test_the_order_of_the_acts_stays_where_clocks_ran_backwards(tmp_path: Path) -> None:
    store = study(tmp_path / "study")
    store.append([private("later", at="2199-01-01T00:00:00.000Z", **LEAD)])
    opened(store, "two", ["u3"])
    opened(store, "two", ["u3", "u4"])
    ben = given(store, "two", tmp_path)
    assert ben.rounds == store.rounds
    assert ben.acts(coder="lead") == [
        act for act in store.acts(coder="lead") if act.kind in ("open_round", "unblind")
    ]


def test_a_second_hand_out_and_the_work_of_the_first_come_together(tmp_path: Path) -> None:
    store = study(tmp_path / "study")
    settled(store)
    first = given(store, "two", tmp_path)
    store.append([acts.rule(unit_id="u2", code="warm", applied=False, note="RULING-REASON", **LEAD)])
    opened(store, "three", ["u5"])
    second = given(store, "three", tmp_path)
    first.append([work("warm", "u3", "ben", round="two")])
    second.append([work("cold", "u5", "ben", round="three")])
    for ben, name in ((first, "first"), (second, "second")):
        ben.copies.hand_in(tmp_path / f"{name}.zip")
        store.copies.merge(tmp_path / f"{name}.zip")
    assert {act.round for act in store.acts(coder="ben")} == {"one", "two", "three"}
    assert all(each.verify()["ok"].all() for each in (store, first, second))


@pytest.mark.parametrize("case_id", ["p0", "p3", "p5"])  # ben coded one text, one is to come, one is not his
def test_a_withdrawal_before_a_hand_out_and_one_meanwhile(tmp_path: Path, case_id: str) -> None:
    store = study(tmp_path / "study")
    settled(store)
    store.append([private(WORDS["u5"], coder="ben", codebook=BOOK)])  # he was told, say
    before = given(store, "two", tmp_path)
    store.forget(case_id, why="asked by letter")
    opened(store, "three", ["u2", "u4"])
    after = given(store, "three", tmp_path)
    assert after.verify()["ok"].all()
    assert ANIMALS[int(case_id[1])].encode() not in bytes_of(after.path)
    for ben, round in ((before, "two"), (after, "three")):
        ben.append([work("warm", "u4", "ben", round=round)])
        ben.copies.hand_in(tmp_path / f"{round}-back.zip")
        assert store.copies.merge(tmp_path / f"{round}-back.zip").counts["new"] >= 1
    assert store.verify()["ok"].all()
    assert ANIMALS[int(case_id[1])].encode() not in bytes_of(store.path / "acts")


@pytest.mark.parametrize("where", ["codebook", "revise", "round", "memo"])
def test_words_of_other_texts_go_out_only_where_somebody_has_looked_at_them(
    tmp_path: Path, where: str
) -> None:
    store = study(tmp_path / "study", u5=ROBIN)
    of_robin(store, where)
    with pytest.raises(ArgumentError, match=rf"accept=\['{where}'\]") as asked:
        store.copies.hand_out("one", "ben", tmp_path / "ben.zip")
    assert "Eberhard" not in str(asked.value).replace("u2", "")
    assert not (tmp_path / "ben.zip").exists()
    store.copies.hand_out("one", "ben", tmp_path / "ben.zip", accept=[where])
    with pytest.raises(ArgumentError, match="expected in accept what you have looked at"):
        store.copies.hand_out("one", "ben", tmp_path / "again.zip", accept=["everything"])


def test_words_of_bens_own_texts_and_of_everybody_are_not_asked_about(tmp_path: Path) -> None:
    store = study(tmp_path / "study", u0=ROBIN, u5=ROBIN)
    of_robin(store, "codebook")
    book = store.codebook
    codes = (replace(book.codes[0], definition="As in: nights under my own bed."), *book.codes[1:])
    store.revise(replace(book, codes=codes), why="clearer", coder="lead")
    store.copies.hand_out("one", "ben", tmp_path / "ben.zip")


def test_ratings_and_other_variables_stay_unless_they_are_shown_or_named(tmp_path: Path) -> None:
    store = study(tmp_path / "study")
    store.set_options(rating_column="Warmth", coder="lead")
    store.copies.hand_out("one", "ben", tmp_path / "hidden")
    handed = Store(tmp_path / "hidden")
    assert list(handed.units) == ["unit_id", "text", "document_id", "position", "case_id"]
    assert b"ARM-" not in bytes_of(tmp_path / "hidden")
    assert CodingWidget(handed, coder="ben", round="one")._session.unit_ids == ["u0", "u1", "u2"]
    store.copies.hand_out("one", "ben", tmp_path / "named", variables=["Arm"])
    assert Store(tmp_path / "named").units["Arm"].tolist() == ["ARM-0", "ARM-1", "ARM-2"]
    store.set_options(rating="finished", coder="lead")
    store.copies.hand_out("one", "ben", tmp_path / "shown")
    assert "Warmth" in Store(tmp_path / "shown").units
    with pytest.raises(TableError, match="Harm"):
        store.copies.hand_out("one", "ben", tmp_path / "other", variables=["Harm"])


def test_who_withdrew_and_why_goes_only_to_who_had_their_texts(tmp_path: Path) -> None:
    store = study(tmp_path / "study")
    store.forget("p5", why="A LETTER from abroad")
    store.forget("p0", why="asked in person")
    store.copies.hand_out("one", "ben", tmp_path / "ben")
    content = bytes_of(tmp_path / "ben")
    assert b"A LETTER" not in content
    assert re.search(rb"\bp5\b", content) is None
    assert [each.name for each in (tmp_path / "ben" / "withdrawn").iterdir()] != []
    ben = Store(tmp_path / "ben")
    assert ben.verify()["ok"].all()
    assert ben.units["unit_id"].tolist() == ["u1", "u2"]
    pd.testing.assert_frame_equal(ben.plan, store.plan)
