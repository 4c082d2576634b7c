"""No field of an act, codebook, plan or table takes a participant's words into a bundle."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sense7_qual import acts, corpus, rounds
from sense7_qual.acts import Act
from sense7_qual.acts.contents import AnalysisPlan, Suggestion
from sense7_qual.codebook import Code, Codebook, Facet, FacetValue
from sense7_qual.errors import ArgumentError
from sense7_qual.store import Store
from sense7_qual.store._bundle import write as bundles
from sense7_qual.store._stored.repeated_passages import normalised
from sense7_qual.themes import Themes
from tests.helpers.nightly import nightly_but

SAID = "My sister Annabel stood in the rain for an hour and nobody came"
AS_NAME = "sister_Annabel_stood_in_the_rain"  # what fits the name of a code, facet or coder
SHORT = "It lectured me then"
BOOK = Codebook(
    name="book",
    codes=(Code(id="c1", label="One"), Code(id="c2", label="Two")),
    facets=(Facet(name="valence", values=(FacetValue("met"),)),),
)
PLAN = AnalysisPlan(question="What?", n_boot=20)


def made(folder: Path, *, book: Codebook = BOOK, **columns: Any) -> Store:
    """A study of four texts by two participants, one of them coded."""
    table = {
        "unit_id": ["m1", "m2", "m3", "m4"],
        "case_id": ["p1", "p1", "p2", "p2"],
        "document_id": ["d1", "d1", "d2", "d2"],
        "position": [1, 2, 1, 2],
        "text": [f"Well. {SAID}!", SHORT, "It was cold there and dark as well", "Nothing more to say"],
    }
    file = folder / "units.csv"
    pd.DataFrame(table | columns).to_csv(file, index=False)
    units = corpus.read(
        file,
        unit_id="unit_id",
        text="text",
        document_id="document_id",
        case_id="case_id",
        position="position",
    )
    store = Store.create(folder / "study", units=units, codebook=book)
    store.append([acts.finish(coder="ana", unit_id=units["unit_id"][2], codebook=book)])
    return store


def themes(store: Store, **parameters: Any) -> Themes:
    ids = store.units["unit_id"].tolist()
    return Themes(
        terms=pd.DataFrame(),
        quotes=pd.DataFrame(),
        parameters={"seed": 0, **parameters},
        summary=pd.DataFrame({"theme": [0], "stability": 0.8, "dissolved": 0.0, "recovered": 0.9}),
        assignments=pd.DataFrame({"unit_id": ids[2:], "theme": 0, "similarity": 0.7, "coarse": 0, "sub": 0}),
        hierarchy=pd.DataFrame({"level": ["theme"], "group": [0], "stability": [0.8]}),
    )


def on(store: Store, unit: int = 2) -> dict[str, Any]:
    return {"coder": "ana", "unit_id": store.units["unit_id"][unit], "codebook": store.codebook}


def lead(store: Store) -> dict[str, Any]:
    return {"coder": "lead", "codebook": store.codebook}


def opening(store: Store, name: str = "one", **more: Any) -> Act:
    ids = store.units["unit_id"].tolist()
    return rounds.open_round(name, units=ids, coders=["ana", "ben"], **lead(store), **more)


def planned(**answers: Any) -> Callable[[Store, str], object]:
    return lambda store, said: store.preregister(
        replace(PLAN, **{name: _in(value, said) for name, value in answers.items()}), coder="lead"
    )


def _in(value: Any, said: str) -> Any:
    if isinstance(value, dict):
        return dict.fromkeys(value, said)
    return tuple(f"{said}{mark}" for mark in value) if isinstance(value, tuple) else said


def themed(store: Store, said: str) -> None:
    store.record_themes(themes(store), coder="lead")
    store.edit_theme(0, name=said, coder="lead")


def coded_by(store: Store, said: str) -> None:
    store.append([acts.finish(**on(store) | {"coder": AS_NAME if said == SAID else "short-it"})])


#: What is withheld, by where it is planted.
WITHHELD: dict[str, Callable[[Store, str], object]] = {
    "preregister: question": planned(question=""),
    "preregister: hypotheses": planned(hypotheses=("", ".")),
    "preregister: answers": planned(answers={"aims": "", "sampling": ""}),
    "revise: why": lambda store, said: store.revise(
        replace(store.codebook, version="2"), why=f"After “{said}” it changed.", coder="lead"
    ),
    "show_suggestions: model": lambda store, said: store.append(
        [acts.contents.show_suggestions(**on(store), model=said, suggestions=[Suggestion(code="c1")])]
    ),
    "describe: settings": lambda store, said: store.append(
        [acts.contents.describe(coder="model-x", codebook=store.codebook, settings={"model": said})]
    ),
    "apply: quote": lambda store, said: store.append(
        [acts.apply(**on(store, 0), code="c1", start=6, end=6 + len(SAID))]
    ),
    "memo on a text": lambda store, said: store.append([acts.memo(**on(store), text=said)]),
    "memo on words": lambda store, said: store.append(
        [acts.memo(**on(store), text=said, target_kind="span", start=0, end=6)]
    ),
    "memo on a code": lambda store, said: store.append(
        [acts.memo(coder="ana", codebook=store.codebook, text=said, target_kind="code", code="c1")]
    ),
    "rule: note": lambda store, said: store.append(
        [acts.rule(**on(store) | {"coder": "lead"}, code="c1", applied=True, reason="slip", note=said)]
    ),
    "answer: text": lambda store, said: store.append(
        [acts.answer(coder="lead", proposal="x", text=said, codebook=store.codebook)]
    ),
    "propose: label, definition, origin": lambda store, said: store.append(
        [acts.propose(**on(store), label=said, definition=said, origin=said)]
    ),
    "quote: paraphrase": lambda store, said: store.append(
        [acts.quote(**on(store) | {"coder": "lead"}, code="c1", state="approved", paraphrase=said)]
    ),
    "edit_theme: name": themed,
}

#: What is refused, by the field that the refusal names, and how it is planted.
REFUSED: dict[str, tuple[str, Callable[[Store, str], object]]] = {
    "name of a round": ("round", lambda store, said: store.append([opening(store, said)])),
    "round in the plan": ("preregister", planned(rounds=("",))),
    "coder": ("coder", coded_by),
    "memo_id": (
        "memo_id",
        lambda store, said: store.append([acts.memo(**on(store), text="x", memo_id=said)]),
    ),
    "themes": (
        "record_themes",
        lambda store, said: store.record_themes(themes(store, note=said), coder="lead"),
    ),
}


def content(folder: Path) -> Iterator[str]:
    for file in folder.rglob("*"):
        if file.is_file():
            yield file.read_bytes().decode("utf-8", "ignore")
            if file.suffix == ".parquet":
                yield pd.read_parquet(file).to_csv()


def has_words(folder: Path) -> bool:
    told = (normalised(SAID), normalised(AS_NAME), normalised(SHORT), "annabel")
    return any(words in normalised(text) for text in content(folder) for words in told)


@pytest.fixture(autouse=True)
def without_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bundles without tables and figures: `rerun.py` reads the bundle alone (`test_bundles.py`)."""
    monkeypatch.setattr(bundles, "_run", lambda *_, **__: None)


