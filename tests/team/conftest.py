"""The server with its proxy, hub and database, and a browser; on a machine made for it alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.helpers import lab as labs, team_server
from tests.helpers.places import ROOT
from tests.helpers.team_pages import LOGINS


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what needs a server, unless the machine was made for it."""
    elsewhere = pytest.mark.skip(reason="only on a machine of its own: make team")
    for item in items:
        if item.get_closest_marker("team") and os.environ.get(team_server.MADE_FOR_IT) != "1":
            item.add_marker(elsewhere)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[team_server.Server]:
    """The running server, without a study."""
    with team_server.installed(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="session")
def data(server: team_server.Server) -> Path:
    """Ten texts with their conversations, which the lead can read."""
    rows = pd.read_csv(ROOT / "data" / "explanations.csv", dtype="string").head(10)
    columns = ["MessageId", "TaskId", "PID", "Position", "EmpathyOverall", "Comment", "Context"]
    place = Path("/home/lead/comments.csv")
    rows[columns].to_csv(place, index=False)
    place.chmod(0o644)
    return place


@pytest.fixture(scope="session")
def texts(data: Path) -> list[str]:
    """The study: round one of ana and ben is opened by the lead in the story, two of cleo and dee is open."""
    team_server.study(data)
    for coder in ("ana", "ben", "cleo", "dee"):
        team_server.seat(LOGINS[coder], coder)
    team_server.as_lead(
        'store.append([rounds.open_round("two", units=list(store.units["unit_id"]), coders=["cleo", "dee"], '
        'coder="lead", codebook=store.codebook)])'
    )
    return list(pd.read_csv(data)["Comment"])


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=labs.chromium(),
            args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"],
        )
        yield started
        started.close()
