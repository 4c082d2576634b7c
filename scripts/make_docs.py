"""Make the documentation site: guides, reference, executed notebooks and release notes, as HTML that loads
nothing from anywhere.

python scripts/make_docs.py [SITE]                # default: site/
python scripts/make_docs.py SITE --as-they-are    # without running the notebooks
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parent))

from make_reference import MODULES

ROOT: Final = Path(__file__).parents[1]
REPOSITORY: Final = "https://github.com/sense7-qual/sense7_qual/blob/main"
MENU: Final = {
    "Before coding": ("files", "redaction", "codebook", "preregistration", "command_line"),
    "Coding": (
        "coding",
        "training",
        "overview",
        "lead_day",
        "codebook_revision",
        "suggestions",
        "model_coders",
    ),
    "Analysis": ("agreement", "adjudication", "themes", "links"),
    "The paper": ("tables", "methods_text", "quotes", "review", "exchange"),
    "Looking things up": ("record", "team_server", "frames", "architecture", "contributing"),
}
"""The guides, under the heads of `docs/index.md`."""
GUIDES: Final = tuple(guide for guides in MENU.values() for guide in guides)
_FOLDERS: Final = ("scripts", "benchmarks", "tests", "frontend", "sense7_qual", "codebooks", "data")


def main() -> int:
    """Build the site, and return the exit status of Sphinx: anything that it warns of is an error."""
    parser = argparse.ArgumentParser(description="Make the documentation site.")
    parser.add_argument("site", nargs="?", type=Path, default=ROOT / "site")
    parser.add_argument("--as-they-are", action="store_true", help="do not run the notebooks")
    chosen = parser.parse_args()
    shutil.rmtree(chosen.site, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "docs"
        assemble(source)
        command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet"]
        command += ["-D", f"nb_execution_mode={'off' if chosen.as_they_are else 'force'}"]
        command += ["-d", str(Path(folder) / "doctrees"), str(source), str(chosen.site)]
        return subprocess.run(command, check=False).returncode


def assemble(source: Path) -> None:
    """Put the pages where Sphinx looks for them: into the new folder `source`."""
    for folder in ("_static", "guides", "reference", "notebooks", "releases", "data"):
        (source / folder).mkdir(parents=True)
    shutil.copy(ROOT / "docs" / "conf.py", source)
    shutil.copy(ROOT / "docs" / "site.css", source / "_static")
    shutil.copy(ROOT / "notebooks" / "example_study.py", source / "notebooks")
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        write(source / "notebooks" / path.name, places_of_site(linked(path.read_text("utf-8"), up="../")))
    for path in [*(ROOT / "data").glob("*.csv"), *(ROOT / "data").glob("*.jsonl")]:
        shutil.copy(path, source / "data")
    for guide in GUIDES:
        path = ROOT / ("CONTRIBUTING.md" if guide == "contributing" else f"docs/{guide}.md")
        write(source / "guides" / f"{guide}.md", linked(path.read_text("utf-8"), up="../"))
    shutil.copytree(ROOT / "docs" / "pictures", source / "guides" / "pictures")
    for module in MODULES:
        write(source / "reference" / f"{module}.rst", reference_page(module))
    write(source / "reference" / "index.md", reference_index())
    releases = release_notes((ROOT / "CHANGELOG.md").read_text("utf-8"))
    for version, notes in releases.items():
        write(source / "releases" / f"{version}.md", linked(notes, up="../"))
    write(source / "releases" / "index.md", f"# Release notes\n{toctree(*releases)}")
    for picture in (ROOT / "docs" / "pictures").glob("2-whole-text-*.png"):
        shutil.copy(picture, source / "_static")  # named in HTML, where Sphinx does not look
    readme = (ROOT / "README.md").read_text("utf-8").replace("docs/pictures/", "_static/")
    write(source / "start.md", linked(readme, up=""))
    write(source / "index.md", front_page((ROOT / "docs" / "index.md").read_text("utf-8")))


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def front_page(index: str) -> str:
    """Make the site's first page: the list of pages by question, with its own links, and the menu."""
    notebooks = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
    trees = [
        toctree("start", caption="Start"),
        toctree(*(f"notebooks/{name}" for name in notebooks), caption="Notebooks"),
        *(toctree(*(f"guides/{name}" for name in guides), caption=head) for head, guides in MENU.items()),
        toctree("reference/index", "releases/index", caption="Reference"),
    ]
    index = index.replace("](../README.md)", "](start.md)")
    index = index.replace("](../CONTRIBUTING.md)", "](guides/contributing.md)")
    index = index.replace("](reference.md)", "](reference/index.md)")
    return re.sub(rf"\]\(({'|'.join(GUIDES)})\.md\)", r"](guides/\1.md)", index) + "\n".join(trees)


def linked(text: str, *, up: str) -> str:
    """Turn files that are named in the text into links: to their page, or else to the repository."""
    text = text.replace("](docs/index.md)", f"]({up}index.md)").replace("](docs/", f"]({up}guides/")
    text = text.replace("](notebooks)", f"]({up}notebooks/01_coding.ipynb)")
    text = text.replace("](CONTRIBUTING.md)", f"]({up}guides/contributing.md)")
    text = re.sub(r"`docs/reference\.md`", f"[reference]({up}reference/index.md)", text)
    text = re.sub(rf"`docs/({'|'.join(GUIDES)})\.md`", rf"[\1]({up}guides/\1.md)", text)
    text = re.sub(r"`notebooks/(\w+)\.ipynb`", rf"[\1]({up}notebooks/\1.ipynb)", text)
    text = text.replace("`CONTRIBUTING.md`", f"[contributing]({up}guides/contributing.md)")
    text = text.replace("```csv\n", "```text\n")  # Pygments does not know CSV, which is a warning
    return re.sub(rf"\]\(((?:CITATION.cff|(?:{'|'.join(_FOLDERS)})/[^)]*))\)", rf"]({REPOSITORY}/\1)", text)


def places_of_site(notebook: str) -> str:
    """Name places in a notebook as the site does: #a-survey-export, in JupyterLab #A-survey-export."""
    return re.sub(r"\]\(#[\w-]+\)", lambda link: link[0].lower(), notebook)


def reference_page(module: str) -> str:
    return f"{module}\n{'=' * len(module)}\n\n.. automodule:: sense7_qual.{module}\n   :members:\n"


def reference_index() -> str:
    """Return the one-line list of all names, with the pages of the modules under it."""
    listed = (ROOT / "docs" / "reference.md").read_text("utf-8")
    listed = re.sub(r"^## `(\w+)`$", r"## [\1](\1.rst)", listed, flags=re.MULTILINE)
    return listed.replace("Written by `python scripts/make_reference.py`.\n", "") + toctree(*MODULES)


def release_notes(changelog: str) -> dict[str, str]:
    """Return the notes of each version by its number, the newest first; what is not released comes first."""
    parts = re.split(r"^## \[?([\w.]+)\]?(.*)$", changelog, flags=re.MULTILINE)[1:]
    return {
        version.lower(): f"# {version}{rest}\n{re.sub('^###', '##', body, flags=re.MULTILINE).strip()}\n"
        for version, rest, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    }


def toctree(*pages: str, caption: str | None = None) -> str:
    named = f":caption: {caption}\n" if caption else ""
    return "\n```{toctree}\n:maxdepth: 1\n:hidden:\n" + named + "\n" + "\n".join(pages) + "\n```\n"


if __name__ == "__main__":
    sys.exit(main())
