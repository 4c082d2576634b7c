"""The table of kinds: what is asked of a kind is a look-up, so that a new one is a row."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.measure_house import lists_of_kinds
from sense7_qual import acts
from sense7_qual.acts import KINDS, Act, kinds_where
from sense7_qual.store._operations.contents import CONTENTS
from tests.helpers.places import ROOT, program

STAR = (
    (
        "acts/_kinds.py",
        '    Kind(name="undo"',
        '    Kind(name="star", needs=("unit_id", "text"), text="written", noun="star"),\n',
    ),
    ("store/_operations/contents.py", '    "rule": Content(', '    "star": Content(lambda act: act.text),\n'),
    (
        "acts/_make.py",
        "def undo(",
        "def star(*, coder, unit_id, codebook, text, round=None, act_id=None, at=None):\n"
        '    named = {"unit_id": unit_id, "text": text, "round": round}\n'
        '    return Act(kind="star", **named, **stamp(coder, codebook, act_id, at))\n\n\n',
    ),
    ("acts/__init__.py", "from sense7_qual.acts._make import", "from sense7_qual.acts._make import star\n"),
    (
        "widgets/_coding/session.py",
        '        if kind.subject == "rejection":',
        '        if kind.subject == "star":\n            said["text"] = typed(message, "text")\n',
    ),
)
"""What a kind that marks a text takes: the file, before what, and the lines; the widget's is the last."""


def test_every_field_that_a_kind_names_is_one_of_an_act() -> None:
    fields = set(Act.__slots__)
    assert [kind.name for kind in KINDS.values() if not fields.issuperset((*kind.needs, *kind.key))] == []


def test_no_other_list_names_kinds() -> None:
    assert lists_of_kinds() == {}


def test_every_step_of_a_coder_has_a_constructor_of_its_name() -> None:
    steps = kinds_where(lambda kind: kind.is_own_step or kind.takes_back)
    assert [name for name in steps if not hasattr(acts, name) and not hasattr(acts.contents, name)] == []


def test_both_tables_name_the_same_kinds() -> None:
    assert set(CONTENTS) == set(kinds_where(lambda kind: kind.text in ("written", "reason", "content")))


def test_only_what_the_lead_or_a_team_does_is_for_leading_roles() -> None:
    assert [kind.name for kind in KINDS.values() if kind.by == "team" and kind.undoable] == []
    assert [kind.name for kind in KINDS.values() if kind.takes_back and kind.undoable] == []


def test_the_front_end_has_the_same_table() -> None:
    made = runpy.run_path(str(ROOT / "scripts" / "make_kinds.py"))
    assert made["PAGE"].read_text("utf-8") == made["page"](), "run: make frontend"


@pytest.mark.postgres
def test_a_new_kind_touches_four_files_and_one_of_the_widget(
    tmp_path: Path, postgres: Callable[..., str]
) -> None:
    """A kind that marks a text goes through the whole record, in a folder and in PostgreSQL."""
    shutil.copytree(
        ROOT / "sense7_qual", tmp_path / "sense7_qual", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copytree(ROOT / "codebooks", tmp_path / "codebooks")
    for name, before, row in STAR:
        file = tmp_path / "sense7_qual" / name
        source = file.read_text("utf-8")
        assert source.count(before) == 1
        file.write_text(source.replace(before, row + before), "utf-8")
    (tmp_path / "work").mkdir()
    command = [sys.executable, "-W", "ignore", "-c", program("toy_kind"), str(tmp_path / "work"), "folder"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [*command, postgres()], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for result in json.loads(done.stdout):
        assert result == {
            "read": True,
            "undone": True,
            "erased": ["A good one.", "", ""],
            "merged": 1,
            "withheld": True,
            "verified": True,
            "asked": "done",
            "history": ["Fine.", "Another good one.", "A good one."],
        }
