"""What others coded is no unit's context, and no variable unless it is named."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import corpus
from tests.helpers.places import SHARED

SAID = ["It listened to me, and I felt heard.", "It lectured me about my choices."]
LABELS = {
    "words": [["warm"], ["cold", "tense and long"]],
    "words, or nothing": [[], ["cold"]],
    "words, or not opened": [None, ["cold"]],
    "spans": [[[0, 2, "warm"]], []],
    "doccano's entities": [[{"id": 1, "label": "warm", "start_offset": 0, "end_offset": 2}], []],
    "Label Studio's spans": [[{"start": 0, "end": 2, "text": "It", "labels": ["warm"]}], []],
    "Label Studio's choices": [{"choices": ["warm", "cold"]}, {"choices": ["cold"]}],
}


def lines(path: Path, **columns: list[object]) -> Path:
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["label", "history"])
@pytest.mark.parametrize("kind", LABELS)
def test_labels_have_no_role_and_are_left_out_unless_named(kind: str, name: str, tmp_path: Path) -> None:
    labels = {name: LABELS[kind], "annotator": ["julie", "julie"]}
    path = lines(tmp_path / "all.jsonl", id=[1, 2], text=SAID, **labels)
    roles = corpus.recognise(path).columns.set_index("column")["role"]
    assert roles.dropna().to_dict() == {"id": "unit_id", "text": "text"}
    with pytest.warns(UserWarning, match=f"left out 2 columns of earlier labels, '{name}', 'annotator'"):
        units = corpus.read(path, text="text", unit_id="id")
    assert units.columns.tolist() == ["unit_id", "text", "document_id", "case_id", "position", "context"]
    assert units["context"].isna().all()
    kept = corpus.read(path, text="text", unit_id="id", variables=[name])  # without a warning
    assert kept.columns.tolist()[6:] == [name]


@pytest.mark.parametrize(
    "cells",
    [
        [[0.1, 0.2], [0.3, 0.4]],  # an embedding
        [{"source": "web"}, {"source": "app"}],
        ["[laughs] no", "[sighs] yes"],
        [["warm"], "in words"],
        [[], []],
    ],
)
def test_other_lists_stay(cells: list[object], tmp_path: Path) -> None:
    path = lines(tmp_path / "all.jsonl", text=SAID, other=cells, annotator=["julie", "ben"])
    assert {"other", "annotator"} <= set(corpus.read(path, text="text"))


def test_turns_are_context_whatever_the_column_is_called(tmp_path: Path) -> None:
    turns = [[{"role": "user", "content": "I failed."}], [{"role": "user", "text": "Hi."}]]
    path = lines(tmp_path / "all.jsonl", text=SAID, label=turns)
    assert corpus.recognise(path).columns.set_index("column")["role"].dropna().to_dict() == {
        "text": "text",
        "label": "context",
    }
    before = corpus.read(path, text="text", context="label")["context"]
    assert before[0] == '[{"role": "user", "text": "I failed."}]'


def test_words_before_the_text_are_neither_guessed_as_context_nor_as_the_text() -> None:
    longer = [f"{said} {said}" for said in SAID]
    roles = corpus.recognise(pd.DataFrame({"context": longer, "note": SAID})).columns.set_index("column")[
        "role"
    ]
    assert roles.dropna().to_dict() == {"note": "text"}


@pytest.mark.parametrize("name", ["a13_doccano.jsonl", "a13b_labels.jsonl"])
def test_the_labels_of_a_collected_file_are_not_shown(name: str) -> None:
    path = SHARED / "data" / "field" / name
    if not path.exists():
        pytest.skip("the collected files are not part of the project")
    assert corpus.recognise(path).columns["role"].dropna().tolist() == ["unit_id", "text"]
    with pytest.warns(UserWarning, match="of earlier labels"):
        units = corpus.read(path, text="text", unit_id="id")
    assert units.columns.tolist() == ["unit_id", "text", "document_id", "case_id", "position", "context"]
    assert units["context"].isna().all()
