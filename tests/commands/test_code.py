"""`sense7-qual code` before it serves: who is refused, and what the notebook of the page holds."""

from __future__ import annotations

import argparse
import getpass
import importlib.util
import json
import shutil
import socket
from pathlib import Path

import pytest

import sense7_qual as qual
from sense7_qual._commands import code as command, hub, main
from tests.helpers.coding_page import SENTINEL, study


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study; serving it is an error."""

    def serve(*_: object, **__: object) -> None:
        raise AssertionError("nothing may be served here")

    monkeypatch.setattr(command, "_serve", serve)
    return study(tmp_path / "study")


@pytest.fixture
def served(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The notebooks that were to be served."""
    notebooks: list[str] = []
    monkeypatch.setattr(
        command, "_serve", lambda path, port, **how: notebooks.append(path.read_text("utf-8"))
    )
    return notebooks


def deal(folder: Path, *coders: str) -> None:
    qual.Store(folder).assign(coders=list(coders), overlap=1.0, coder="lead")


def finish(folder: Path, coder: str) -> None:
    store = qual.Store(folder)
    store.append([qual.acts.finish(coder=coder, unit_id="t0/1", codebook=store.codebook)])


def test_a_coder_whom_the_plan_does_not_know_is_refused(folder, capsys) -> None:
    deal(folder, "ana", "ben")
    assert main(["code", str(folder), "--coder", "anna"]) == 1
    error = capsys.readouterr().err
    assert "did you mean 'ana'?" in error
    assert error.count("\n") == 1


@pytest.mark.long
def test_without_a_plan_a_name_that_nobody_has_is_refused_unless_it_is_new(folder, capsys, request) -> None:
    finish(folder, "ana")
    assert main(["code", str(folder), "--coder", "anna"]) == 1
    assert "did you mean 'ana'?; for a new coder pass --new." in capsys.readouterr().err
    served = request.getfixturevalue("served")
    assert main(["code", str(folder), "--coder", "anna", "--new"]) == 0
    assert main(["code", str(folder), "--coder", "ana"]) == 0
    assert len(served) == 2


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--coder", "a na"], "expected a pseudonym"),
        (["--coder", "consensus"], "consensus"),
        (["--coder", "ana", "--rating", "Empathy"], "EmpathyOverall"),
        (["--coder", "ana", "--round", "blind"], "round"),
        (["--coder", "ana", "--port", "99999"], "code: port 99999 cannot be used"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_served(folder, words, error, capsys) -> None:
    assert main(["code", str(folder), *words]) == 1
    printed = capsys.readouterr()
    assert error in printed.err
    assert printed.err.count("\n") == 1
    assert SENTINEL not in printed.err


def test_a_port_that_is_taken_is_named(folder, capsys) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["code", str(folder), "--coder", "ana", "--port", str(port)]) == 1
    assert f"port {port} cannot be used" in capsys.readouterr().err


def test_without_voila_the_error_says_how_to_install_it(folder, monkeypatch, capsys) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert main(["code", str(folder), "--coder", "ana"]) == 1
    assert 'pip install "sense7_qual[page]"' in capsys.readouterr().err


def test_the_notebook_of_the_page_holds_the_call_alone(served, folder, capsys) -> None:
    assert main(["code", str(folder), "--coder", "ana", "--rating", "EmpathyOverall"]) == 0
    notebook = json.loads(served[0])
    assert [cell["source"].splitlines() for cell in notebook["cells"]] == [
        [
            "from sense7_qual._commands.show import shown",
            f"shown({str(folder)!r}, coder='ana', rating='EmpathyOverall', round=None)",
        ]
    ]
    assert notebook["cells"][0]["outputs"] == []
    assert SENTINEL not in served[0] + capsys.readouterr().out


HUB = {"API_TOKEN": "t0", "SERVICE_PREFIX": "/user/seat07/", "SERVICE_URL": "http://127.0.0.1:1/user/seat07/"}


@pytest.mark.parametrize(
    ("study", "address"),
    [
        ("postgresql:///lab?study=pilot", "postgresql://seat07@/lab?study=pilot"),
        ("postgresql://db/lab?host=/a@b&study=pilot", "postgresql://seat07@db/lab?host=/a@b&study=pilot"),
        ("postgresql://ana@/lab?study=pilot", "postgresql://ana@/lab?study=pilot"),
    ],
)
def test_under_a_hub_the_coder_is_left_to_the_database_role_of_the_account(
    monkeypatch, study, address
) -> None:
    served: list[str] = []
    monkeypatch.setattr(hub, "serve_below_hub", lambda path, dark: served.append(path.read_text("utf-8")))
    monkeypatch.setattr(getpass, "getuser", lambda: "seat07")
    monkeypatch.setenv("SENSE7_QUAL_STUDY", study)
    for name, value in HUB.items():
        monkeypatch.setenv(f"JUPYTERHUB_{name}", value)
    assert main(["code"]) == 0
    source = json.loads(served[0])["cells"][0]["source"]
    assert source.endswith(f"shown({address!r}, coder=None, rating=None, round=None)")


def test_under_a_hub_no_coder_is_named_and_without_one_somebody_is(folder, monkeypatch, capsys) -> None:
    assert main(["code", str(folder)]) == 1
    assert main(["code"]) == 1
    for name, value in HUB.items():
        monkeypatch.setenv(f"JUPYTERHUB_{name}", value)
    assert main(["code", str(folder), "--coder", "ana"]) == 1
    first, second, third = capsys.readouterr().err.splitlines()
    assert "name the coder, with --coder PSEUDONYM" in first
    assert "name the study, as STUDY or in the environment as SENSE7_QUAL_STUDY" in second
    assert "the coder is the one of the database role – leave out --coder and --new" in third


@pytest.mark.parametrize("missing", list(HUB))
def test_part_of_a_hubs_environment_is_no_hub(served, folder, monkeypatch, missing) -> None:
    for name in HUB.keys() - {missing}:
        monkeypatch.setenv(f"JUPYTERHUB_{name}", HUB[name])
    assert main(["code", str(folder), "--coder", "ana"]) == 0
    assert len(served) == 1


def test_a_folder_named_to_break_out_of_its_quotes_stays_a_name(tmp_path) -> None:
    place = tmp_path / "a\"'); raise SystemExit(7) #"
    shutil.copytree(study(tmp_path / "study"), place)
    named = argparse.Namespace(study=str(place), coder="ana", rating=None, round=None)
    source = command._notebook(named)["cells"][0]["source"].replace("\nshown", "\nwidget = shown")
    shown: dict[str, object] = {}
    exec(source, shown)  # noqa: S102 – what the page runs
    assert repr(shown["widget"]) == "CodingWidget('ana', 0 of 5 units finished)"