def published(store: Store, folder: Path, texts: str, **named: Any) -> Path:
    store.copies.bundle(folder / "out", texts=texts, names=["Annabel"], settled_by="majority", **named)
    Store(folder / "out").acts()  # each act is still one
    assert Store(folder / "out").verify()["ok"].all()
    return folder / "out"


@pytest.mark.long
@pytest.mark.parametrize("texts", nightly_but(["withheld", "redacted"], here=["withheld"]))
@pytest.mark.parametrize("where", WITHHELD)
def test_words_are_withheld(where: str, texts: str, tmp_path: Path) -> None:
    for said in (SAID, SHORT) if texts == "withheld" else (SAID, "As Annabel says"):
        folder = tmp_path / str(len(said))
        folder.mkdir()
        store = made(folder)
        WITHHELD[where](store, said)
        out = published(store, folder, texts)
        record = [text for file in (out / "record", out / "codebooks") for text in content(file)]
        assert not any(normalised(said) in normalised(text) for text in record)
        assert "annabel" not in "".join(map(normalised, content(out)))


@pytest.mark.long
@pytest.mark.parametrize("texts", nightly_but(["withheld", "redacted"], here=["withheld"]))
@pytest.mark.parametrize("where", REFUSED)
def test_names_that_cannot_be_withheld_are_refused_until_accepted(
    where: str, texts: str, tmp_path: Path
) -> None:
    field, plant = REFUSED[where]
    store = made(tmp_path)
    plant(store, SAID)
    with pytest.raises(ArgumentError, match=rf"no words of participants in '{field}'.*accept") as refused:
        store.copies.bundle(tmp_path / "out", texts=texts, names=["Annabel"], settled_by="majority")
    assert "sister" not in str(refused.value)
    assert not (tmp_path / "out").exists()
    published(store, tmp_path, texts, accept=[field])


