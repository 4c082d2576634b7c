"""Every widget and every figure of codes shows a code in the same colour and line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sense7_qual import corpus, figures
from sense7_qual._present import looks
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store
from sense7_qual.widgets import QuotesWidget, ThemesWidget
from tests.helpers.adjudicator import Adjudicator
from tests.helpers.browser import OfStudy, new_id
from tests.helpers.lead import Lead
from tests.helpers.overview import Viewer

IDS = ("warm", "kind", "cold", "calm", "glad")
CODES = {one: Code(id=one, label=f"{one.title()} words") for one in IDS} | {
    "calm": Code(id="calm", label="Calm", colour="#dd8452")
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A study whose first code was merged into the second, and whose codes were moved."""
    (tmp_path / "texts.csv").write_text("id,said\nm1,It listened.\nm2,It lectured me.\n", encoding="utf-8")
    units = corpus.read(tmp_path / "texts.csv", text="said", unit_id="id")
    book = Codebook(name="b", codes=tuple(CODES.values()))
    store = Store.create(tmp_path / "study", units=units, codebook=book)
    later = Codebook(name="b", codes=tuple(CODES[one] for one in ("glad", "calm", "cold", "kind")))
    store.revise(later, why="the same thing", coder="lead", merged={"warm": "kind"})
    return store


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    yield
    Lead.end_counting()
    Viewer.end()


def heard(widget: Any) -> list[dict[str, Any]]:
    """What a widget says to a browser that says hello."""
    said: list[dict[str, Any]] = []
    widget.send = lambda content, buffers=None: said.append(content)
    widget._receive(widget, {"type": "hello", "client": "c", "id": new_id()}, [])
    if isinstance(widget, ThemesWidget):
        widget._looking.join()
    return said


def shown(store: Store) -> dict[str, list[dict[str, Any]]]:
    """The codes as each widget's browser is told of them."""
    return {
        "coding": OfStudy(store).ask("hello")["codebook"]["codes"],
        "codebook": Lead(store).ask("hello")["codes"],
        "adjudication": Adjudicator(store).ask("hello")["codebook"]["codes"],
        "quotes": heard(QuotesWidget(store, coder="lead"))[0]["codebook"]["codes"],
        "overview": Viewer(store).look()["rounds"]["book"]["codes"],
        "themes": heard(ThemesWidget(store, coder="lead"))[-1]["book"]["codes"],
    }


def drawn(store: Store) -> dict[str, figures.Figure]:
    book = store.codebook
    half = {"confidence_level": 0.95, "reason": None}
    points = {"code": list(book.ids), "source": "ana", **half}
    r = {f"rank_biserial{end}": value for end, value in (("", 0.2), ("_low", 0.1), ("_high", 0.3))}
    alpha = {f"alpha{end}": value for end, value in (("", 0.6), ("_low", 0.5), ("_high", 0.7))}
    d = {"cohens_d": 0.2, "d_low": 0.1, "d_high": 0.3, "contrast": "later_turns"}
    cell = {"dimension": "Warmth", "estimate": 0.2, "low": 0.1, "high": 0.3, "own": False}
    share = {"applied": True, "level": 3.0, "n": 2, "share": 1.0}
    return {
        "agreement": figures.agreement_plot(pd.DataFrame(points | alpha), codebook=book),
        "links": figures.link_plot(pd.DataFrame(points | r), source="ana", codebook=book),
        "forest": figures.link_forest(pd.DataFrame(points | r), effect="rank_biserial", codebook=book),
        "disruption": figures.disruption_plot(pd.DataFrame(points | d), codebook=book),
        "matrix": figures.code_dimension_matrix(pd.DataFrame(points | cell), codebook=book),
        "ratings": figures.rating_distributions(pd.DataFrame(points | share), source="ana", codebook=book),
    }


def lines(figure: figures.Figure) -> list[tuple[str, str]]:
    """The colours and dashes of the codes' lines, from the top (as they are drawn)."""
    found = re.findall(r"<line\b[^>]*>", figure.svg())
    thick = [one for one in found if 'stroke-width="3"' in one]
    given = [dict(re.findall(r'([\w-]+)="([^"]*)"', one)) for one in thick]
    return [(one["stroke"], one.get("stroke-dasharray", "")) for one in given]


@pytest.mark.long
def test_all_widgets_show_codes_as_figures_do(store: Store) -> None:
    expected = {one: look._asdict() for one, look in looks(store.codebook).items()}
    for widget, codes in shown(store).items():
        assert {one["id"]: one["look"] for one in codes} == expected, widget
    dashes = ["1,0", "8,4", "3,3", "9,3,3,3"]
    in_order = [(look["light"], dashes[look["line"]]) for look in expected.values()]
    for name, figure in drawn(store).items():
        assert lines(figure) == in_order, name


def test_a_figure_without_a_codebook_draws_no_lines_of_codes() -> None:
    result = pd.DataFrame(
        {"code": ["warm"], "alpha": 0.6, "alpha_low": 0.5, "alpha_high": 0.7, "confidence_level": 0.95}
    )
    assert lines(figures.agreement_plot(result)) == []
