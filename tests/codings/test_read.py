"""Files of codings: what a file does not say is asked for, and nothing that changes a number is guessed."""

from __future__ import annotations

import json
import re
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pytest
from hypothesis import assume, given, settings, strategies as st

from sense7_qual import agreement, codings
from sense7_qual._formats import KINDS
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ArgumentError, CodebookError, ImportRefused, QualError, TableError
from sense7_qual.frames import DECISIONS
from tests.helpers import coding_exports as made
from tests.helpers.places import ROOT, SHARED
from tests.helpers.private_words import CANARY, SAID

FIELD = SHARED / "data" / "field"
CODES = st.frozensets(st.sampled_from(list(made.LABELS)))


@st.composite
def coded(draw: st.DrawFn) -> made.Coded:
    """Draw what two or three coders found in the texts that each of them finished."""
    who = draw(st.sampled_from([["ana", "ben"], ["ana", "ben", "cy"]]))
    units = [str(n) for n in range(1, draw(st.integers(2, 6)) + 1)]
    found = {(unit, coder): draw(CODES) for unit in units for coder in who if draw(st.integers(0, 3))}
    assume(set(who) == {coder for (_, coder), codes in found.items() if codes})
    try:  # decisions that nobody could disagree on are refused wherever they come from
        DECISIONS.check(made.decisions(found))
    except TableError:
        assume(False)
    return found


def read_again(form: made.Form, found: made.Coded) -> None:
    """Read what a form was made of; without each of the answers it is refused, and no text is shown."""
    with TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        export = form(found, Path(folder))
        said = {**export.answers, **export.fitting}
        read = codings.read(export.source, made.BOOK, **said)
        expected = DECISIONS.check(made.decisions(found))
        key = ["unit_id", "coder", "code"]
        pd.testing.assert_frame_equal(
            read.sort_values(key, ignore_index=True), expected.sort_values(key, ignore_index=True)
        )
        counted = [agreement.by_code(frame, n_boot=5, seed=7) for frame in (read, expected)]
        pd.testing.assert_frame_equal(*counted, check_exact=True)
        for answer in export.answers:
            rest = {name: value for name, value in said.items() if name != answer}
            with pytest.raises(QualError, match=r".* – found .* – ") as error:
                codings.read(export.source, made.BOOK, **rest)
            assert CANARY not in str(error.value)
    assert CANARY not in " ".join(str(warning.message) for warning in warned)


@pytest.mark.parametrize("form", made.FORMS, ids=lambda form: form.__name__)
@given(found=coded())
@settings(max_examples=2, deadline=None)
def test_each_form_gives_the_decisions_that_it_was_made_of_or_asks(
    form: made.Form, found: made.Coded
) -> None:
    read_again(form, found)


@pytest.mark.nightly
@pytest.mark.parametrize("form", made.FORMS, ids=lambda form: form.__name__)
@given(found=coded())
@settings(max_examples=100, deadline=None)
def test_each_form_gives_the_decisions_that_it_was_made_of_or_asks_many_times(
    form: made.Form, found: made.Coded
) -> None:
    read_again(form, found)


# Blank cells

SHEETS = st.lists(
    st.tuples(st.sampled_from(["ana", "ben"]), *[st.sampled_from(["x", "1", "0", "no", " "])] * 3),
    min_size=1,
    max_size=10,
)
BLANKS = st.sampled_from(["absent", "absent_in_marked_rows", "undecided"])


def read_cell_by_cell(rows: list[tuple[str, ...]], blank: str) -> dict[tuple[str, ...], bool] | None:
    """Return the decisions of a sheet, or None where a coder with blanks would have nothing but yes."""
    decided = {}
    for number, (coder, *cells) in enumerate(rows):
        marked = any(cell.strip() for cell in cells)
        for code, cell in zip(made.LABELS, cells, strict=True):
            if cell.strip():
                decided[f"t{number}", coder, code] = cell in ("x", "1")
            elif blank == "absent" or (blank == "absent_in_marked_rows" and marked):
                decided[f"t{number}", coder, code] = False
    for coder in {coder for coder, *cells in rows if not all(cell.strip() for cell in cells)}:
        own = [applied for (_, of, _), applied in decided.items() if of == coder]
        if own and all(own):
            return None
    return decided