def texts_of(kind: type) -> list[str]:
    constrained = {"id", "parent", "colour", "key", "origin", "codes", "facets", "values"}
    texts = ("str", "tuple[str, ...]")
    return [one.name for one in fields(kind) if one.name not in constrained and one.type in texts]


def planted_book(kind: type, name: str, said: str) -> Codebook:
    """The codebook with the words in a field of the codebook, its first code, facet or value."""
    code, facet = BOOK.codes[0], BOOK.facets[0]
    value: Any = (
        (said,) if isinstance(getattr({Code: code, Facet: facet}.get(kind, BOOK), name, ""), tuple) else said
    )
    if kind is Code:
        return replace(BOOK, codes=(replace(code, **{name: value}), BOOK.codes[1]))
    if kind is Facet:
        return replace(BOOK, facets=(replace(facet, **{name: value}),))
    if kind is FacetValue:
        return replace(BOOK, facets=(replace(facet, values=(replace(facet.values[0], **{name: value}),)),))
    return replace(BOOK, **{name: value})


CODEBOOK_FIELDS = [(kind, name) for kind in (Codebook, Code, Facet, FacetValue) for name in texts_of(kind)]


@pytest.mark.long
@pytest.mark.parametrize(("kind", "name"), CODEBOOK_FIELDS, ids=lambda one: getattr(one, "__name__", one))
def test_no_field_of_a_codebook_holds_words(kind: type, name: str, tmp_path: Path) -> None:
    is_name = kind in (Facet, FacetValue) and name == "name"
    store = made(tmp_path, book=planted_book(kind, name, AS_NAME if is_name else SAID))
    if is_name:
        with pytest.raises(ArgumentError, match="no words of participants in 'codebook'"):
            store.copies.bundle(tmp_path / "out", texts="withheld")
    else:
        assert not has_words(published(store, tmp_path, "withheld"))


def test_the_id_of_a_code_is_refused(tmp_path: Path) -> None:
    book = replace(BOOK, codes=(replace(BOOK.codes[0], id=AS_NAME), BOOK.codes[1]))
    store = made(tmp_path, book=book)
    store.append([acts.apply(**on(store), code=AS_NAME)])
    with pytest.raises(ArgumentError, match="no words of participants in 'code'"):
        store.copies.bundle(tmp_path / "out", texts="withheld")


def test_every_kind_of_act_with_words_is_planted() -> None:
    """Kinds that are not planted hold ids, numbers and a few fixed words alone."""
    planted = {name.partition(":")[0].partition(" ")[0] for name in WITHHELD}
    bare = {
        "remove",
        "finish",
        "reopen",
        "undo",
        "redo",
        "unblind",
        "reject_suggestion",
        "abstain",
        "set_options",
        "assign",
    }
    assert planted | bare | {"open_round", "record_themes"} == set(acts.KINDS)
    looked_over = {
        *("round", "code", "facets", "coder", "memo_id", "target", "unit_id", "text"),
        *("step", "moved_from", "answers"),
    }
    fixed = {"act_id", "kind", "at", "codebook", "confidence", "found_by", "target_kind"}
    assert {one.name for one in fields(Act) if "str" in str(one.type)} == looked_over | fixed


# columns of the units, and what is given to the call ------------------------------------------------


@pytest.mark.long
def test_columns_and_what_is_given_are_looked_over(tmp_path: Path) -> None:
    store = made(
        tmp_path, Comment=[f"As: {SAID}", "", "", ""], **{SAID: list("abcd"), f"{SAID} again": list("abcd")}
    )
    wanted: dict[str, tuple[str, dict[str, Any]]] = {
        "a column's name": ("column", {"variables": [SAID]}),
        "a column's values": ("Comment", {"accept": ["column"], "variables": ["Comment"]}),
        "title": ("title", {"accept": ["column"], "title": f"On: {SAID}"}),
        "keywords": ("keywords", {"accept": ["column"], "authors": ["Doe, J."], "keywords": [f"on {SAID}"]}),
        "plan": (
            "analysis plan",
            {"accept": ["column"], "analysis_plan": replace(PLAN, rounds=(f"{SAID} (1)",))},
        ),
    }
    for field, named in wanted.values():
        with pytest.raises(ArgumentError, match=f"no words of participants in '{field}'"):
            store.copies.bundle(tmp_path / "out", texts="withheld", **named)
    out = tmp_path / "out"
    store.copies.bundle(out, texts="withheld", accept=["column"], analysis_plan=replace(PLAN, question=SAID))
    assert normalised(SAID) not in normalised((out / "record" / "analysis.json").read_text("utf-8"))
    assert f"{SAID} again" not in (out / "README.md").read_text("utf-8")  # a column that is left out
    with pytest.raises(ArgumentError, match=r"accept.*found 'rounds' – did you mean 'round'"):
        store.copies.bundle(tmp_path / "other", texts="withheld", accept=["rounds"])


