"""The widget of a model that codes in a real JupyterLab: by keyboard alone, with a real address."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

import sense7_qual as qual
from tests.helpers import lab as labs
from tests.helpers.axe import AXE, SHOWN, show_in, sound
from tests.helpers.nightly import nightly_but
from tests.helpers.scripted_model import CODEBOOK, Model, answering, quoting, texts
from tests.helpers.small_model import needs_model

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

CELL = """
import sense7_qual as qual
chat = qual.models.chat(base_url={base_url!r}, model="m-2026-01-01", parameters=qual.coders.PARAMETERS)
widget = qual.widgets.ModelCoderWidget(qual.Store({folder!r}), coder="lead", chat=chat, lead_codes={codes})
widget
"""
SMALL = """
import sense7_qual as qual
store = qual.Store({folder!r})
chat = qual.models.local_chat(threads=1, parameters=qual.coders.PARAMETERS)
qual.widgets.ModelCoderWidget(store, coder="lead", chat=chat, with_context=False, lead_codes=False)
"""
DONE = "n => document.querySelector('.s7-numbers')?.innerText.startsWith(n + ' of ')"


@pytest.fixture
def model() -> Iterator[Model]:
    with answering(quoting) as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    qual.Store.create(tmp_path / "study", units=texts(12), codebook=CODEBOOK, lead="lead")
    return tmp_path / "study"


def enter(lab: labs.Lab, page: Page, name: str, cell: str) -> None:
    labs.notebook(lab.root / name, cell)
    lab.open(page, name)
    page.wait_for_selector(".s7-prompt p")
    page.wait_for_selector(".s7-consent input:enabled")
    page.locator(".s7").focus()


def said(page: Page, words: str) -> None:
    """Wait until the status line says it."""
    page.wait_for_function(
        "words => document.querySelector('.s7-status')?.innerText.includes(words)", arg=words
    )


def test_from_the_prompt_to_the_record_by_keyboard_alone(lab: labs.Lab, folder: Path, model: Model) -> None:
    with lab.page() as page:
        enter(
            lab, page, "by-keys.ipynb", CELL.format(base_url=model.base_url, folder=str(folder), codes=False)
        )
        prompt = page.locator(".s7-prompt").inner_text()
        first = qual.coders.prompts(qual.Store(folder).units, CODEBOOK)["messages"][0]
        assert first[1]["content"] in prompt
        assert "24 prompts, of 12 texts × 2 codes" in page.locator(".s7-consent").inner_text()
        for key in "tar":
            page.keyboard.press(key)
        said(page, "Code all texts first")
        assert model.asked.total() == 0
        page.keyboard.press("x")
        page.keyboard.press("t")
        page.wait_for_function(DONE, arg=10)
        said(page, "10 of 24 prompts answered")
        page.wait_for_selector(".s7-verdict-of .s7-strong")
        page.keyboard.press("a")
        said(page, "Everything was asked")
        assert (model.asked.total(), max(model.asked.values())) == (24, 1)
        page.keyboard.press("m")
        page.wait_for_selector(".s7-reason .s7-here")
        page.keyboard.press("ArrowDown")
        missing = page.locator(".s7-wanting.s7-here").inner_text().split()[0]
        page.keyboard.press("Enter")
        page.wait_for_function("id => document.querySelector('.s7-unit-id')?.innerText === id", arg=missing)
        assert "missing" in page.locator(".s7-verdict-of").inner_text()
        page.keyboard.press("r")
        said(page, "Recorded as model-a")
    store = qual.Store(folder)
    run = qual.coders.code(store.units, CODEBOOK, chat=model.chat(), coder="model-a")
    recorded = store.decisions(models=True)
    key = ["unit_id", "code"]
    assert recorded["coder"].unique().tolist() == ["model-a"]
    assert recorded.sort_values(key)["applied"].tolist() == run.decisions.sort_values(key)["applied"].tolist()


def test_coding_is_stopped_and_goes_on_while_the_notebook_stays_free(
    lab: labs.Lab, folder: Path, model: Model
) -> None:
    reached, go_on = threading.Event(), threading.Event()

    def wait_at_six(number: int) -> None:
        if number == 6:
            reached.set()
            assert go_on.wait(60)

    model.before_answer = wait_at_six
    with lab.page() as page:
        cell = CELL.format(base_url=model.base_url, folder=str(folder), codes=False)
        enter(lab, page, "stopped.ipynb", cell)
        page.keyboard.press("x")
        page.keyboard.press("a")
        assert reached.wait(60)
        lab.wait_idle(page)
        page.keyboard.press("ArrowDown")  # answered while a prompt is on its way
        page.wait_for_function("() => document.querySelector('.s7-count').innerText === 'text 2 of 12'")
        page.keyboard.press("s")
        page.wait_for_selector("button:has-text('Stopping…')")
        go_on.set()
        said(page, "6 of 24 prompts answered")
        assert model.asked.total() == 6
        page.keyboard.press("a")
        said(page, "Everything was asked")
        assert (model.asked.total(), max(model.asked.values())) == (24, 1)


def test_answers_on_texts_that_the_lead_codes_are_not_shown(
    lab: labs.Lab, folder: Path, model: Model
) -> None:
    with lab.page() as page:
        cell = CELL.format(base_url=model.base_url, folder=str(folder), codes=True)
        enter(lab, page, "hidden.ipynb", cell)
        page.keyboard.press("x")
        page.keyboard.press("a")
        said(page, "Everything was asked")
        assert "stays hidden until you finish it" in page.locator(".s7-verdict-of").inner_text()
        assert page.locator(".s7-model-code .s7-strong").count() == 0
        page.keyboard.press("m")
        page.wait_for_selector(".s7-reason")
        assert page.locator(".s7-wanting").count() == 0


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed (`make frontend` installs it)")
@pytest.mark.parametrize(("width", "theme"), nightly_but(SHOWN, here=SHOWN[:1]))
def test_axe_finds_nothing(lab: labs.Lab, folder: Path, model: Model, width: int, theme: str) -> None:
    with lab.page(width=width) as page:
        cell = CELL.format(base_url=model.base_url, folder=str(folder), codes=False)
        enter(lab, page, f"axe-{width}.ipynb", cell)
        page.add_script_tag(path=str(AXE))
        show_in(page, theme)
        sound(page, "prompt")
        page.keyboard.press("x")
        page.keyboard.press("a")
        said(page, "Everything was asked")
        sound(page, "answer")
        page.keyboard.press("m")
        page.wait_for_selector(".s7-reason")
        sound(page, "missing")
        page.keyboard.press("?")
        page.wait_for_selector(".s7-help")
        sound(page, "keys")


@needs_model
@pytest.mark.nightly
@pytest.mark.model
def test_the_small_model_codes_two_texts(lab: labs.Lab, tmp_path: Path) -> None:
    qual.Store.create(tmp_path / "study", units=texts(2), codebook=CODEBOOK, lead="lead")
    with lab.page() as page:
        enter(lab, page, "small.ipynb", SMALL.format(folder=str(tmp_path / "study")))
        assert "a model on this computer" in page.locator(".s7-consent").inner_text()
        page.keyboard.press("x")
        page.keyboard.press("a")
        said(page, "Everything was asked")
        page.keyboard.press("r")
        said(page, "Recorded as model-a")
    [described] = qual.Store(tmp_path / "study").acts(kind="describe")
    assert "gguf sha256:" in str(described.text)