def read_blanks(rows: list[tuple[str, ...]], blank: str) -> None:
    sheet = pd.DataFrame(rows, columns=["coder", *made.LABELS.values()])
    sheet["unit_id"] = [f"t{number}" for number in range(len(sheet))]
    expected = read_cell_by_cell(rows, blank)
    if expected is None:
        with pytest.raises(TableError, match="nothing but “yes”"):
            codings.read(sheet, made.BOOK, blank=blank, finished="rows", header=1)
        return
    rows_expected = [(*key, applied) for key, applied in expected.items()]
    try:
        DECISIONS.check(pd.DataFrame(rows_expected, columns=list(DECISIONS.columns)))
    except TableError:  # a coder without a single absent decision is refused from any source
        assume(condition=False)
    found = codings.read(sheet, made.BOOK, blank=blank, finished="rows", header=1)
    assert {tuple(row[:3]): row[3] for row in found.itertuples(index=False)} == expected


@given(SHEETS, BLANKS)
@settings(max_examples=40, deadline=None)
def test_blank_cells_are_read_as_a_reader_would_cell_by_cell(rows: list[tuple[str, ...]], blank: str) -> None:
    read_blanks(rows, blank)


@pytest.mark.nightly
@given(SHEETS, BLANKS)
@settings(max_examples=1000, deadline=None)
def test_blank_cells_of_a_thousand_sheets(rows: list[tuple[str, ...]], blank: str) -> None:
    read_blanks(rows, blank)


# What a program writes besides

TWO: made.Coded = {
    ("1", "ana"): frozenset({"warm"}),
    ("1", "ben"): frozenset(),
    ("2", "ana"): frozenset({"cold", "ui"}),
    ("2", "ben"): frozenset({"cold"}),
}


def changed(path: Path, change: Callable[[list[dict[str, object]]], object]) -> Path:
    """Change the records of a file of JSON."""
    text = path.read_text("utf-8")
    lines = path.suffix == ".jsonl"
    records = [json.loads(line) for line in text.splitlines()] if lines else json.loads(text)
    change(records)
    return made.json_of(path, records)


def test_predictions_and_skipped_texts_of_label_studio_are_left_out_and_counted(tmp_path: Path) -> None:
    export = made.label_studio(TWO, tmp_path)
    with pytest.warns(
        UserWarning, match="left out 2 skipped annotations, 2 texts with a model's predictions"
    ):
        found = codings.read(export.source, made.BOOK, **export.answers)
    assert set(found["coder"]) == {"ana", "ben"}
    rating = {"type": "rating", "value": {"rating": 3}, "from_name": "stars"}
    changed(export.source, lambda tasks: tasks[0]["annotations"][0]["result"].append(rating))  # type: ignore[attr-defined,index]
    with pytest.warns(UserWarning, match=r"1 answers that name no code \(rating\)"):
        again = codings.read(export.source, made.BOOK, **export.answers)
    pd.testing.assert_frame_equal(found, again)


def test_label_studio_names_one_control_of_several_and_another_id(tmp_path: Path) -> None:
    export = made.label_studio(TWO, tmp_path)

    def with_others(tasks: list[dict[str, Any]]) -> None:
        for number, task in enumerate(tasks):
            task["data"]["said_by"] = f"p{number}"
            task["annotations"][0]["result"] += [made.region("tone", "Loud"), {"type": "relation"}]

    changed(export.source, with_others)
    with pytest.warns(UserWarning, match="left out"), pytest.raises(TableError, match="found 'Loud'"):
        codings.read(export.source, made.BOOK, **export.answers)
    with pytest.warns(UserWarning, match="left out"):
        found = codings.read(export.source, made.BOOK, code="topics", unit_id="said_by", **export.answers)
    assert set(found["unit_id"]) == {"p0", "p1"}
    assert found["applied"].sum() == 4


def test_two_annotations_of_a_text_by_one_coder_are_asked_about(tmp_path: Path) -> None:
    """Two people may have shared an account; their codes together are nobody's."""
    export = made.label_studio(TWO, tmp_path)

    def by_one(tasks: list[dict[str, Any]]) -> None:
        tasks[0]["annotations"][1]["completed_by"] = tasks[0]["annotations"][0]["completed_by"]

    changed(export.source, by_one)
    with (
        pytest.warns(UserWarning, match="left out"),
        pytest.raises(TableError, match="found another one of 1, such as text '1'"),
    ):
        codings.read(export.source, made.BOOK, **export.answers)


