"""One gate: an act that is wrong is refused at every door of a study, and everywhere in the same words.

A copy can be made to hold any act, since whoever has it can write its files. So each bad act is put into a
copy below the gate, and the copy is brought to every door. What refers to something that a copy may know and
this study does not (a unit, a code, a codebook, a later kind of act) a merge leaves out, and says what it is.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sense7_qual import acts, rounds
from sense7_qual.acts import Act
from sense7_qual.acts.contents import Suggestion, show_suggestions
from sense7_qual.codebook import Code, Codebook, Facet, FacetValue
from sense7_qual.errors import ActError, CodebookError, StoreError
from sense7_qual.store import Store
from sense7_qual.store._operations.check_acts import MOST_LETTERS
from sense7_qual.store._stored import acts_files, acts_tables, layout

pytestmark = pytest.mark.long

BOOK = Codebook(
    name="gate",
    facets=(Facet(name="heat", values=(FacetValue("low"), FacetValue("high")), codes=("warm",)),),
    codes=(
        Code(id="warm", label="Warm"),
        Code(id="cold", label="Cold"),
        Code(id="group", label="Group", codable=False),
    ),
)
OTHER = Codebook(name="other", codes=(Code(id="warm", label="Warm"),))
TEXTS = {f"u{i}": f"Text number {i} says how it was." for i in range(6)}
ID = "00000000-0000-4000-8000-{:012d}"
FIRST, MEMO, STEP = ID.format(1), ID.format(2), ID.format(3)


def raw(kind: str, n: int, coder: str = "ben", **fields: Any) -> Act:
    """Return an act as a file may hold it."""
    stamped = {"act_id": ID.format(n), "at": "2026-03-02T10:00:00.000Z", "codebook": BOOK.fingerprint}
    return Act(**{"kind": kind, "coder": coder, **stamped, **fields})


def opening(coder: str = "ben", **content: Any) -> dict[str, Any]:
    return {
        "coder": coder,
        "text": json.dumps({"units": ["u0"], "coders": ["ben"], **content}, sort_keys=True),
    }


BAD: dict[str, tuple[Act, str]] = {}
"""Of each bad act what it is; and which part of it a merge leaves out as unknown, where it does."""


def bad(name: str, kind: str, *, unknown: str = "", **fields: Any) -> None:
    BAD[name] = raw(kind, 100 + len(BAD), **fields), unknown


bad("a unit that nobody has", "finish", unknown="unit", unit_id="u99")
bad("a code that nobody has", "apply", unknown="code", unit_id="u0", code="hot")
bad(
    "a codebook of another study",
    "apply",
    unknown="codebook",
    unit_id="u0",
    code="warm",
    codebook=OTHER.fingerprint,
)
bad("a code that only groups others", "apply", unit_id="u0", code="group")
bad("a ruling on a group", "rule", coder="lead", unit_id="u0", code="group", applied=True)
bad("a span beyond the text", "apply", unit_id="u0", code="warm", start=3, end=999)
bad("a facet that nobody has", "apply", unit_id="u0", code="warm", facets="taste=sweet")
bad("a value that the facet lacks", "apply", unit_id="u0", code="warm", facets="heat=boiling")
bad("a facet of a code without", "apply", unit_id="u0", code="cold", facets="heat=low")
bad("facets of a memo", "memo", target_kind="study", memo_id=MEMO, text="A thought.", facets="heat=low")
bad("no time", "finish", unit_id="u0", at="yesterday")
bad("a month that no year has", "finish", unit_id="u0", at="2026-13-01T00:00:00.000Z")
bad("a time of another zone", "finish", unit_id="u0", at="2026-01-01T00:00:00+02:00")
bad("another's round", "finish", unit_id="u0", round="of ana")
bad("a text outside of hers", "finish", unit_id="u5", round="of both")
bad("a coding in another's round", "apply", unit_id="u0", code="warm", round="of ana")
bad("an unblinding of a round that nobody opened", "unblind", coder="lead", round="none")
bad("an unblinding by no lead", "unblind", coder="eve", round="of both")
bad("a round opened again by no lead", "open_round", round="of both", **opening("eve"))
bad("a round of texts that nobody has", "open_round", round="new", **opening("lead", units=["u99"]))
bad("a round that says nothing", "open_round", unknown="kind", round="new", coder="lead", text="{}")
bad("an undoing of nothing", "undo", target=ID.format(99))
bad("a redoing of nothing", "redo", target=ID.format(99))
bad("an undoing that names another text", "undo", target=FIRST, unit_id="u1")
bad("an undoing that names another round", "undo", target=FIRST, unit_id="u0", round="of both")
bad(
    "edges of a coding that never was",
    "apply",
    unit_id="u0",
    code="warm",
    start=0,
    end=3,
    step=STEP,
    moved_from=ID.format(99),
)
bad(
    "edges that nothing removes",
    "apply",
    unit_id="u0",
    code="warm",
    start=0,
    end=3,
    step=STEP,
    moved_from=FIRST,
)
bad(
    "a memo that changes its round", "memo", target_kind="study", memo_id=MEMO, text="Again.", round="of both"
)
bad("a memo on nothing", "memo", target_kind="unit", memo_id=ID.format(98), text="On what?")
bad(
    "a memo as long as a book",
    "memo",
    target_kind="study",
    memo_id=ID.format(97),
    text="a" * (MOST_LETTERS + 1),
)
bad(
    "a ruling as long as a book",
    "rule",
    coder="lead",
    unit_id="u0",
    code="warm",
    applied=True,
    text="a" * (MOST_LETTERS + 1),
)
bad(
    "a paraphrase that is the quote",
    "quote",
    coder="lead",
    unit_id="u0",
    code="warm",
    start=0,
    end=11,
    facets="role=shows state=approved words=paraphrase",
    text="Text number",
)
bad("a proposal that says nothing", "propose", unknown="kind", unit_id="u0", text="{}")
bad("an option that nobody knows", "set_options", unknown="kind", coder="lead", text='{"colour": "red"}')
bad("a plan that says nothing", "assign", unknown="kind", coder="lead", text="{}")
bad("a revision that says nothing", "revise", unknown="kind", coder="lead", text="{}")
bad("themes that say nothing", "record_themes", unknown="kind", coder="lead", text="{}")
bad("an analysis plan that says nothing", "preregister", unknown="kind", coder="lead", text="{}")
bad("a ruling by a model", "rule", coder="model-x", unit_id="u0", code="warm", applied=True)
bad("a round opened by a model", "open_round", round="new", **opening("model-x"))
bad("options set by a model", "set_options", coder="model-x", text='{"new_codes": "add"}')
_SHOWN = show_suggestions(
    coder="ben", unit_id="u0", codebook=BOOK, model="words", suggestions=[Suggestion(code="warm")]
)
BAD["suggestions of a code that nobody has"] = (
    replace(_SHOWN, text=str(_SHOWN.text).replace("warm", "hot")),
    "",
)
#: Of the leads' acts nothing comes in from a hand-out; of ben's, what `BAD` says.
OF_BEN = [name for name, (act, _) in BAD.items() if act.coder == "ben"]
#: An archive's rounds were asked when the acts were recorded.
OF_ROUNDS = [name for name, (act, _) in BAD.items() if act.round is not None and act.kind != "undo"]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    units = pd.DataFrame(
        {
            "unit_id": list(TEXTS),
            "text": list(TEXTS.values()),
            "document_id": None,
            "case_id": None,
            "position": None,
        }
    )
    store = Store.create(tmp_path / "study", units=units, codebook=BOOK)
    lead: dict[str, Any] = {"coder": "lead", "codebook": BOOK}
    four = ["u0", "u1", "u2", "u3"]
    store.append([rounds.open_round("of both", units=four, coders=["ana", "ben"], **lead)])
    store.append([rounds.open_round("of ana", units=four, coders=["ana"], **lead)])
    ben: dict[str, Any] = {"coder": "ben", "codebook": BOOK}
    store.append(
        [
            acts.apply(unit_id="u0", code="warm", start=0, end=4, act_id=FIRST, **ben),
            acts.memo(text="A thought.", target_kind="study", memo_id=MEMO, **ben),
        ]
    )
    return store


def forced(folder: Path, act: Act) -> Path:
    """Write an act into a study folder below the gate."""
    study = layout.read(folder).id
    file = acts_files.acts_file(folder, act.coder)
    if not file.exists():
        acts_files.create(file, study=study, coder=act.coder)
    with acts_files.transaction(file, writes=True) as connection:
        acts_tables.add(connection, [act], study=study, coder=act.coder)
    return folder


def copy(store: Store, tmp_path: Path) -> Path:
    return Path(shutil.copytree(store.path, tmp_path / "copy"))


def words_of_append(store: Store, act: Act) -> str:
    with pytest.raises((ActError, CodebookError)) as refused:
        store.append([act])
    return str(refused.value)


def verdict(items: pd.DataFrame, act: Act) -> dict[str, str]:
    [row] = items[items["act_id"] == act.act_id].to_dict("records")
    return {name: row[name] for name in ("status", "unknown", "why")}


def expected(store: Store, name: str) -> dict[str, str]:
    act, unknown = BAD[name]
    said = words_of_append(store, act)
    if unknown:
        return {"status": "left out", "unknown": unknown, "why": ""}
    return {"status": "refused", "unknown": "", "why": said}


@pytest.mark.parametrize("name", BAD)
def test_what_append_refuses_no_merge_brings(name: str, store: Store, tmp_path: Path) -> None:
    act = BAD[name][0]
    merged = store.copies.merge(forced(copy(store, tmp_path), act))
    assert verdict(merged.items, act) == expected(store, name)
    assert act.act_id not in {one.act_id for one in store.acts()}
    assert store.verify()["ok"].all()


@pytest.mark.parametrize("name", OF_BEN)
def test_nor_does_a_hand_in(name: str, store: Store, tmp_path: Path) -> None:
    act = BAD[name][0]
    store.copies.hand_out("of both", "ben", tmp_path / "ben")
    forced(tmp_path / "ben", act)
    merged = store.copies.merge(tmp_path / "ben")
    assert verdict(merged.items, act) == expected(store, name)
    assert act.act_id not in {one.act_id for one in store.acts()}


@pytest.mark.parametrize("name", [name for name in BAD if name not in OF_ROUNDS])
def test_nor_does_an_archive(
    name: str, store: Store, tmp_path: Path, archived: Callable[[Path, Path], None]
) -> None:
    act, unknown = BAD[name]
    archived(forced(copy(store, tmp_path), act), tmp_path / "bad.zip")
    with pytest.raises(StoreError) as refused:
        Store.restore(tmp_path / "bad.zip", tmp_path / "restored")
    assert words_of_append(store, act) in str(refused.value) or unknown in ("unit", "codebook", "kind")
    assert not (tmp_path / "restored").exists()


@pytest.fixture
def archived(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, Path], None]:
    """Write an archive as somebody would who means to slip something in: whatever `verify` finds."""
    from sense7_qual.store._operations import archive

    def write(folder: Path, target: Path) -> None:
        with monkeypatch.context() as patched:
            verified = archive.verify_folder
            patched.setattr(
                archive,
                "verify_folder",
                lambda *given: [replace(each, problem="") for each in verified(*given)],
            )
            archive.write(folder, target)

    return write


def test_the_doors_are_all_that_add_acts() -> None:
    """Whatever writes rows of acts goes through the gate; a new door has to be named here, and tried."""
    package = Path(sys.modules["sense7_qual"].__file__ or "").parent
    writers = {
        file.relative_to(package).as_posix()
        for file in (package / "store").rglob("*.py")
        if any(
            call in file.read_text("utf-8")
            for call in ("acts_tables.add(", "add_links(", "insert_all(", "insert(acts_tables.ACTS")
        )
    }
    assert writers == {
        "store/_operations/append.py",  # of widgets, sheets, projects, drafts
        "store/_operations/merge.py",  # of copies, acts files, hand-ins
        "store/_operations/archive.py",  # and `restored` asks the gate
        "store/_operations/hand_out.py",  # what goes out
        "store/_operations/salvage.py",  # a file to be merged
        "store/_postgres/__init__.py",  # an archive into a server, after `restored` asked
        "store/_stored/acts_tables.py",  # where it is written
    }
