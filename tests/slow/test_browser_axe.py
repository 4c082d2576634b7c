"""Every pane of the coding widget under axe-core: both themes, wide, narrow, and zoomed to 200 %."""

from __future__ import annotations

from itertools import product

import pytest

from tests.helpers import lab as labs
from tests.helpers.axe import AXE, show_in, sound
from tests.helpers.coding_page import enter
from tests.helpers.nightly import nightly_but
from tests.helpers.panes import in_a_round_of_training, in_round, in_training, unblinded
from tests.helpers.simulation import SOAK

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

# A window of 1,400 × 950 at a zoom of 200 % has half as many pixels of the page each way.
SIZES = {"wide": (1400, 950), "narrow": (900, 950), "zoomed": (700, 475)}
THEMES = ("JupyterLab Light", "JupyterLab Dark")
# Colours are the same at every size, and all else in both themes: `make soak` looks at each in each.
CHOSEN = list(product(SIZES, THEMES)) if SOAK else list(zip(SIZES, (*THEMES, THEMES[0]), strict=True))


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed (`make frontend` installs it)")
@pytest.mark.parametrize(("size", "theme"), nightly_but(CHOSEN, here=CHOSEN[:2]))
def test_axe_finds_nothing_in_any_pane(lab, tmp_path, theme, size):
    store, training = unblinded(tmp_path / "study"), in_training(tmp_path / "training")
    store.set_options(new_codes="add", coder="lead")
    width, height = SIZES[size]
    for name, place, shown in (("one", store.path, in_round), ("training", training.path, None)):
        labs.notebook(
            lab.root / f"axe-{name}.ipynb",
            f"import sense7_qual as qual\nqual.widgets.CodingWidget(qual.Store({str(place)!r}), coder='ana', "
            f"round={name!r})",
        )
        with lab.page(width=width, height=height) as page:
            enter(lab, page, f"axe-{name}.ipynb")
            page.add_script_tag(path=str(AXE))
            show_in(page, theme)
            panes = in_a_round_of_training(page) if shown is None else shown(page, store)
            names = []
            for pane in panes:
                sound(page, pane)
                names.append(pane)
            assert len(names) == (2 if shown is None else 14)
        lab.end_kernels()