def test_label_studio_of_before_2021_is_read(tmp_path: Path) -> None:
    tasks = [
        {
            "id": number,
            "data": {"text": "a"},
            "completions": [
                {
                    "id": 1,
                    "completed_by": 5,
                    "result": [
                        {
                            "type": "labels",
                            "value": {"start": 0, "end": 1, "labels": ["Warm"]},
                            "from_name": "label",
                        },
                        {
                            "type": "taxonomy",
                            "value": {"taxonomy": [["Tone", "Cold, distant"]]},
                            "from_name": "tree",
                        },
                    ],
                }
            ],
        }
        for number in (1, 2)
    ]
    found = codings.read(made.json_of(tmp_path / "old.json", tasks), made.BOOK)
    assert found[found["applied"]]["code"].tolist() == ["warm", "cold"] * 2
    assert set(found["coder"]) == {"5"}


@pytest.mark.parametrize(
    "annotation",
    [CANARY, {"result": CANARY}, {"result": [{"type": "choices", "value": CANARY}]}, [CANARY], None],
)
def test_annotations_of_another_shape_are_refused_without_their_words(
    annotation: object, tmp_path: Path
) -> None:
    export = made.label_studio(TWO, tmp_path)
    changed(export.source, lambda tasks: tasks[0]["annotations"].append(annotation))  # type: ignore[attr-defined]
    with pytest.raises(ImportRefused, match="expected annotations as Label Studio writes them") as error:
        codings.read(export.source, made.BOOK, **export.answers)
    assert CANARY not in "".join(traceback.format_exception(error.value))


def test_annotators_of_one_list_are_told_apart_as_doccano_wrote_them(tmp_path: Path) -> None:
    texts = [
        {
            "id": 1,
            "text": SAID,
            "annotation_approver": "chair",
            "annotations": [
                {"label": 15, "user": 1},
                {"label": 16, "user": 2, "start_offset": 0, "end_offset": 2},
            ],
        },
        {"id": 2, "text": SAID, "annotation_approver": "chair", "annotations": [{"label": 15, "user": 2}]},
    ]
    path = made.json_of(tmp_path / "old.jsonl", texts)
    said = {"codes": {"15": "warm", "16": "cold"}, "finished": "rows"}
    found = codings.read(path, made.BOOK, **said)
    applied = found.loc[found["applied"], ["unit_id", "coder", "code"]].to_numpy().tolist()
    assert sorted(applied) == [["1", "1", "warm"], ["1", "2", "cold"], ["2", "2", "warm"]]
    with pytest.raises(TableError, match="expected one coder in each file – found several in column 'coder'"):
        codings.read({"ana": path}, made.BOOK, **said)


def test_who_approved_a_text_is_not_its_coder(tmp_path: Path) -> None:
    texts = [{"id": n, "text": SAID, "annotation_approver": "chair", "label": ["Warm"]} for n in (1, 2)]
    with pytest.raises(ArgumentError, match='pass coder="…"'):
        codings.read(made.json_of(tmp_path / "a.jsonl", texts), made.BOOK, finished="rows")


def test_answers_of_prodigy_decide_on_their_own_codes_alone(tmp_path: Path) -> None:
    lines = [
        {**made.task(unit, who), "label": "Warm", "answer": answer}
        for who, answers in {
            "ana": ["accept", "reject", "ignore"],
            "ben": ["accept", "accept", "reject"],
        }.items()
        for unit, answer in zip("123", answers, strict=True)
    ]
    path = made.json_of(tmp_path / "a.jsonl", lines)
    with pytest.warns(UserWarning, match="left out 1 ignored answers"):
        found = codings.read(path, made.BOOK, coder="_annotator_id")
    assert found[["unit_id", "coder", "applied"]].to_numpy().tolist() == [
        ["1", "ana", True],
        ["2", "ana", False],
        ["1", "ben", True],
        ["2", "ben", True],
        ["3", "ben", False],
    ]
    assert set(found["code"]) == {"warm"}
    with (
        pytest.warns(UserWarning, match="left out"),
        pytest.raises(ArgumentError, match="expected no finished"),
    ):
        codings.read(path, made.BOOK, coder="_annotator_id", finished="rows")
    twice = made.json_of(tmp_path / "twice.jsonl", [*lines, {**lines[0], "answer": "reject"}])
    with (
        pytest.warns(UserWarning, match="left out"),
        pytest.raises(TableError, match="found some more than once: '1 / ana / warm'"),
    ):
        codings.read(twice, made.BOOK, coder="_annotator_id")


