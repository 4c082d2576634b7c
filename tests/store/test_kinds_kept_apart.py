"""People, people after a model's suggestions, and models stay apart in everything that leaves a study."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from lxml import etree

from sense7_qual import acts, exchange, suggestions
from sense7_qual.acts import Act
from sense7_qual.codebook import Code, Codebook
from sense7_qual.frames import is_model
from sense7_qual.store import Store
from tests.helpers.projects import valid
from tests.store.conftest import Place

pytestmark = pytest.mark.long

BOOK = Codebook(
    name="kinds", codes=tuple(Code(id=name, label=name.title()) for name in ("warm", "cold", "new"))
)
CODERS = ("ana", "ben", "modeller", "model-a", "model-b")
TEXTS = {f"m{i:02}": f"Text {i} of some words, and of a few more 🙂 of them." for i in range(40)}
SPANS = ((None, None), (0, 4), (5, 12), (13, 20))
Key = tuple[str, str, str, int, int]
Kinds = dict[Key, str]


def drawn(n: int, seed: int) -> tuple[list[Act], Kinds]:
    """Draw `n` acts, and count apart from this package of which kind each coding is that they leave."""
    rng = np.random.default_rng(seed)
    seen: set[tuple[str, str]] = set()
    kinds: Kinds = {}
    made: list[Act] = []
    ids = list(TEXTS)
    while len(made) < n:
        coder, unit_id = str(rng.choice(CODERS)), str(rng.choice(ids))
        mine: dict[str, Any] = {"coder": coder, "unit_id": unit_id, "codebook": BOOK}
        code, (start, end) = str(rng.choice(BOOK.ids)), SPANS[rng.integers(len(SPANS))]
        key = (unit_id, coder, code, *((-1, -1) if start is None else (start, end)))
        what = rng.random()
        if what < 0.1 and not is_model(coder):
            withheld = bool(rng.random() < 0.3)
            one = acts.contents.Suggestion(code=code, start=start, end=end)
            suggested = [] if withheld else [one]
            made.append(
                acts.contents.show_suggestions(
                    **mine, model="words", suggestions=suggested, withheld=withheld
                )
            )
            seen |= set() if withheld else {(coder, unit_id)}
        elif what < 0.3 and key in kinds:
            made.append(acts.remove(**mine, code=code, start=start, end=end))
            del kinds[key]
        else:
            made.append(acts.apply(**mine, code=code, start=start, end=end))
            is_new = key not in kinds
            kinds[key] = "model" if is_model(coder) else "after" if (coder, unit_id) in seen else "people"
            if is_new and what > 0.95 and len(made) < n:
                made.append(acts.undo(made[-1], codebook=BOOK))
                del kinds[key]
    pairs = dict.fromkeys((act.coder, act.unit_id) for act in made if act.unit_id)
    return made + [
        acts.finish(coder=coder, unit_id=unit_id, codebook=BOOK) for coder, unit_id in pairs
    ], kinds


def filled(place: Any, made: list[Act]) -> Store:
    units = pd.DataFrame({"unit_id": list(TEXTS), "text": list(TEXTS.values())})
    units = units.assign(document_id="d", case_id="p", position=range(len(units)))
    store = Store.create(place, units=units, codebook=BOOK)
    for coder in CODERS:
        store.append([act for act in made if act.coder == coder])
    return store


def named(coder: str, suggested: object) -> str:
    """The kind of a coding, from who made it and what is said with it."""
    return "model" if is_model(coder) else "after" if suggested == "after" else "people"


def of_frame(codings: pd.DataFrame) -> Kinds:
    places = codings[["start", "end"]].astype("Int64").fillna(-1)
    keys = zip(
        codings["unit_id"], codings["coder"], codings["code"], places["start"], places["end"], strict=True
    )
    kinds = map(named, codings["coder"], codings["suggestions"].fillna(""))
    return dict(zip(keys, kinds, strict=True))


def by_lxml(path: Path) -> Kinds:
    """Read a project, which is valid by the standard's schema, by its elements alone."""
    valid(path)
    root = etree.fromstring(zipfile.ZipFile(path).read("project.qde"))
    ns = {"r": "urn:QDA-XML:project:1.0"}
    users, codes, notes = (
        {each.get("guid"): each for each in root.iterfind(f".//r:{name}", ns)}
        for name in ("User", "Code", "Note")
    )

    def rows() -> Iterator[tuple[Key, str]]:
        for selection in root.iterfind(".//r:PlainTextSelection", ns):
            source = selection.getparent().get("name")
            for coding in selection.iterfind("r:Coding", ns):
                said = [
                    notes[one.get("targetGUID")].findtext("r:PlainTextContent", "", ns)
                    for one in coding.iterfind("r:NoteRef", ns)
                ]
                coder = users[coding.get("creatingUser")].get("name")
                code = codes[coding.find("r:CodeRef", ns).get("targetGUID")].get("name").lower()
                is_whole = selection.get("name") == "the whole text"
                place = (
                    (-1, -1)
                    if is_whole
                    else (int(selection.get("startPosition")), int(selection.get("endPosition")))
                )
                after = any('suggestions: "after"' in one for one in said)
                yield (source, coder, code, *place), named(coder, "after" if after else "")

    return dict(rows())


