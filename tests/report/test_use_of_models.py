"""The statement on AI finds every use of a model in the record, and none where there was none."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from sense7_qual import acts, corpus, report, rounds, suggestions
from sense7_qual.acts.contents import AnalysisPlan, Suggestion, describe, show_suggestions
from sense7_qual.codebook import Codebook
from sense7_qual.store import Store

BOOK = Codebook.read("sense7")
CODE, OTHER = BOOK.ids[:2]
TEXTS = [f"m{number}" for number in range(1, 13)]
NONE = "no use of a model"
QUICK = AnalysisPlan(question="Which codes?", n_boot=20)


def new_study(path: Path) -> Store:
    path.mkdir(parents=True)
    lines = [
        f"{unit_id},It listened well on day {unit_id}.,p{place // 2}" for place, unit_id in enumerate(TEXTS)
    ]
    (path / "texts.csv").write_text("\n".join(["id,said,person", *lines]), "utf-8")
    units = corpus.read(path / "texts.csv", unit_id="id", text="said", case_id="person")
    return Store.create(path / "study", units=units, codebook=BOOK)


def coded(store: Store, seed: int) -> None:
    """Let two people code the texts, with undone codings and a proposal of their own."""
    rng = np.random.default_rng(seed)
    for coder in ("ana", "modeller"):
        mine, made = {"coder": coder, "codebook": BOOK}, []
        for unit_id in TEXTS:
            codes = [code for code in BOOK.ids if rng.random() < 0.3]
            made += [acts.apply(unit_id=unit_id, code=code, **mine) for code in codes]
            made += [acts.undo(made[-1], codebook=BOOK)] if codes and rng.random() < 0.2 else []
            made.append(acts.finish(unit_id=unit_id, **mine))
        made += [acts.propose(label="Hope", unit_id="m1", **mine)] if rng.random() < 0.5 else []
        store.append(made)


def suggest(
    store: Store,
    *,
    coder: str = "ana",
    unit_id: str = "m1",
    withheld: bool = False,
    n: int = 1,
    when: str = "finished",
) -> None:
    one = [] if withheld or not n else [Suggestion(code=CODE, probability=0.8, start=None, end=None)]
    store.append(
        [
            show_suggestions(
                suggestions=one,
                coder=coder,
                unit_id=unit_id,
                codebook=BOOK,
                model="words",
                withheld=withheld,
                when=when,
            )
        ]
    )


def model_codes(store: Store, *, applied: int = 3, only: str = "finish", name: str = "model-a") -> None:
    mine = {"coder": name, "codebook": BOOK, "round": name}
    store.append([rounds.open_round(name, units=TEXTS, coders=[name], coder="lead", codebook=BOOK)])
    if only == "describe":
        store.append([describe(settings={"model": "a-1", "destination": "here"}, **mine)])
        return
    for unit_id in TEXTS[: applied or 1]:
        made = [acts.apply(unit_id=unit_id, code=CODE, **mine)] * bool(applied)
        store.append([*made, acts.finish(unit_id=unit_id, **mine)])


def themes(store: Store) -> None:
    import pandas as pd

    store.record_themes(
        pd.DataFrame({"unit_id": TEXTS, "theme": [number % 2 for number in range(12)], "probability": 1.0}),
        coder="lead",
    )


def propose(store: Store, origin: str) -> None:
    store.append(
        [acts.propose(label="Hope", unit_id="m1", origin=origin, theme=0, coder="lead", codebook=BOOK)]
    )


def taken(store: Store) -> None:
    suggest(store)
    store.append([acts.apply(unit_id="m1", code=CODE, coder="ana", codebook=BOOK)])


def withdrawn(store: Store) -> None:
    suggest(store)
    store.forget("p0", why="asked")


part = functools.partial
USES: Sequence[Callable[[Store], None]] = (
    suggest,
    part(suggest, coder="modeller"),
    part(suggest, unit_id="m12"),
    part(suggest, when="shown"),
    part(suggest, n=0),
    part(suggest, withheld=True),
    taken,
    withdrawn,
    part(propose, origin="theme 0"),
    part(propose, origin="theme 0; drafted by a language model"),
    part(propose, origin="a language model"),
    model_codes,
    part(model_codes, applied=1),
    part(model_codes, applied=0),
    part(model_codes, applied=12),
    part(model_codes, only="describe"),
    part(model_codes, name="model-b"),
    lambda store: [suggest(store), model_codes(store)],
    lambda store: [suggest(store, unit_id=unit_id) for unit_id in TEXTS],
    lambda store: [suggest(store, coder=coder, when="shown") for coder in ("ana", "modeller")],
)


@pytest.mark.parametrize("place", range(len(USES)))
def test_a_planted_use_of_a_model_is_found(place: int, tmp_path: Path) -> None:
    store = new_study(tmp_path / "s")
    coded(store, place)
    USES[place](store)
    assert not suggestions.model_uses(store.acts()).empty
    assert NONE not in str(report.ai_statement(store, with_agreement=False))


def opened_for_a_model(store: Store) -> None:
    """The lead opens a round for a model whose acts are lost, or never came."""
    model_codes(store)
    (store.path / "acts" / "model-a.sqlite").unlink()
    store.admin.accept_loss("model-a")


def dealt_to_a_model(store: Store) -> None:
    made = rounds.Assignment(units={"model-a": ("m1",)}, coders=("model-a",), overlap=0.0, seed=1)
    store.append([acts.Act(kind="assign", text=made.to_text(), **acts.stamp("lead", BOOK, None, None))])


def drafted_and_withdrawn(store: Store) -> None:
    propose(store, "a language model")
    store.forget("p0", why="asked")


def suggestions_planned(store: Store) -> None:
    store.set_options(suggestions="shown", coder="lead")


TRACES = {
    opened_for_a_model: "gives texts to “model-a” to code, and holds no act",
    dealt_to_a_model: "gives texts to “model-a” to code, and holds no act",
    drafted_and_withdrawn: "whether a model drafted",
    suggestions_planned: "was set to show a model's suggestions from the start",
}


@pytest.mark.parametrize("plant", TRACES)
def test_what_is_lost_or_withdrawn_is_not_called_no_use(
    plant: Callable[[Store], None], tmp_path: Path
) -> None:
    store = new_study(tmp_path / "s")
    coded(store, 6)
    plant(store)
    said = str(report.ai_statement(store, with_agreement=False))
    assert NONE not in said
    assert TRACES[plant] in said
    checked = str(report.checklist(store, "rtarg", with_agreement=False, settled_by="majority"))
    assert NONE not in checked


def test_there_are_twenty_planted_uses() -> None:
    assert len(USES) == 20


@pytest.mark.parametrize("start", range(5))
def test_where_no_model_was_used_none_is_told(start: int, tmp_path: Path) -> None:
    for number in range(10):
        store = new_study(tmp_path / str(number))
        coded(store, 10 * start + number)
        assert NONE in str(report.ai_statement(store, with_agreement=False))
        assert suggestions.model_uses(store.acts()).empty
        when = suggestions.made_when(store.acts())["when"]
        assert set(when) == {"without"}


def test_codings_before_and_after_a_suggestion_are_told_apart(tmp_path: Path) -> None:
    store = new_study(tmp_path / "s")
    mine = {"coder": "ana", "codebook": BOOK}
    store.append(
        [
            acts.apply(unit_id="m1", code=CODE, **mine),
            acts.apply(unit_id="m2", code=CODE, **mine),
            acts.finish(unit_id="m1", **mine),
        ]
    )
    suggest(store)
    store.append([acts.apply(unit_id="m1", code=OTHER, **mine)])
    store.append([acts.apply(unit_id="m1", code=CODE, coder="ben", codebook=BOOK)])
    model_codes(store)
    table = suggestions.made_when(store.acts()).set_index(["coder", "unit_id", "code"])["when"]
    assert table["ana", "m1", CODE] == "before"
    assert table["ana", "m1", OTHER] == "after"
    assert table["ana", "m2", CODE] == table["ben", "m1", CODE] == "without"
    assert set(table["model-a"]) == {"model"}
    said = str(report.ai_statement(store, with_agreement=False))
    assert "Of 4 codings by people, as they are now, 2 were made on texts" in said
    assert "1 before the coder saw one, and 1 afterwards" in said


def test_what_the_record_says_of_a_model_is_not_asked(tmp_path: Path) -> None:
    asked = "For each model: which version"
    for only in ("finish", "describe"):
        store = new_study(tmp_path / only)
        coded(store, 1)
        model_codes(store, only=only)
        text = report.ai_statement(store, with_agreement=False)
        assert any(asked in one for one in text.questions) == (only == "finish")
        assert ("the model a-1" in str(text)) == (only == "describe")


@pytest.mark.long
@pytest.mark.parametrize("place", [0, 10, 11, None])
def test_a_stranger_reads_the_same_from_a_bundle(place: int | None, tmp_path: Path) -> None:
    store = new_study(tmp_path / "s")
    coded(store, 3)
    if place is not None:
        USES[place](store)
    store.copies.bundle(
        tmp_path / "bundle",
        texts="withheld",
        analysis_plan=QUICK,
        formats=["csv"],
        settled_by="majority",
        progress=None,
    )
    again = Store(tmp_path / "bundle")
    own, theirs = (str(report.ai_statement(one, with_agreement=False)) for one in (store, again))
    assert own == theirs
    assert (NONE in own) == (place is None)
    written = (tmp_path / "bundle" / "tables" / "numbers_use_of_ai.csv").read_text("utf-8")
    assert (NONE in written) == (place is None)
