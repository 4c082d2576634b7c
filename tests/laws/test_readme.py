"""The README's code runs, its commands exist, it stays short, and every page is reached from the index."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest
import yaml
from docx import Document

import sense7_qual as qual
from tests.helpers.places import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.long
def test_the_code_runs(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    wanted = ["Comment", "MessageId", "TaskId", "PID", "EmpathyOverall"]
    table = pd.read_csv(ROOT / "data" / "explanations.csv", dtype=str, keep_default_na=False)
    table[wanted].to_csv("comments.csv", index=False)
    opening, closing = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    names: dict[str, object] = {}
    exec(opening, names)  # noqa: S102 – the README's own code
    store = names["store"]
    assert isinstance(store, qual.Store)
    lines = (ROOT / "data" / "example_acts.jsonl").read_text(encoding="utf-8").splitlines()
    acts = [qual.acts.Act(**json.loads(line)) for line in lines]
    for coder in ("ana", "ben"):
        store.append([act for act in acts if act.coder == coder])
    recorded = store.acts()
    exec(opening, names)  # noqa: S102 – after a restart
    assert names["store"].acts() == recorded
    exec(closing, names)  # noqa: S102
    assert "Relational Continuity" in "\n".join(
        cell.text for row in Document("reliability.docx").tables[0].rows for cell in row.cells
    )


def test_the_two_codebooks_of_the_guide_are_one(tmp_path) -> None:
    read = []
    for ending in ("yaml", "csv"):
        page = (ROOT / "docs" / "codebook.md").read_text("utf-8")
        [content] = re.findall(rf"```{ending}\n(.*?)```", page, flags=re.DOTALL)
        path = tmp_path / f"service.{ending}"
        path.write_text(content, encoding="utf-8")
        read.append(qual.Codebook.read(path))
    assert read[0].codes == read[1].codes
    assert read[0].facets == read[1].facets
    assert [value.key for value in read[0].facet("valence").values] == ["m", "u"]
    assert read[0].name == read[1].name
    assert len(read[0]["tone"].examples) == 2
    assert not read[0]["content"].codable


def test_it_is_short_and_its_commands_exist() -> None:
    assert len(README.split()) <= 450
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"make (\w+)", README):
        assert f"\n{target}:" in makefile


def test_every_page_is_reached_from_the_index_and_every_link_leads_somewhere() -> None:
    index = (ROOT / "docs" / "index.md").read_text("utf-8")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert pages - set(re.findall(r"\]\((\w+\.md)\)", index)) == set()
    for text, place in ((README, ROOT), (index, ROOT / "docs")):
        for target in re.findall(r'\]\(([^):]+)\)|(?:src|srcset)="([^"]+)"', text):
            assert (place / "".join(target)).exists(), target


def test_the_hosted_run_calls_the_readmes_commands() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))["jobs"]
    called = [step["run"] for step in jobs["everything"]["steps"] if "run" in step]
    assert called == ["make setup", "make test"]
    installed = [step["run"] for step in jobs["installed"]["steps"] if "run" in step]
    for program in re.findall(r"tests/\S+\.py", " ".join(installed)):
        assert (ROOT / program).is_file()


def test_every_place_that_names_the_version_names_the_same() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["version"]
    [newest, *_] = re.findall(
        r"^## \[?([\w.]+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE
    )
    assert qual.__version__ == cited == newest


def test_what_runs_elsewhere_is_pinned_by_commit() -> None:
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8")
    assert [
        used for used in re.findall(r"uses: (\S+)", workflow) if not re.search(r"@[0-9a-f]{40}$", used)
    ] == []