def by_pyrefiqda(path: Path, folder: Path) -> Kinds:
    """Read a project with a reader that others made."""
    pyrefiqda = pytest.importorskip("pyrefiqda")
    project = pyrefiqda.RefiProject.load(path, extract_dir=str(folder))
    users = {user.guid: user.name for user in project.users.user}
    codes = {code.guid: code.name.lower() for code in project.code_book.codes.code}
    notes = {note.guid: note.plain_text_content or "" for note in project.notes.note}
    kinds: Kinds = {}
    for source in project.sources.text_source:
        for one in source.plain_text_selection:
            place = (-1, -1) if one.name == "the whole text" else (one.start_position, one.end_position)
            for coding in one.coding:
                said = [notes[each.target_guid] for each in coding.note_ref]
                after = any('suggestions: "after"' in each for each in said)
                coder = users[coding.creating_user]
                key = (source.name, coder, codes[coding.code_ref.target_guid], *place)
                kinds[key] = named(coder, "after" if after else "")
    return kinds


def leaving(store: Store, folder: Path) -> Iterator[tuple[str, Kinds]]:
    """Yield what each way out of a study says of every coding."""
    exchange.export(store, folder / "codings.csv", table="codings")
    yield "CSV", of_frame(pd.read_csv(folder / "codings.csv"))
    exchange.export(store, folder / "coded.xlsx")
    yield "xlsx", of_frame(pd.read_excel(folder / "coded.xlsx", sheet_name="codings"))
    path = folder / "study.qdpx"
    exchange.write_project(store, path)
    yield "our reader", of_frame(exchange.read_project(path).codings)
    yield "lxml", by_lxml(path)
    yield "pyrefiqda", by_pyrefiqda(path, folder / "out")


def check(place: Place, folder: Path, n: int, seed: int) -> None:
    made, kinds = drawn(n, seed)
    store = filled(place("kinds"), made)
    assert set(kinds.values()) == {"people", "after", "model"}
    for way, found in leaving(store, folder):
        assert found == kinds, way


@pytest.mark.parametrize("seed", [1, 2])
def test_each_coding_leaves_a_study_as_what_it_is(place: Place, tmp_path: Path, seed: int) -> None:
    check(place, tmp_path, 500, seed)


@pytest.mark.nightly
def test_ten_thousand_acts_leave_a_study_as_what_they_are(place: Place, tmp_path: Path) -> None:
    check(place, tmp_path, 10_000, 3)


def test_a_bundle_says_which_codings_a_model_had_a_part_in(tmp_path: Path) -> None:
    made, kinds = drawn(150, 4)
    store = filled(tmp_path / "study", made)
    store.preregister(
        acts.contents.AnalysisPlan(question="Why?", n_boot=5, with_agreement=False, settled_by="any"),
        coder="lead",
    )
    cited = {"title": "Kinds", "authors": ["Doe, J."], "licence": "CC0-1.0"}
    store.copies.bundle(tmp_path / "bundle", texts="withheld", formats=["csv"], **cited)
    again = Store(tmp_path / "bundle")
    pd.testing.assert_frame_equal(
        suggestions.made_when(again.acts()).drop(columns="act_id"),
        suggestions.made_when(store.acts()).drop(columns="act_id"),
    )
    exchange.export(again, tmp_path / "codings.csv", table="codings")
    assert of_frame(pd.read_csv(tmp_path / "codings.csv")) == kinds


def test_coding_sheets_take_nobody_for_another(tmp_path: Path) -> None:
    made, _ = drawn(400, 5)
    store = filled(tmp_path / "study", made)
    people = [coder for coder in CODERS if not is_model(coder)]
    store.assign(coders=people, overlap=1.0, coder="lead")
    before = suggestions.made_when(store.acts())
    paths = exchange.write_coding_sheets(store, tmp_path / "sheets")
    assert sorted(path.stem for path in paths) == sorted(people)
    for path in paths:
        store.append(exchange.read_coding_sheets(store, path))
    after = suggestions.made_when(store.acts())
    pd.testing.assert_frame_equal(after, before)
