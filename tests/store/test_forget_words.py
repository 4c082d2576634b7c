"""Which words are a participant's who withdraws: what goes, what a person must judge, and what stays."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts, rounds
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import StoreError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from sense7_qual.store._stored import repeated_passages

CODEBOOK = Codebook(name="small", codes=(Code(id="interest", label="Interest"),))
WORDS = "My sister Quokka left on Tuesday, and «nobody» told our naïve uncle."
SHORT = "Wombats eat roses."
COMMON = "thank you very much for everything"
VARIANTS = {
    "as written": (WORDS[:40], "gone"),
    "other case": (WORDS.upper(), "gone"),
    "line break": (WORDS.replace(" ", "\r\n  "), "gone"),
    "no white space": (WORDS.replace(" ", ""), "gone"),
    "decomposed": (unicodedata.normalize("NFD", WORDS[30:]), "gone"),
    "other quotes": (WORDS[20:].replace("«", "“").replace("»", "”"), "gone"),
    "soft hyphens": ("\u00ad".join(WORDS), "gone"),
    "wide letters": ("".join(chr(ord(a) + 0xFEE0) if a.isalpha() and a < "z" else a for a in WORDS), "gone"),
    "25 letters": ("They said: 'sister Quokka left on Tuesday'!", "gone"),
    "a whole short text": (f"I read: {SHORT}", "gone"),
    "24 letters": ("They said: 'ister Quokka left on Tuesday'!", "listed"),
    "three words": ("It is about OUR NAÏVE\nUNCLE.", "listed"),
    "two words": ("About a sister, Quokka.", "listed"),
    "one word": ("Quokkas and such, and nobody.", "there"),
    "another's words": ("A thought of mine on what p3 wrote.", "there"),
}
EXPECTED = {name: expected for name, (_, expected) in VARIANTS.items()}


def planted(column: str) -> pd.DataFrame:
    """Return units of another participant, with a variant of the words beside each text."""
    return pd.DataFrame(
        {
            "unit_id": [f"{column} {name}" for name in VARIANTS],
            "text": [f"Something else, number {number}." for number in range(len(VARIANTS))],
            "document_id": "d2",
            "case_id": "p2",
            column: [text for text, _ in VARIANTS.values()],
        }
    )


UNITS = pd.concat(
    [
        pd.DataFrame(
            {
                "unit_id": ["m1", "m2", "m3", "m4", "m5"],
                "text": [WORDS, f"Well, {COMMON}.", SHORT, f"{COMMON.upper()}!", f"You said: {WORDS}"],
                "document_id": ["d1", "d1", "d1", "d3", "d1"],
                "case_id": ["p1", "p1", "p1", "p3", None],
            }
        ),
        planted("context"),
        planted("previous_answer"),
        planted("nickname"),
    ],
    ignore_index=True,
).assign(position=0, nickname=lambda units: units["nickname"].astype("category"))


@pytest.fixture(
    params=["folder", pytest.param("postgresql", marks=[pytest.mark.nightly, pytest.mark.postgres])]
)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str | Path]:
    """Where a study of the kind can be made."""
    if request.param == "folder":
        yield tmp_path / "pilot"
        return
    address = request.getfixturevalue("postgres")()
    yield address
    server.connect(address).engine.dispose()


def about(text: str, **named: object) -> acts.Act:
    return acts.memo(**({"coder": "ana", "target_kind": "study", "codebook": CODEBOOK} | named), text=text)


@pytest.mark.long
def test_what_surely_repeats_their_words_goes_and_what_may_is_listed(place: str | Path) -> None:
    store = Store.create(place, units=UNITS, codebook=CODEBOOK)
    memos = {name: about(text) for name, (text, _) in VARIANTS.items()}
    on_unit = {
        name: about(text, coder="ben", target_kind="unit", unit_id="m4")
        for name, (text, _) in VARIANTS.items()
    }
    common = about(f"They all say {COMMON}.")
    store.append([*memos.values(), common])
    store.append(list(on_unit.values()))
    found = store.forget("p1", why="Withdrew by letter.")
    listed = found.still_held
    units = store.units.set_index("unit_id")
    texts = {act.act_id: act.text for act in store.acts(kind="memo")}
    for planted_acts in (memos, on_unit):
        for name, act in planted_acts.items():
            row = listed["place"] == f"act {act.act_id} of {act.coder!r}"
            assert (name, texts[act.act_id] == act.text) == (name, EXPECTED[name] != "gone")
            assert (name, row.any()) == (name, EXPECTED[name] == "listed")
    for column in ("context", "previous_answer", "nickname"):
        for name, (text, expected) in VARIANTS.items():
            unit_id = f"{column} {name}"
            row = listed["place"] == f"unit {unit_id!r}, column {column!r}"
            value = units.loc[unit_id, column]
            assert (unit_id, pd.isna(value)) == (unit_id, expected == "gone")
            assert (unit_id, row.any()) == (unit_id, expected == "listed")
            assert pd.isna(value) or value == text
    assert not set(units["nickname"].cat.categories) & {
        t for t, expected in VARIANTS.values() if expected == "gone"
    }
    # A phrase of another participant's, too, is listed with their text, and stays; so does who has no case.
    assert texts[common.act_id] == common.text
    assert units.loc[["m4", "m5"], "text"].tolist() == [f"{COMMON.upper()}!", f"You said: {WORDS}"]
    places = listed["place"].tolist()
    assert f"act {common.act_id} of 'ana'" in places
    assert {"unit 'm4', column 'text'", "unit 'm5', column 'text'"} <= set(places)
    assert found.n_memos_elsewhere == 2 * list(EXPECTED.values()).count("gone")
    assert store.verify()["ok"].all()
    assert listed["to_clear"].notna().all()
    again = Store(place).forget("p1", why="Asked again.").still_held
    pd.testing.assert_frame_equal(again, listed)
    assert not any(word in listed.to_string() for word in ("Quokka", "sister", "roses", "naïve"))


def test_no_file_has_more_of_their_words_than_what_is_listed(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "pilot", units=UNITS[UNITS["unit_id"] != "m5"], codebook=CODEBOOK)
    store.append([about(text) for text, _ in VARIANTS.values()])
    listed = store.forget("p1", why="Withdrew by letter.").still_held
    held = {text for text, expected in VARIANTS.values() if expected != "gone"}
    files = [file for file in store.path.rglob("*") if file.is_file() and file.suffix != ".parquet"]
    content = b"".join(file.read_bytes() for file in files).decode("utf-8", "ignore")
    units = pd.read_parquet(store.path / "units.parquet")  # compressed
    content += "|".join(
        str(each) for name in units for each in [*units[name], *units[name].astype("category").cat.categories]
    )
    for text in held:
        content = content.replace(text, "|")
    line = repeated_passages.normalised(content)
    for words in (WORDS, SHORT):
        runs = repeated_passages.normalised(words)
        assert not any(runs[i : i + 12] in line for i in range(len(runs) - 11))
    n_listed = list(EXPECTED.values()).count("listed")
    assert listed["what"].value_counts()[["memo to judge", "unit to judge"]].tolist() == [
        n_listed,
        3 * n_listed + 1,
    ]


def test_reasons_rounds_examples_and_notes_are_listed(place: str | Path) -> None:
    store = Store.create(place, units=UNITS, codebook=CODEBOOK)
    example = replace(CODEBOOK.codes[0], examples=("„MY SISTER QUOKKA left on Tues\u00adday …“",))
    revised = store.revise(replace(CODEBOOK, codes=(example,)), why="As in 'sister\nQuokka'.", coder="lead")
    opening = rounds.open_round(
        "Wombats eat roses", units=["m1"], coders=["ana"], coder="lead", codebook=revised
    )
    store.append([opening])
    store.forget("p3", why="As p1, who told of a sister Quokka.")
    listed = store.forget("p1", why="Withdrew.").still_held.set_index("what")
    (revision,) = store.acts(kind="revise")
    assert listed.loc["revision", "place"] == f"act {revision.act_id} of 'lead'"
    assert listed.loc["round", "place"] == f"act {opening.act_id} of 'lead'"
    assert revised.fingerprint in listed.loc["codebook", "place"]
    assert listed.index.tolist().count("note") == 1
    pd.testing.assert_frame_equal(store.forget("p1", why="Again.").still_held, listed.reset_index())


def test_a_reason_that_repeats_their_words_is_refused_before_anything_goes(place: str | Path) -> None:
    store = Store.create(place, units=UNITS, codebook=CODEBOOK)
    for why in (f"They wrote '{WORDS.lower()}'", "It was about my sister\nQUOKKA."):
        with pytest.raises(StoreError, match=r"without the participant's words") as refused:
            store.forget("p1", why=why)
        assert "quokka" not in str(refused.value).lower()
    assert "m1" in set(Store(place).units["unit_id"])
    assert not Store(place).verify()["note"].str.contains("withdrew").any()


def test_questions_and_labels_that_several_participants_have_stay(tmp_path: Path) -> None:
    question = "Please tell us of a moment when you felt understood"
    units = pd.DataFrame(
        {
            "unit_id": ["m1", "m2", "m3", "m4"],
            "text": [f"{question}: when {WORDS}", "Never.", "Once, at home.", "Always, I think."],
            "document_id": ["d1", "d2", "d3", "d4"],
            "case_id": ["p1", "p2", "p3", "p4"],
            "position": 0,
            "question": question,
            "condition": ["the warm and curious assistant"] * 3 + ["another one"],
            "earlier": [["x"], [WORDS, "y"], ["one", "two"], ["three"]],
        }
    )
    store = Store.create(tmp_path / "pilot", units=units, codebook=CODEBOOK)
    memos = [about(f"Asked: {question}."), about("The warm and curious assistant does well.")]
    store.append(memos)
    listed = store.forget("p1", why="Withdrew.").still_held["place"].tolist()
    left = store.units.set_index("unit_id")
    assert left["question"].tolist() == [question] * 3
    assert left["condition"].tolist() == ["the warm and curious assistant"] * 2 + ["another one"]
    assert left["earlier"].isna().tolist() == [True, False, False]
    assert [act.text for act in store.acts()] == [act.text for act in memos]
    assert [place for place in listed if place.startswith(("act", "unit"))] == [
        f"act {memos[0].act_id} of 'ana'"
    ]


def test_a_participant_is_known_by_units_of_any_script_and_nothing_else_changes() -> None:
    chinese = "我姐姐上个星期二离开了我们所有的人都很难过我们不知道该怎么办"
    units = pd.DataFrame(
        {
            "unit_id": ["m1", "m2", "m3"],
            "text": [chinese, "Incomprehensibilities", "x"],
            "document_id": ["d1", "d2", "d3"],
            "case_id": ["p1", "p1", "p2"],
            "context": [None, None, f"“{chinese[:26]}”"],
            "note": [None, None, f"{chinese[3:16]} incomprehensibilities"],
        }
    )
    found = repeated_passages.find_repeated(units, units["case_id"] == "p1")
    assert {name: list(rows) for name, rows in found.cells.items()} == {"context": [2]}
    assert list(found.to_judge) == [("m3", "note")]
    assert found.passages.in_text("Incomprehensibilities abound.") == ""  # a single long word is nobody's
