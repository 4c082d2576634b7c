"""Two coders and a lead work by the page alone; the same presses at a folder give the same decisions."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, Page

from tests.helpers import team_server
from tests.helpers.team_pages import Seen, at_folder, code_all, signed_in
from tests.helpers.team_server import STUDY, account

pytestmark = pytest.mark.team

PRESSES = {
    "ana": ["1", "2", "1 3", "", "4", "5 6", "7", "2", "1", "3"],
    "ben": ["1", "2 3", "1", "", "4", "5", "7", "2 1", "1", "3"],
}
FOLDER = "/home/lead/folder"
OPENS = """
import sense7_qual as qual
from sense7_qual import rounds
store = qual.Store({study!r})
ids = list(store.units["unit_id"])
made = rounds.open_round("one", units=ids, coders=["ana", "ben"], coder="lead", codebook=store.codebook)
print("opened", store.append([made]))
"""
SETTLES = """
import sense7_qual as qual
from sense7_qual import rounds
store = qual.Store({study!r})
print("unblinded", store.append([rounds.unblind("one", coder="lead", codebook=store.codebook)]))
qual.widgets.AdjudicationWidget(store, coder="lead")
"""
DECISIONS = """
import json
from sense7_qual.store import Store
store = Store({study!r})
found = store.decisions(round="one", settled_by="rulings" if {consensus} else "nothing")
found = found.sort_values(["unit_id", "coder", "code"])
print(json.dumps(found[["unit_id", "coder", "code", "applied"]].values.tolist()))
"""


def decisions(study: str, who: str = "lead", *, consensus: bool = True) -> list[list[object]]:
    """Return the decisions as this account reads them."""
    script = DECISIONS.format(study=study.replace("//lead@", f"//{who}@"), consensus=consensus)
    printed = account(who, str(team_server.BIN / "python"), "-W", "ignore", "-c", script).stdout
    rows: list[list[object]] = json.loads(printed)
    return rows


def notebook(name: str, *cells: str) -> None:
    """Put a notebook into the lead's home."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path = Path("/home/lead") / name
    nbformat.write(made, path)
    path.chmod(0o666)


def run_cell(page: Page) -> None:
    """Run the selected cell of the open notebook by its key."""
    page.locator(".jp-Notebook").last.click(position={"x": 5, "y": 5})
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+Enter")


def open_notebook(page: Page, name: str) -> None:
    """Open a notebook of the lead's in JupyterLab."""
    page.goto(f"{team_server.ADDRESS}/user/lead/lab/workspaces/{Path(name).stem}/tree/{name}?reset")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.get_by_text("Python 3 (ipykernel) | Idle").first.wait_for()


def settle(page: Page) -> None:
    """Unblind in the notebook that is open, and settle the first disagreement."""
    run_cell(page)
    page.wait_for_selector(".s7-case .s7-verdict")
    page.locator(".s7").focus()
    page.keyboard.press("a")
    page.keyboard.press("1")
    page.wait_for_function("() => document.querySelector('.s7-numbers').innerText.startsWith('1 settled')")
    page.wait_for_selector(".s7-saved")


def test_two_coders_and_a_lead_by_the_page_alone(
    server: team_server.Server, browser: Browser, data: Path, texts: list[str]
) -> None:
    team_server.study(data, FOLDER)
    seen = {who: Seen() for who in ("ana", "ben", "lead")}
    for name, study in (("server", STUDY), ("folder", FOLDER)):
        notebook(f"opens_{name}.ipynb", OPENS.format(study=study))
        notebook(f"settles_{name}.ipynb", SETTLES.format(study=study))
    with signed_in(browser, server, "lead", shown=".jp-Launcher, .jp-Notebook", seen=seen["lead"]) as lead:
        for name in ("opens_server.ipynb", "opens_folder.ipynb"):
            open_notebook(lead, name)
            run_cell(lead)
            lead.get_by_text("opened 1").wait_for()

    met = {}
    for who in ("ana", "ben"):
        with signed_in(browser, server, who, seen=seen[who]) as page:
            assert page.locator(".s7-whole, .s7").count()
            assert page.locator(".jp-InputArea, .jp-Toolbar, .jp-Launcher, .cm-editor").count() == 0
            met[who] = code_all(page, PRESSES[who])
            assert page.title() == "Coding"
            other = {"ana": "ben", "ben": "ana"}[who]
            assert other not in page.inner_text("body").split()
        with at_folder(browser, FOLDER, who, "--round", "one") as page:
            assert code_all(page, PRESSES[who]) == met[who]
    assert len(set(met["ana"])) == 10

    own = {
        who: {row[1] for row in decisions(STUDY, seat, consensus=False)}
        for who, seat in (("ana", "seat01"), ("ben", "seat02"))
    }
    assert own == {"ana": {"ana"}, "ben": {"ben"}}  # blind

    with signed_in(browser, server, "lead", shown=".jp-Launcher, .jp-Notebook", seen=seen["lead"]) as lead:
        for name in ("settles_server.ipynb", "settles_folder.ipynb"):
            open_notebook(lead, name)
            settle(lead)

    made = decisions(STUDY)
    assert made == decisions(FOLDER)
    answers: dict[tuple[object, object], set[object]] = {}
    for unit_id, _, code, applied in decisions(STUDY, consensus=False):
        answers.setdefault((unit_id, code), set()).add(applied)
    assert len(answers) == 10 * 7
    n_disputed = sum(len(each) == 2 for each in answers.values())
    assert {row[1] for row in made} == {"consensus"}
    assert len(made) == 10 * 7 - (n_disputed - 1)  # what was settled counts: one dispute, and what none is on
    assert {row[1] for row in decisions(STUDY, "seat01", consensus=False)} == {"ana", "ben"}  # unblinded
    assert {who: (one.errors, one.strangers) for who, one in seen.items()} == dict.fromkeys(seen, ([], []))
    for each in server.logs.glob("*.log"):
        words = each.read_text()
        assert [text for text in texts if text in words] == []
