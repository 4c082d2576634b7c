"""A bundle that a stranger reruns: what is in it, what never is, and that its numbers come out again."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from sense7_qual import acts, agreement, report
from sense7_qual.errors import ArgumentError, StoreError
from sense7_qual.store import Store
from sense7_qual.store._bundle import write as bundles
from sense7_qual.store._bundle.withhold import published_acts
from sense7_qual.store._postgres import server
from tests.helpers.places import ROOT
from tests.helpers.planned_study import PLAN
from tests.helpers.reviewed_study import study

pytestmark = pytest.mark.long

QUICK = replace(PLAN, n_boot=20)
CANARY = "zqcanary"
NAME = "Annabel"
SPAN = (8, 28)  # holds the name


def said(where: str) -> str:
    return f"{CANARY}{where} and my sister {NAME} stood in the rain for an hour"


def spoken(path: Path) -> Store:
    """A study with participants' words in every field that can hold some."""
    made = study(path.with_name("first"), plan=QUICK)
    ids, n = made.units["unit_id"], len(made.units)
    units = made.units.drop(columns=["System", "Stars"]).assign(
        text=[
            f"{i:04d}    {NAME} {CANARY}text{i} had to say it at some length. {said('text')}"
            for i in range(n)
        ],
        context=json.dumps([{"role": "user", "text": said("context")}]),
        Warmth=[1 + i * 7 % 5 for i in range(n)],
        System=["a", "b"] * (n // 2),
        Comment=[f"{CANARY}variable {i}" for i in range(n)],
    )
    store = Store.create(path, units=units, codebook=made.codebook)
    for coder in made.coders:
        store.append(made.acts(coder=coder))
    old = store.codebook
    first = replace(
        old.codes[0],
        examples=(f"{CANARY}example",),
        counter_examples=(f"{CANARY}counter",),
        definition=f"As in: {said('text')}",
        use_when=("It says 0.", said("text")),
    )
    store.revise(replace(old, codes=(first, *old.codes[1:])), why=f"After {said('text')}", coder="lead")
    book, unit_id = store.codebook, ids[0]
    named: dict[str, Any] = {"codebook": book, "unit_id": unit_id}
    memo = acts.memo(coder="ana", text=f"{CANARY}memo", **named)
    store.append(
        [
            acts.apply(coder="ana", code="c1", start=SPAN[0], end=SPAN[1], **named),
            memo,
            acts.memo(coder="ana", text=f"{CANARY}span", target_kind="span", start=0, end=4, **named),
            acts.memo(coder="ana", text=f"{CANARY}study", target_kind="study", codebook=book),
            replace(memo, act_id="00000000-0000-4000-8000-000000000001", text=""),
            acts.propose(coder="ana", label=f"{CANARY}label", definition=f"{CANARY}definition", **named),
            acts.finish(coder="ana", **named),
        ]
    )
    ruling = acts.rule(coder="lead", code="c1", applied=True, reason="slip", note=f"{CANARY}note", **named)
    store.append([ruling])
    return store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return spoken(tmp_path_factory.mktemp("bundles") / "study")


CITED: dict[str, Any] = {
    "title": 'Warmth: "so far"',
    "licence": "CC-BY-4.0",
    "keywords": ["warmth", "chat: bots"],
    "authors": ["Carberry, Josiah; 0000-0002-1825-0097; Brown: a university", "Ñandú, Zoë;; ", "Doe, J."],
    "software": "https://example.org/analysis",
}


@pytest.fixture(scope="module")
def bundle(store: Store) -> Path:
    path = Path(store.path).with_name("published")
    told: list[tuple[int, int]] = []
    store.copies.bundle(
        path,
        texts="withheld",
        rating="Warmth",
        conditions=["System"],
        **CITED,
        progress=lambda *so_far: told.append(so_far),
    )
    assert told == sorted(told)
    assert told[-1] == (100, 100)
    return path


@pytest.fixture
def without_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bundles without tables and figures, which take seconds."""
    monkeypatch.setattr(bundles, "_run", lambda *_, **__: None)


def everything(path: Path) -> Iterator[bytes]:
    """Yield the name and bytes of every file, those in archives and tables of Parquet unpacked."""
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        yield file.name.encode()
        if file.is_file() and zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as members:
                yield from map(members.read, members.namelist())
        elif file.is_file():
            yield file.read_bytes()
            if file.suffix == ".parquet":
                yield pd.read_parquet(file).to_csv().encode()


def rerun(path: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "rerun.py", *words],
        cwd=path,
        capture_output=True,
        encoding="utf-8",
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environment},
    )


# what is in it --------------------------------------------------------------------------------------


def test_no_word_of_a_participant_is_in_any_byte(bundle: Path, store: Store) -> None:
    own = b"".join(everything(Path(store.path)))
    for where in ("text", "variable", "example", "memo", "span", "label", "note"):  # they could be found
        assert f"{CANARY}{where}".encode() in own
    for content in everything(bundle):
        assert CANARY.encode() not in content.lower()
        assert NAME.encode() not in content


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
def test_its_owner_alone_can_read_it(bundle: Path) -> None:
    modes = {(path.is_dir(), oct(path.stat().st_mode & 0o777)) for path in (bundle, *bundle.rglob("*"))}
    assert modes == {(True, "0o700"), (False, "0o600")}


def test_the_numbers_are_those_of_the_study(bundle: Path, store: Store, tmp_path: Path) -> None:
    plan = replace(store.preregistrations[-1].plan, rating="Warmth")
    done = report.paper(
        store, plan, tmp_path, formats=["csv", "docx"], conditions=["System"], with_prose=False
    )
    for own in (tmp_path / name for name in done.files["file"]):
        if own.stem not in ("codebook", "revisions", "themes", "review"):  # examples, whys; not for print
            folder = "figures" if own.suffix in (".pdf", ".png") else "tables"
            assert (bundle / folder / own.name).read_bytes() == own.read_bytes(), own.name
    by_code = agreement.by_code(store.decisions(), units=store.units, cluster="case_id", n_boot=20, seed=0)
    written = pd.read_csv(bundle / "tables" / "numbers_agreement.csv", dtype=str)
    unrounded = [f"{alpha!r}" for alpha in by_code["alpha"].dropna().tolist()]
    assert written["alpha"].dropna().tolist() == unrounded
    assert (bundle / "tables" / "numbers_links.csv").exists()


def test_a_bundle_opens_as_a_study(bundle: Path, store: Store) -> None:
    opened = Store(bundle)
    assert opened.verify()["ok"].all()
    for named in ({}, {"settled_by": "rulings"}, {"settled_by": "nothing"}):
        pd.testing.assert_frame_equal(opened.decisions(**named), store.decisions(**named))
    pd.testing.assert_frame_equal(opened.codings(), store.codings())
    assert opened.codebook.fingerprint == store.codebook.fingerprint
    assert opened.units["text"].str.len().tolist() == store.units["text"].str.len().tolist()
    assert opened.units["text"].nunique() == len(store.units)
    assert [act.act_id for act in opened.acts()] == [act.act_id for act in store.acts()]
    assert len(opened.memos()) == len(store.memos()) == 2
    assert set(opened.memos()["text"]) == {"[withheld]"}
    assert opened.codebook.codes[0].examples == ("[example 1, withheld]",)
    assert opened.codebook.codes[0].use_when == ("It says 0.", "[withheld]")
    assert opened.revisions[-1].why == "[withheld]"
    assert opened.coders == store.coders
    with pytest.raises(StoreError, match="found a bundle, which is read-only"):
        opened.append([acts.finish(coder="ana", unit_id="m1", codebook=opened.codebook)])
    with pytest.raises(StoreError, match="found a bundle"):
        opened.copies.bundle(bundle.with_name("second"), texts="withheld")


def test_what_is_told_of_it(bundle: Path) -> None:
    told = (bundle / "README.md").read_text("utf-8")
    assert "left out: `context`, `Comment`." in told
    assert "sense7-qual==" in (bundle / "requirements.txt").read_text("utf-8")
    sums = dict(
        reversed(line.split("  ")) for line in (bundle / "SHA256SUMS").read_text("utf-8").splitlines()
    )
    assert set(sums) == {
        path.relative_to(bundle).as_posix() for path in bundle.rglob("*") if path.is_file()
    } - {"SHA256SUMS"}
    crate = json.loads((bundle / "ro-crate-metadata.json").read_text("utf-8"))["@graph"]
    root = next(entity for entity in crate if entity["@id"] == "./")
    assert {part["@id"] for part in root["hasPart"]} == set(sums) - {"ro-crate-metadata.json"}


def test_how_it_is_cited(bundle: Path) -> None:
    """The keys that Citation File Format 1.2.0 and Zenodo ask for, with their values."""
    cff = yaml.safe_load((bundle / "CITATION.cff").read_text("utf-8"))
    assert {"authors", "cff-version", "message", "title"} <= set(cff)
    assert cff["cff-version"] == "1.2.0"
    assert (cff["type"], cff["title"], cff["license"]) == ("dataset", CITED["title"], "CC-BY-4.0")
    assert cff["authors"] == [
        {
            "family-names": "Carberry",
            "given-names": "Josiah",
            "affiliation": "Brown: a university",
            "orcid": "https://orcid.org/0000-0002-1825-0097",
        },
        {"family-names": "Ñandú", "given-names": "Zoë"},
        {"family-names": "Doe", "given-names": "J."},
    ]
    assert cff["keywords"] == CITED["keywords"]
    assert cff["repository-code"] == CITED["software"]
    zenodo = json.loads((bundle / ".zenodo.json").read_text("utf-8"))
    assert str(cff["date-released"]) == zenodo["publication_date"]
    assert zenodo["creators"][0] == {
        "name": "Carberry, Josiah",
        "affiliation": "Brown: a university",
        "orcid": "0000-0002-1825-0097",
    }
    assert [one["name"] for one in zenodo["creators"]] == ["Carberry, Josiah", "Ñandú, Zoë", "Doe, J."]
    assert (zenodo["upload_type"], zenodo["license"]) == ("dataset", "CC-BY-4.0")
    assert zenodo["related_identifiers"][0]["identifier"] == CITED["software"]
    assert "CC-BY-4.0" in (bundle / "LICENSE.md").read_text("utf-8")


def test_the_review_is_not_published(bundle: Path) -> None:
    assert (bundle / "tables" / "reliability.csv").exists()
    assert not list(bundle.rglob("review*"))


@pytest.mark.usefixtures("without_tables")
def test_without_authors_there_is_nothing_to_cite(store: Store, tmp_path: Path) -> None:
    store.copies.bundle(tmp_path / "out", texts="withheld")
    assert not {"CITATION.cff", ".zenodo.json"} & {path.name for path in (tmp_path / "out").iterdir()}
    assert "to be decided" in (tmp_path / "out" / "LICENSE.md").read_text("utf-8")


_VALIDATES = """
import importlib.resources, io, sys, urllib.request
import requests, urllib3
from email.message import Message
from urllib.response import addinfourl

# Without a network the context comes from the package rocrate (of RO-Crate 1.3: 1.1's terms and more).
context = importlib.resources.files("rocrate").joinpath("data/ro-crate.jsonld").read_bytes()

class Here(urllib.request.BaseHandler):
    handler_order = 100
    def https_open(self, request):
        headers = Message()
        headers["Content-Type"] = "application/ld+json"
        answer = addinfourl(io.BytesIO(context), headers, request.full_url, 200)
        answer.msg = "OK"
        return answer

def send(self, request, **_):
    answer = requests.Response()
    answer.status_code, answer.url, answer.request = 200, request.url, request
    answer.headers["Content-Type"] = "application/ld+json"
    answer.raw = urllib3.HTTPResponse(
        body=io.BytesIO(context), status=200, headers=answer.headers, preload_content=False,
        request_url=request.url)
    return answer

urllib.request.install_opener(urllib.request.build_opener(Here))
requests.adapters.HTTPAdapter.send = send
from rocrate_validator import models, services
result = services.validate(models.ValidationSettings(
    rocrate_uri=sys.argv[1], profile_identifier="ro-crate-1.1",
    requirement_severity=models.Severity.REQUIRED))
print([issue.message for issue in result.get_issues()])
sys.exit(not result.passed())
"""


def test_the_metadata_are_a_valid_ro_crate(bundle: Path) -> None:
    pytest.importorskip("rocrate_validator", reason="roc-validator is not installed")
    pytest.importorskip("rocrate", reason="rocrate, which has the context, is not installed")
    done = subprocess.run(
        [sys.executable, "-c", _VALIDATES, str(bundle)], capture_output=True, text=True, cwd=bundle
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2_000:]


# that it comes out again ----------------------------------------------------------------------------


@pytest.mark.nightly
def test_a_stranger_gets_the_same_bytes_elsewhere(bundle: Path, tmp_path: Path) -> None:
    there = shutil.copytree(bundle, tmp_path / "with a space é" / "elsewhere")
    kind = {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "1"}  # as on another processor
    done = rerun(there, HOME=str(tmp_path / "home"), LC_ALL="C", TZ="Asia/Tokyo", PYTHONHASHSEED="7", **kind)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("ALL THE SAME\n")
    assert not list((tmp_path / "home").rglob("heads"))  # nothing is remembered of a bundle


@pytest.mark.nightly
def test_a_changed_coding_or_number_is_seen(bundle: Path, tmp_path: Path) -> None:
    there = shutil.copytree(bundle, tmp_path / "coding")
    acts_file = there / "record" / "acts.jsonl"
    acts_file.write_bytes(acts_file.read_bytes().replace(b'"code":"c1"', b'"code":"c2"', 1))
    done = rerun(there)
    assert done.returncode != 0
    assert "found another record/acts.jsonl than was written" in done.stderr
    assert not Store(bundle).verify().empty
    seal = json.loads((there / "record" / "study.json").read_text("utf-8"))
    _reseal(there, seal)
    with pytest.raises(StoreError, match="another content than was written in act"):  # the chain sees it, too
        Store(there).decisions()
    there = shutil.copytree(bundle, tmp_path / "number")
    table = there / "tables" / "numbers_agreement.csv"
    table.write_bytes(table.read_bytes().replace(b"0.9", b"0.8", 1))
    done = rerun(there)
    assert done.returncode == 1
    assert "DIFFERS  tables/numbers_agreement.csv: 1 cells differ" in done.stdout


def _reseal(there: Path, said: dict[str, Any]) -> None:
    """Forge the seal over the files as they are now."""
    import hashlib

    from sense7_qual.store._stored import whole_files

    said.pop("sha256")
    said["files"] = {name: hashlib.sha256((there / name).read_bytes()).hexdigest() for name in said["files"]}
    (there / "record" / "study.json").write_bytes(whole_files.seal(said))


@pytest.mark.usefixtures("without_tables")
def test_twice_the_same_is_the_same_to_the_byte(store: Store, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        store.copies.bundle(tmp_path / name / "pilot.zip", texts="all")
    one, two = ((tmp_path / name / "pilot.zip").read_bytes() for name in ("one", "two"))
    assert one == two
    with zipfile.ZipFile(tmp_path / "one" / "pilot.zip") as members:
        assert {name.partition("/")[0] for name in members.namelist()} == {"pilot"}
        members.extractall(tmp_path)
    whole = Store(tmp_path / "pilot")
    pd.testing.assert_frame_equal(whole.units, store.units)
    assert whole.acts() == store.acts()
    assert dict(whole.codebooks) == dict(store.codebooks)


@pytest.mark.postgres
@pytest.mark.usefixtures("without_tables")
def test_a_study_in_postgresql_has_the_same_bundle(
    store: Store, tmp_path: Path, postgres: Callable[[], str]
) -> None:
    store.copies.archive(tmp_path / "study.zip")
    address = postgres()
    team = Store.restore(tmp_path / "study.zip", address)
    for name, each in (("folder", store), ("team", team)):
        (tmp_path / name).mkdir()
        each.copies.bundle(tmp_path / name / "pilot.zip", texts="withheld")
    server.connect(address).engine.dispose()
    one, two = ((tmp_path / name / "pilot.zip").read_bytes() for name in ("folder", "team"))
    assert one == two


@pytest.mark.usefixtures("without_tables")
def test_redacted_texts_keep_their_offsets(store: Store, tmp_path: Path) -> None:
    store.copies.bundle(tmp_path / "out", texts="redacted", names=[NAME])
    opened = Store(tmp_path / "out")
    assert opened.verify()["ok"].all()
    for content in everything(tmp_path / "out"):
        assert NAME.encode() not in content
        assert not any(f"{CANARY}{word}".encode() in content for word in ("memo", "note", "label", "example"))
    text, own = opened.units["text"][0], store.units["text"][0]
    assert len(text) == len(own)
    assert text.replace("\u25ae" * len(NAME), NAME) == own
    assert NAME not in opened.units["context"][0]
    assert json.loads(opened.units["context"][0])[0]["role"] == "user"
    quote = next(act.text for act in opened.acts() if act.start == SPAN[0])
    assert quote == text[SPAN[0] : SPAN[1]]
    assert "\u25ae" * len(NAME) in quote
    found = pd.read_csv(tmp_path / "out" / "data" / "redacted.csv")
    assert set(found["kind"]) == {"name"}
    pd.testing.assert_frame_equal(opened.decisions(), store.decisions())


@pytest.mark.usefixtures("without_tables")
def test_only_named_columns_of_words_stay(store: Store, tmp_path: Path) -> None:
    store.copies.bundle(tmp_path / "out", texts="withheld", variables=["System"])
    assert list(Store(tmp_path / "out").units) == [
        "unit_id",
        "text",
        "document_id",
        "case_id",
        "position",
        "Warmth",
        "System",
    ]


# what is refused ------------------------------------------------------------------------------------


def test_texts_have_no_default(store: Store, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="texts"):
        store.copies.bundle(tmp_path / "out")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ({"texts": "none"}, "withheld"),
        ({"rating": "Warmt"}, "did you mean 'Warmth'"),
        ({"conditions": ["text"]}, "expected a column of the study's units – found 'text'"),
        ({"variables": ["Systen"]}, "did you mean 'System'"),
        ({"authors": ["Josiah Carberry"]}, "expected an author as 'Family, Given; ORCID; affiliation'"),
        ({"authors": ["Carberry, Josiah; 0000-0002-1825-0098"]}, "an ORCID that fits its check digit"),
        ({"authors": ["Carberry, Josiah; 1825-0097"]}, "found '1825-0097'"),
        ({"authors": ["Doe, J."], "licence": "CC-BY"}, "did you mean 'CC-BY-4.0'"),
        ({"authors": ["Doe, J."], "software": "my code"}, "expected the address of the software"),
        ({"authors": ["Doe, J."], "keywords": [" "]}, "found an empty one"),
        ({"licence": "CC0-1.0"}, "expected authors together with a licence"),
        ({"formats": ["pdf"]}, "expected formats out of docx, tex, csv, md, html – found 'pdf'"),
    ],
)
def test_what_is_no_such_thing_is_refused(
    store: Store, tmp_path: Path, named: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ArgumentError, match=problem):
        store.copies.bundle(tmp_path / "out", **{"texts": "withheld", **named})
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("without_tables")
def test_where_something_is_nothing_is_written(store: Store, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years", "utf-8")
    for overwrite in (False, True):
        with pytest.raises(StoreError, match="choose another place"):
            store.copies.bundle(tmp_path / "mine", texts="withheld", overwrite=overwrite)
    store.copies.archive(tmp_path / "mine.zip")
    broken = (tmp_path / "mine.zip").read_bytes().replace(b"PK\x01\x02", b"PK\x01\x00")
    (tmp_path / "broken.zip").write_bytes(broken)
    for name in ("mine.zip", "broken.zip"):
        with pytest.raises(StoreError, match="choose another place"):
            store.copies.bundle(tmp_path / name, texts="withheld", overwrite=True)
    assert (tmp_path / "broken.zip").read_bytes() == broken
    with pytest.raises(StoreError, match="outside the study"):
        store.copies.bundle(Path(store.path) / "out", texts="withheld")
    store.copies.bundle(tmp_path / "out", texts="all")
    store.copies.bundle(tmp_path / "out", texts="withheld", overwrite=True)
    assert Store(tmp_path / "out").units["text"].str.contains("\u25ae").all()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.zip", "mine", "mine.zip", "out"]


@pytest.mark.usefixtures("without_tables")
def test_an_earlier_bundle_stays_until_the_new_one_is_there(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.copies.bundle(tmp_path / "out", texts="all")

    def torn(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(bundles, "move_in", torn)
    with pytest.raises(StoreError, match="found Input/output error"):
        store.copies.bundle(tmp_path / "out", texts="withheld", overwrite=True)
    assert Store(tmp_path / "out").units["text"].equals(store.units["text"])


def test_a_study_in_which_nothing_is_finished_is_refused(store: Store, tmp_path: Path) -> None:
    empty = Store.create(tmp_path / "study", units=store.units, codebook=store.codebook)
    with pytest.raises(ArgumentError, match="expected texts that a coder has finished – found none"):
        empty.copies.bundle(tmp_path / "out", texts="withheld")


@pytest.mark.usefixtures("without_tables")
def test_a_full_disk_leaves_nothing(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, *_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(bundles, "write_new", full)
    with pytest.raises(StoreError, match="found No space left on device"):
        store.copies.bundle(tmp_path / "out", texts="withheld")
    assert not list(tmp_path.iterdir())


def test_a_script_that_fails_makes_no_bundle(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundles, "_analysis", lambda wish: b"{}")
    with pytest.raises(StoreError, match="found: KeyError: 'plan' – no bundle was made"):
        store.copies.bundle(tmp_path / "out", texts="withheld")
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("without_tables")
def test_a_withdrawal_names_the_bundle_and_is_honoured(tmp_path: Path) -> None:
    own = spoken(tmp_path / "study")
    own.copies.bundle(tmp_path / "before", texts="all")
    forgotten = own.forget("p0", why="asked to")
    assert "bundle" in str(forgotten.still_held)
    own.copies.bundle(tmp_path / "after", texts="all")
    opened = Store(tmp_path / "after")
    assert "p0" not in set(opened.units["case_id"])
    pd.testing.assert_frame_equal(opened.decisions(), own.decisions())
    pd.testing.assert_frame_equal(opened.memos(), own.memos())


def test_what_people_wrote_on_themes_is_withheld() -> None:
    text = '{"name":"her words","run":"x","theme":0,"why":"her own words"}'
    [line] = published_acts([{"kind": "edit_theme", "text": text, "salt": "s"}], lambda _: False, "withheld")
    assert line["text"] == '{"name":"[withheld]","run":"x","theme":0,"why":"[withheld]"}'
    assert "salt" not in line
