"""Whether axe finds anything in the coding widget, in either theme, for the browser tests."""

from __future__ import annotations

from itertools import product

from playwright.sync_api import Page

from tests.helpers.places import ROOT
from tests.helpers.simulation import SOAK

AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"

WIDTHS, THEMES = (1400, 900), ("JupyterLab Light", "JupyterLab Dark")
# Colours are the same at every width, and all else in both themes: `make soak` looks at each in each.
SHOWN = list(product(WIDTHS, THEMES)) if SOAK else list(zip(WIDTHS, THEMES, strict=True))


def show_in(page: Page, theme: str) -> None:
    """Change the theme, and go back into the widget."""
    page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme)
    page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=theme)
    page.locator(".s7").first.focus()


def sound(page: Page, where: str) -> None:
    """Assert that axe finds nothing in the widget."""
    found = page.evaluate(
        "() => axe.run('.s7', {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})"
        ".then(r => r.violations.map(v => [v.id, v.nodes.map(n => n.html + n.failureSummary)]))"
    )
    assert (where, found) == (where, [])
