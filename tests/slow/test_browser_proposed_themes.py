"""Themes become proposals in a real JupyterLab: from both widgets, and as a language model drafts them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import sense7_qual as qual
from sense7_qual import acts, rounds
from tests.helpers import lab as labs
from tests.helpers.axe import AXE, show_in, sound
from tests.helpers.hostile_words import drawn
from tests.helpers.small_themes import to_record

pytestmark = [pytest.mark.nightly, pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

N = 24
CELLS = (
    """
import json
import sense7_qual as qual
store = qual.Store({folder!r})
def chat(messages):
    return json.dumps({{"label": "Kept <b>waiting</b>", "definition": "Told to wait."}})
qual.widgets.CodebookWidget(store, coder="lead", chat=chat)
""",
    """
qual.widgets.ThemesWidget(store, coder="lead")
""",
)
STRANGE = "() => [window.ran ?? null, document.querySelectorAll('.s7 :is(script, img, iframe, b, a)').length]"


def made(folder: Path) -> Path:
    """A study of three themes, of which a code covers the first."""
    words = drawn(0)
    ids = [f"t{row:02}" for row in range(N)]
    units = pd.DataFrame(
        {
            "unit_id": ids,
            "text": [
                f"{('kind', 'wait', 'fact')[row % 3]} {row} {words[row % len(words)]}" for row in range(N)
            ],
            "document_id": "d",
            "case_id": [f"p{row % 8}" for row in range(N)],
            "position": range(N),
        }
    )
    store = qual.Store.create(folder, units=units, codebook=qual.Codebook.read("sense7"))
    everybody = {"coder": "chair", "codebook": store.codebook}
    store.append([rounds.open_round("one", units=ids, coders=["ana"], **everybody)])
    store.append([rounds.unblind("one", **everybody)])
    mine = {"coder": "ana", "codebook": store.codebook, "round": "one"}
    store.append([acts.apply(unit_id=one, code="affective", **mine) for one in ids[::3]])
    store.append([acts.finish(unit_id=one, **mine) for one in ids])
    store.record_themes(to_record({one: row % 3 for row, one in enumerate(ids)}), coder="lead")
    for theme, name in enumerate(("Kindness", "Waiting", words[0])):
        store.edit_theme(theme, name=name.strip() or "Facts", coder="lead")
    return Path(store.path)


def test_themes_become_proposals_and_no_code_until_somebody_takes_them(lab: labs.Lab, tmp_path: Path) -> None:
    folder = made(tmp_path / "study")
    with lab.page() as page:
        labs.notebook(lab.root / "proposed.ipynb", *(cell.format(folder=str(folder)) for cell in CELLS))
        lab.open(page, "proposed.ipynb")
        page.wait_for_selector(".s7-theme-row")
        page.wait_for_selector(".s7-tree-figures")
        # From the themes widget: not without a text, then once, then no second time.
        page.locator(".s7-theme-row", has_text="Waiting").click()
        page.locator(".s7-theme-rows").focus()
        page.keyboard.press("c")
        page.wait_for_selector(".s7-code-form input.s7-first:focus")
        ticks = page.locator(".s7-code-form .s7-example input:checked")
        while ticks.count():
            ticks.first.click()
        assert page.locator(".s7-code-form .s7-propose").is_disabled()
        page.locator(".s7-code-form .s7-example input").first.click()
        page.locator(".s7-code-form .s7-propose").dblclick()
        page.wait_for_function(
            "() => document.querySelector('.s7-facts').innerText.includes('waiting in the')"
        )
        # The tray has it, and offers the theme that is left; the covered one not.
        page.locator(".s7-tree").focus()
        page.keyboard.press("Alt+2")
        page.wait_for_selector(".s7-proposal")
        page.wait_for_selector(".s7-lacking-theme")
        assert page.locator(".s7-proposal").count() == 1
        assert page.locator(".s7-lacking-theme").count() == 1
        assert "Kindness" not in page.locator(".s7-lacking").inner_text()
        page.locator(".s7-lacking-line").click()
        page.wait_for_selector(".s7-lacking-open .s7-example")
        # The language model: not without consent, nor with another text than was agreed to.
        page.get_by_role("button", name="Let the language model draft it").click()
        page.wait_for_selector(".s7-by-chat input")
        send = page.locator(".s7-by-chat button")
        assert send.is_disabled()
        page.locator(".s7-by-chat input").check()
        page.locator(".s7-lacking-open .s7-example input >> nth=2").click()
        page.wait_for_selector(".s7-by-chat input:not(:checked)")
        assert send.is_disabled()
        page.locator(".s7-by-chat input").check()
        if AXE.is_file():
            page.add_script_tag(path=str(AXE))
            for theme in ("JupyterLab Dark", "JupyterLab Light"):
                show_in(page, theme)
                sound(page, f"tray, {theme}")
        send.click()
        page.wait_for_function("() => document.querySelectorAll('.s7-proposal').length === 2")
        drafted = page.locator(".s7-proposal", has_text="drafted by a language model")
        assert drafted.locator("input[type=text]").first.input_value() == "Kept <b>waiting</b>"
        drafted.locator(".s7-take").click()
        page.wait_for_function(
            "() => document.querySelectorAll('.s7-steps li, .s7-proposal .s7-take').length === 1"
        )
        waiting = page.locator(".s7-proposal", has=page.locator(".s7-send-back"))
        waiting.locator("input[aria-label='Why it is sent back']").fill("A topic, and no code.")
        waiting.locator(".s7-send-back").click()
        page.wait_for_function("() => document.querySelectorAll('.s7-proposal').length === 1")
        page.wait_for_function("() => document.querySelector('.s7-lacking').innerText.includes('before')")
        assert page.evaluate(STRANGE) == [None, 0]
        page.locator(".s7-tree").focus()
        page.keyboard.press("w")
        page.wait_for_selector(".s7-why:focus")
        page.keyboard.type("Missing.")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector(".s7-saved-note")
    store = qual.Store(folder)
    code = store.codebook["kept_b_waiting_b"]
    assert (code.label, code.origin, len(code.examples)) == ("Kept <b>waiting</b>", "model", 3)
    assert "drafted by a language model; accepted by a person" in str(code.source)
    assert len(store.proposals()) == 2
    assert store.themes.summary["code"].fillna("").tolist() == ["", "", "kept_b_waiting_b"]
    assert store.verify()["ok"].all()
