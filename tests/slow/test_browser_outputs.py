"""Tables and figures as a notebook shows them: just computed, and opened again without trust."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Page

from sense7_qual import figures
from sense7_qual.codebook import Codebook
from tests.helpers import lab as labs

pytestmark = [pytest.mark.nightly, pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

SENSE7 = Codebook.read("sense7")
CELLS = (
    """
import pandas as pd
from sense7_qual import figures, report
report.Table("T", ("Code", "Quote", "n"), (("interest", "It asked. " * 40, "[.61, .80]"),), notes=("N",),
             alignments=("left", "left", "right"))
""",
    """
figures.agreement_plot(pd.DataFrame({"code": ["interest"], "alpha": [0.7], "alpha_low": [0.6],
                                     "alpha_high": [0.8], "confidence_level": [0.95]}), columns=1)
""",
)


# The texts of a drawing that reach over its edge.
OUTSIDE = """() => {
  const frame = document.querySelector('svg').getBoundingClientRect();
  const texts = [...document.querySelectorAll('svg text')];
  if (texts.length < 7) throw Error('the figure has too few texts');
  return texts.filter(text => {
    const at = text.getBoundingClientRect();
    return at.left < frame.left || at.right > frame.right || at.bottom > frame.bottom;
  }).map(text => text.textContent);
}"""


def executed(path: Path) -> None:
    """Run a notebook outside of the server, which therefore does not trust its outputs."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    nbformat.write(notebook, path)


def alignments(page: Page) -> list[list[str]]:
    """Return the tag and the alignment of every cell as the browser draws it, row by row."""
    page.wait_for_selector(".jp-OutputArea-output table")
    return page.evaluate(
        """() => [...document.querySelectorAll('.jp-OutputArea-output tr')].map(row =>
             [...row.cells].map(cell => `${cell.tagName} ${getComputedStyle(cell).textAlign}`))"""
    )


@pytest.mark.parametrize("trusted", [True, False])
def test_tables_are_aligned_and_a_figure_shows(lab: labs.Lab, trusted: bool) -> None:
    path = labs.notebook(lab.root / f"trusted-{trusted}.ipynb", *CELLS)
    if not trusted:
        executed(path)
    with lab.page() as page:
        lab.open(page, path.name, run=trusted)
        assert alignments(page) == [
            ["TH left", "TH left", "TH right"],
            ["TH left", "TD left", "TD right"],
            ["TD left"],
        ]
        image = page.wait_for_selector(".jp-OutputArea-output img.s7-light")
        assert not page.is_visible("img.s7-dark")
        page.wait_for_function("image => image.complete && image.naturalWidth > 0", arg=image)
        # 85 mm at 96 pixels in an inch, whatever the number of pixels in the file.
        assert image.bounding_box()["width"] == pytest.approx(85 / 25.4 * 96, abs=1)
        # In the dark theme the other picture, where style sheets are kept.
        page.evaluate(
            "() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})"
        )
        shown = "s7-dark" if trusted else "s7-light"
        page.wait_for_selector(f".jp-OutputArea-output img.{shown}")
        assert page.locator(".jp-OutputArea-output img").filter(visible=True).count() == 1
        is_trusted = "() => window.jupyterapp.shell.currentWidget.content.model.cells.get(0).trusted"
        assert page.evaluate(is_trusted) is trusted


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("source", ["majority", "coder-1"])
def test_no_letter_is_cut_off_where_the_font_is_wider(lab: labs.Lab, columns: int, source: str) -> None:
    """A viewer without Arial draws the SVG with another font; DejaVu Sans is a tenth wider."""
    numbers = {"rank_biserial": 0.2, "rank_biserial_low": -0.1, "rank_biserial_high": 0.55}
    links = pd.DataFrame({"code": SENSE7.ids, "source": source, **numbers, "confidence_level": 0.95})
    labels = [
        "waiting minutes hallway announcement mmm",
        "somebody remembered communication room",
        "slow minutes",
    ]
    shares = {"share": 0.3, "share_low": 0.2, "share_high": 0.4, "overall_share": 0.2}
    spread = pd.DataFrame({"theme": range(3), "label": labels, "by": "model", "value": "new", **shares})
    drawn = [
        figures.link_plot(links, source=source, codebook=SENSE7, columns=columns),
        figures.theme_spread(spread.assign(confidence_level=0.95), columns=columns),
    ]
    with lab.page(new=True) as page:
        for figure in drawn:
            page.set_content(f"<style>text {{font-family: 'DejaVu Sans' !important}}</style>{figure.svg()}")
            assert page.evaluate(OUTSIDE) == []