def test_an_option_of_prodigy_goes_by_its_text_where_its_id_is_a_number(tmp_path: Path) -> None:
    options = [{"id": 0, "text": "Warm"}, {"id": 1, "text": "UI/UX"}]
    given = {("1", "ana"): [1], ("1", "ben"): [0, 1], ("2", "ana"): [], ("2", "ben"): [0]}
    lines = [
        {**made.task(unit, who), "options": options, "accept": chosen, "answer": "accept"}
        for (unit, who), chosen in given.items()
    ]
    lines.append({**made.task("3", "ana"), "options": options, "accept": [0], "answer": "reject"})
    path = made.json_of(tmp_path / "a.jsonl", lines)
    with pytest.warns(UserWarning, match="left out 1 rejected or ignored tasks"):
        found = codings.read(path, made.BOOK, coder="_annotator_id")
    assert len(found) == 8  # of two codes: the third was not offered
    applied = found.loc[found["applied"], ["unit_id", "coder", "code"]].to_numpy().tolist()
    assert sorted(applied) == [
        ["1", "ana", "ui"],
        ["1", "ben", "ui"],
        ["1", "ben", "warm"],
        ["2", "ben", "warm"],
    ]


def test_rejected_spans_of_prodigy_are_asked_about(tmp_path: Path) -> None:
    export = made.prodigy_spans(TWO, tmp_path)
    changed(export.source, lambda lines: lines[0].update(answer="reject"))
    with pytest.raises(TableError, match="found 1 lines of Prodigy with rejected spans"):
        codings.read(export.source, made.BOOK, **export.answers)


def test_the_question_of_argilla_is_asked_for(tmp_path: Path) -> None:
    export = made.argilla(TWO, tmp_path)

    def with_stars(records: list[dict[str, Any]]) -> None:
        for record in records:
            users = record["topics.responses.users"]
            record |= {"stars.responses": [3] * len(users), "stars.responses.users": users}
            record["stars.responses.status"] = record["topics.responses.status"]

    before = codings.read(export.source, made.BOOK)
    changed(export.source, with_stars)
    with pytest.raises(ArgumentError, match=r"which question .* found 'topics', 'stars' – pass code="):
        codings.read(export.source, made.BOOK)
    pd.testing.assert_frame_equal(codings.read(export.source, made.BOOK, code="topics"), before)


def test_documents_of_one_name_in_two_groups_are_two_texts(tmp_path: Path) -> None:
    rows = [
        {"Document group": group, "Document name": "m1", "Code": "Warm", "Segment": SAID, "Who": "ana"}
        for group in ("G1", "G2")
    ]
    path = made.csv_of(tmp_path / "a.csv", rows, [*rows[0]])
    with pytest.raises(
        TableError, match="one group for each document – found several in column 'Document group'"
    ):
        codings.read(path, made.BOOK, coder="Who", finished="rows")


def test_who_coded_is_told_once(tmp_path: Path) -> None:
    export = made.maxqda(TWO, tmp_path)
    with pytest.raises(TableError, match="expected one coder in each file – found several in column 'Autor'"):
        codings.read({"ana": export.source}, made.BOOK, **export.answers)
    for told in ({"coder": "Autor"}, {"sheets": ["Codings"]}):
        with pytest.raises(ArgumentError, match="expected to be told once who coded"):
            codings.read({"ana": export.source}, made.BOOK, **export.answers, **told)


def test_columns_of_marks_are_those_of_codes_and_the_same_for_each_coder(tmp_path: Path) -> None:
    sheet = pd.DataFrame({"unit_id": ["1", "2"], "Warmth": [1, 0], "cold": [0, 1], "note": SAID})
    with pytest.warns(UserWarning, match="found no column of code 'warm', 'ui', which gets no decisions"):
        found = codings.read({"ana": sheet}, made.BOOK)
    assert set(found["code"]) == {"cold"}
    with pytest.warns(UserWarning, match="no column of code 'ui'"):
        found = codings.read({"ana": sheet}, made.BOOK, codes={"Warmth": "warm"})
    applied = found[found["applied"]]
    assert sorted(applied["code"] + applied["unit_id"]) == ["cold2", "warm1"]
    with pytest.raises(TableError, match="expected the same columns of codes from each coder"):
        codings.read({"ana": sheet, "ben": sheet.drop(columns="cold")}, made.BOOK, codes={"Warmth": "warm"})
    with pytest.raises(CodebookError, match="expected the id of one of its codes – found 'wram'"):
        codings.read({"ana": sheet}, made.BOOK, codes={"Warmth": "wram"})