@pytest.mark.long
def test_a_question_of_the_study_is_not_withheld_where_a_code_quotes_it(tmp_path: Path) -> None:
    asked = "Why did you rate the assistant as you did, in your own words?"
    table = pd.DataFrame({"pid": ["p1", "p2"], asked: [f"Well. {SAID}!", "It was cold there and dark."]})
    units = corpus.read(table, text=[asked], unit_id="pid")
    book = Codebook(name="book", codes=(Code(id="c1", label="One", definition=f'Answers to "{asked}"'),))
    store = Store.create(tmp_path / "study", units=units, codebook=book)
    store.append([acts.finish(coder="ana", unit_id=units["unit_id"][0], codebook=book)])
    store.copies.bundle(tmp_path / "out", texts="withheld")
    assert asked in next((tmp_path / "out" / "codebooks").iterdir()).read_text("utf-8")


@pytest.mark.long
def test_an_identifier_in_a_text_is_withheld_elsewhere(tmp_path: Path) -> None:
    """A redaction would have changed these words; another address, as of a source, stays."""
    texts = ["Write to me: nobody@example.org", "So it was", "It was cold there and dark as well", "No"]
    store = made(tmp_path, text=texts)
    plan = replace(PLAN, question="Did nobody@example.org answer?", answers={"aims": "See www.example.net"})
    store.preregister(plan, coder="lead")
    store.append([opening(store, "of nobody@example.org")])
    for form in ("withheld", "redacted"):
        with pytest.raises(ArgumentError, match="in 'round'"):
            store.copies.bundle(tmp_path / form, texts=form)
        store.copies.bundle(tmp_path / form, texts=form, accept=["round"])
        told = json.loads((tmp_path / form / "record" / "analysis.json").read_text("utf-8"))["plan"]
        assert "nobody" not in told
        assert "www.example.net" in told


# ids that tell who somebody is ----------------------------------------------------------------------


NAMES = [
    "anna.meyer@example.org",
    "Anna Meyer",
    "Meyer, Anna",
    "anna_meyer",
    "Anna",
    "5f3a9b0c2d4e6f7a8b9c0d1e",
]


@pytest.mark.long
@pytest.mark.parametrize("texts", nightly_but(["withheld", "redacted", "all"], here=["withheld"]))
@pytest.mark.parametrize("column", ["unit_id", "document_id", "case_id"])
@pytest.mark.parametrize("who", nightly_but(NAMES, here=["anna.meyer@example.org", "Anna Meyer", NAMES[-1]]))
def test_ids_that_look_like_people_are_asked_about(column: str, who: str, texts: str, tmp_path: Path) -> None:
    others = {"unit_id": ["m2", "m3", "m4"], "document_id": ["d1", "d2", "d2"], "case_id": ["p1", "p2", "p2"]}
    store = made(tmp_path, **{column: [who, *others[column]]})
    with pytest.raises(
        ArgumentError, match=rf"'{column}' to tell nobody.*1 of [1-4] that.*rows '0' of.*accept"
    ) as why:
        store.copies.bundle(tmp_path / "out", texts=texts)
    assert who not in str(why.value)
    store.copies.bundle(tmp_path / "out", texts=texts, accept=[column])
    assert (tmp_path / "out").is_dir()


def test_pseudonymous_ids_are_not_asked_about(tmp_path: Path) -> None:
    ids = ["P-001", "R_3nJ8xYz12345AbC", "5f3a9b0c-2d4e", "1234567890"]
    store = made(tmp_path, case_id=ids, document_id=["participant-a", "interview 3.docx", "control", "d4"])
    store.copies.bundle(tmp_path / "out", texts="redacted")
