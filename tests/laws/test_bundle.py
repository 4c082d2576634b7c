"""The shipped bundles are what their sources make, and neither fetch anything nor build HTML from text.

The sources lie in `frontend/src`: one folder for each widget, and what they share in `shared`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.helpers.places import ROOT

FRONTEND = ROOT / "frontend"
SOURCES = FRONTEND / "src"
STATIC = ROOT / "sense7_qual" / "widgets" / "static"
NAMESPACES = {
    "http://www.w3.org/2000/svg",
    "http://www.w3.org/1998/Math/MathML",
    "http://www.w3.org/1999/xhtml",
}


WIDGETS = sorted(path.name for path in SOURCES.iterdir() if path.name != "shared")


def sources(suffixes: tuple[str, ...] = (".ts", ".tsx", ".css"), *, tests: bool = False) -> list[Path]:
    """Return the sources that are bundled, and with `tests` their tests too."""
    files = [path for path in SOURCES.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} <= {".ts", ".tsx", ".css"}
    return sorted(path for path in files if path.suffix in suffixes and (tests or ".test." not in path.name))


def hash_of_sources() -> str:
    """Return the hash that `build.mjs` writes into the first line of a bundle."""
    names = [path.relative_to(FRONTEND).as_posix() for path in sources()]
    names = sorted([*names, "build.mjs", "package-lock.json"])
    digest = hashlib.sha256()
    for name in names:
        digest.update(f"{name}\n".encode() + (FRONTEND / name).read_bytes())
    return digest.hexdigest()


@pytest.fixture(scope="module")
def node_modules() -> None:
    """Skip where Node or its packages are missing; fail under CI, where `make test` has installed them."""
    missing = None if shutil.which("node") else "Node"
    if not missing and not (FRONTEND / "node_modules" / "esbuild").is_dir():
        missing = "the npm packages"
    if missing and os.environ.get("CI"):
        pytest.fail(f"expected {missing} – found none – `make test` installs them")
    if missing:
        pytest.skip(f"{missing} not installed (`make frontend` installs the npm packages)")


def run(*command: str) -> None:
    done = subprocess.run(
        command,
        cwd=FRONTEND,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]


def style_rules(sheet: str) -> list[tuple[str, str]]:
    """Return selector and declarations of every rule, those within at-rules too."""
    rules = []
    plain = re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)
    for begin, declarations in re.findall(r"([^{}]*)\{(?=([^{}]*))", plain):
        beginning = begin.strip()
        if beginning.startswith("@"):
            assert re.match(r"@(media|container) ", beginning), f"{beginning}: its name would be the page's"
        else:
            rules.append((" ".join(beginning.split()), " ".join(declarations.split())))
    return rules


def classes_defined(sheet: str) -> set[str]:
    """Return the classes that a sheet styles wherever they stand, at any width."""
    plain = re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)
    at_rule = re.compile(r"@[^{}]*\{(?:[^{}@]*\{[^{}]*\})*[^{}@]*\}")
    while at_rule.search(plain):  # the innermost first
        plain = at_rule.sub("", plain)
    selectors = re.split(r",\s*(?![^()]*\))", ",".join(re.findall(r"([^{}]*)\{", plain)))
    alone = [re.fullmatch(r"(?:\.s7 )?\.(s7-[\w-]+)(?:::?[\w-]+)*", one.strip()) for one in selectors]
    return {found[1] for found in alone if found}


@pytest.mark.parametrize("name", [f"{widget}.{suffix}" for widget in WIDGETS for suffix in ("js", "css")])
def test_the_bundle_was_built_from_its_sources(name: str) -> None:
    widget, suffix = name.split(".")
    made = f"sense7_qual {widget} widget; sources {hash_of_sources()}"
    first = (STATIC / name).read_text(encoding="utf-8").splitlines()[0]
    assert first == (f"// {made}" if suffix == "js" else f"/* {made} */"), "run `make frontend`"


@pytest.mark.parametrize("widget", WIDGETS)
def test_a_style_sheet_changes_no_other_widget(widget: str) -> None:
    # Several widgets stand in one page, and class names are used by more than one of them.
    rules = style_rules((STATIC / f"{widget}.css").read_text(encoding="utf-8"))
    assert len(rules) > 200
    selectors = [one for selector, _ in rules for one in re.split(r",\s*(?![^()]*\))", selector)]
    under = re.compile(rf":where\(\.s7-{widget}-widget\)(\.s7)?[ :]|:where\(\.s7-{widget}-widget\)\.s7$")
    assert [one for one in selectors if not under.match(one)] == []
    assert f'"s7 s7-{widget}-widget"' in (STATIC / f"{widget}.js").read_text(encoding="utf-8")


def test_shared_rules_are_the_same_in_every_style_sheet() -> None:
    sources_of_all = [path.read_text(encoding="utf-8") for path in sorted((SOURCES / "shared").glob("*.css"))]
    n_shared = len(style_rules("\n".join(sources_of_all)))
    assert n_shared > 150
    sheets = {
        widget: (STATIC / f"{widget}.css").read_text("utf-8").replace(f"s7-{widget}-widget", "s7-widget")
        for widget in WIDGETS
    }
    firsts = [style_rules(sheet)[:n_shared] for sheet in sheets.values()]
    assert [widget for widget, first in zip(sheets, firsts, strict=True) if first != firsts[0]] == []


@pytest.mark.parametrize("widget", WIDGETS)
def test_a_class_is_defined_in_one_sheet_of_a_bundle(widget: str) -> None:
    # "s7-below" was a fade in one sheet and a count in another, and each element got both.
    defining: dict[str, set[str]] = {}
    for path in sources((".css",)):
        if path.parent.name in ("shared", widget):
            for name in classes_defined(path.read_text(encoding="utf-8")):
                defining.setdefault(name, set()).add(path.name)
    assert len(defining) > 80
    assert {name: sheets for name, sheets in defining.items() if len(sheets) > 1} == {}


def test_a_class_in_two_sheets_is_noticed() -> None:
    sheet = ".s7-a { color: red }\n.s7 .s7-b:hover,\n.s7-c .s7-d { top: 0 }\n"
    sheet += "@media print {\n.s7-e {}\n@media (x) {\n.s7-g {}\n}\n}\n.s7-f > p {}"
    assert classes_defined(sheet) == {"s7-a", "s7-b"}


def test_shared_parts_import_no_widget_and_no_widget_another() -> None:
    wrong = []
    for path in sources((".ts", ".tsx"), tests=True):
        folder, *_ = path.relative_to(SOURCES).parts
        for target in re.findall(r"""["'](\.{1,2}/[^"']*)["']""", path.read_text(encoding="utf-8")):
            package, *_ = (path.parent / target).resolve().relative_to(SOURCES).parts
            if package not in (folder, "shared"):
                wrong.append(f"{folder}/{path.name}: {target}")
    assert wrong == []


def test_each_source_says_in_its_first_line_what_it_is() -> None:
    paths = [*sources(tests=True), FRONTEND / "build.mjs"]
    firsts = {path.name: path.read_text(encoding="utf-8").split("\n")[0] for path in paths}
    assert [name for name, first in firsts.items() if not re.match(r"// \w|/\* \w", first)] == []


@pytest.mark.parametrize("name", [f"{widget}.{suffix}" for widget in WIDGETS for suffix in ("js", "css")])
def test_nothing_is_loaded_from_anywhere(name: str) -> None:
    content = (STATIC / name).read_text(encoding="utf-8")
    # Names of XML namespaces look like addresses and are never fetched.
    assert set(re.findall(r"""https?://[^\s"'`)]*""", content)) <= NAMESPACES
    # "//host/path" in a string or url() takes the page's own scheme.
    assert not re.search(r"""["'`(]//[a-z0-9-]+(\.[a-z0-9-]+)+""", content, re.IGNORECASE)
    if name.endswith(".css"):
        assert "@import" not in content
        assert "url(" not in content