def test_files_that_hold_no_codings_name_the_right_door(tmp_path: Path) -> None:
    book = made.csv_of(tmp_path / "book.csv", [{"Code": "Warm", "Definition": SAID}], ["Code", "Definition"])
    with pytest.raises(ImportRefused, match=r"book.csv: expected codings – found .* with Codebook.read"):
        codings.read(book, made.BOOK)
    people = {"Submission id": "s1", "Participant id": "p1", "Status": "APPROVED"}
    with pytest.raises(ImportRefused, match="expected codings – found a list of participants"):
        codings.read(made.csv_of(tmp_path / "people.csv", [people], [*people]), made.BOOK)
    files = {"ana": made.doccano(TWO, tmp_path).source["ana"], "ben": made.maxqda(TWO, tmp_path).source}
    with pytest.raises(ImportRefused, match="expected files of one kind – found 'labelled texts', 'maxqda"):
        codings.read(files, made.BOOK)


def test_kind_table_reads_segments_as_any_table(tmp_path: Path) -> None:
    export = made.maxqda(TWO, tmp_path)
    said = {"unit_id": "Dokumentname", "code": "Code", "coder": "Autor", **export.answers}
    plain = codings.read(export.source, made.BOOK, kind="table", **said)
    pd.testing.assert_frame_equal(plain, codings.read(export.source, made.BOOK, **export.answers))


def test_categories_of_spacy_are_codes_and_other_json_is_refused() -> None:
    texts = pd.DataFrame(
        {"unit_id": ["1", "2"], "coder": "ana", "cats": [{"Warm": 1.0, "UI/UX": 0.0}, {"Warm": 0}]}
    )
    found = codings.read(texts, made.BOOK, code="cats", finished="rows")
    assert found[found["applied"]][["unit_id", "code"]].to_numpy().tolist() == [["1", "warm"]]
    for other in ({"rating": 3}, [0.5], {"Warm": [CANARY]}):
        texts["cats"] = [other, other]
        with pytest.raises(TableError, match="found other JSON in the column of codes") as error:
            codings.read(texts, made.BOOK, code="cats", finished="rows")
        assert CANARY not in str(error.value)


# The small files

TONE = Codebook(name="tone", codes=(Code(id="warm", label="Warm"), Code(id="cold", label="Cold")))


@pytest.mark.skipif(not FIELD.exists(), reason="the field files are not beside this checkout")
def test_the_small_files_are_read_with_the_right_answers() -> None:
    with pytest.raises(ArgumentError, match=r'coder="…".*; finished="rows"'):
        codings.read(FIELD / "a13_doccano.jsonl", TONE)
    found = codings.read({"ana": FIELD / "a13_doccano.jsonl"}, TONE, finished="rows")
    assert (len(found), found["applied"].sum()) == (4, 2)
    with pytest.raises(ArgumentError, match='pass finished="rows"'):
        codings.read(FIELD / "a13b_labels.jsonl", TONE)
    assert len(codings.read(FIELD / "a13b_labels.jsonl", TONE, finished="rows")) == 24
    with pytest.raises(ArgumentError, match=r'pass unit_id="…" .*; blank="absent"'):
        codings.read(FIELD / "c01_one_or_blank.csv", TONE)
    with pytest.warns(UserWarning, match="no column of code 'cold'"):
        found = codings.read(FIELD / "c01_one_or_blank.csv", TONE, unit_id="unit", blank="absent")
    row = agreement.by_code(found, n_boot=20).iloc[0]
    assert [row["n_units"], *row[["percent", "ac1", "alpha"]].astype(float).round(2)] == [
        120,
        0.69,
        0.42,
        0.34,
    ]
    said = {"unit_id": "Document name", "coder": "Coder", "code": "Code"}
    assert len(codings.read(FIELD / "e16_segments.csv", TONE, finished="coded", **said)) == 6
    units = pd.DataFrame({"unit_id": ["t1", "t2"]})
    assert len(codings.read(FIELD / "e16_segments.csv", TONE, finished="all", units=units, **said)) == 8


# The page


def test_the_page_names_the_marks_and_columns_that_the_reader_goes_by() -> None:
    page = (ROOT / "docs" / "agreement.md").read_text("utf-8")
    kinds = {kind: spec for kind, spec in KINDS.items() if "codings" in spec}
    assert len(kinds) == 9
    for kind, spec in kinds.items():
        marks = [*spec.get("begins", ()), *spec.get("names", ()), *spec.get("json", ())]
        columns = [spec["codings"].get(role, "") for role in ("unit_id", "coder")]
        for pattern in [*marks, *columns]:
            name = pattern.split("|")[0].replace("\\.", ".").replace(".+", "…").removeprefix("_?")
            if kind in ("argilla", "label studio", "labelled texts") and pattern in columns:
                continue  # columns that are made of others, in words on the page
            assert not name or re.search(f'`"?{re.escape(name)}"?`', page), (kind, name)