@pytest.mark.parametrize("widget", WIDGETS)
@pytest.mark.parametrize(
    "pattern",
    [
        r"\bfetch\s*\(",
        r"\bXMLHttpRequest\b",
        r"\bWebSocket\b",
        r"\bEventSource\b",
        r"\bsendBeacon\b",
        r"\bimportScripts\b",
        r"\bimport\s*\(",
        r"(^|[;}\s])import\s*[\"'{*\w]",
        r"\bnew Worker\b",
        r"\beval\s*\(",
        r"\bFunction\s*\(",
        r"\bset(Timeout|Interval)\s*\(\s*[\"'`]",  # code in a string
        r"\blocalStorage\b|\bsessionStorage\b|\bindexedDB\b|document\.cookie",
    ],
)
def test_the_bundle_neither_talks_to_a_network_nor_keeps_anything_in_the_browser(
    pattern: str, widget: str
) -> None:
    code = (STATIC / f"{widget}.js").read_text(encoding="utf-8")
    assert not re.search(pattern, code)


@pytest.mark.parametrize(
    "word",
    ["innerHTML", "outerHTML", "dangerouslySetInnerHTML", "insertAdjacentHTML", "document.write", "DOMParser",
     "createContextualFragment", "srcdoc", "setHTMLUnsafe"],
)  # fmt: skip
def test_no_source_builds_html_from_text(word: str) -> None:
    scripts = sources((".ts", ".tsx"))
    assert len(scripts) >= 8
    assert [path.name for path in scripts if word in path.read_text(encoding="utf-8")] == []


@pytest.mark.frontend
@pytest.mark.usefixtures("node_modules")
def test_building_again_gives_the_same_bytes(tmp_path) -> None:
    run("node", "build.mjs", str(tmp_path))
    built = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    shipped = {path.name: path.read_bytes() for path in STATIC.iterdir()}
    assert sorted(built) == sorted(shipped)
    assert [name for name in built if built[name] != shipped[name]] == [], "run `make frontend`"


@pytest.mark.frontend
@pytest.mark.usefixtures("node_modules")
def test_frontend_units() -> None:
    run("npx", "--no-install", "vitest", "run")


@pytest.mark.frontend
@pytest.mark.usefixtures("node_modules")
def test_frontend_types() -> None:
    run("npx", "--no-install", "tsc", "--noEmit")


def test_the_help_of_the_coding_widget_names_every_command() -> None:
    from sense7_qual.widgets._coding import COMMANDS

    shown = (SOURCES / "coding" / "keyhelp.tsx").read_text("utf-8")
    assert [name for name in COMMANDS if not re.search(rf"^ +{name}: \"", shown, re.MULTILINE)] == []
