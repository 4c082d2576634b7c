"""Backups and archives: equal to the study, checked, never written over; hostile archives are refused."""

from __future__ import annotations

import hashlib
import json
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import StoreError
from sense7_qual.store import Store
from sense7_qual.store._operations import hand_out
from sense7_qual.store._stored import whole_files

CODEBOOK = Codebook(name="small", codes=(Code(id="interest", label="Interest"),))
SENTINEL = "Sentinel-Quokka"
UNITS = pd.DataFrame(
    {
        "unit_id": ["m1", "m2"],
        "text": [f"It listened 👩‍👩‍👧 to me. {SENTINEL}", "She did not."],
        "document_id": ["d1", "d1"],
        "case_id": ["p1", "p2"],
        "position": [0, 1],
    }
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.create(tmp_path / "pilot", units=UNITS, codebook=CODEBOOK)
    for coder in ("ana", "ben"):
        named = {"coder": coder, "unit_id": "m1", "codebook": CODEBOOK}
        store.append([acts.apply(code="interest", start=i, end=i + 4, **named) for i in range(5)])
        memo = acts.memo(text=f"ähm\n\x00 {SENTINEL}", **named)
        ruling = acts.rule(code="interest", applied=True, **named)
        store.append([memo, ruling, acts.finish(**named), acts.undo(memo, codebook=CODEBOOK)])
    return store


def test_a_backup_is_the_study_in_another_place(store: Store, tmp_path: Path) -> None:
    target = tmp_path / "copies" / "pilot"
    store.copies.backup(target)
    found = Store(target)
    assert found.acts() == store.acts()
    pd.testing.assert_frame_equal(found.units, store.units)
    assert found.verify()["ok"].all()
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in target.rglob("*")}
    assert set(modes.values()) == {0o600, 0o700}
    assert [path.name for path in target.parent.iterdir()] == ["pilot"]
    assert store.verify()["note"].str.contains("backup of").sum() == 1


def test_a_copy_is_never_written_over(store: Store, tmp_path: Path) -> None:
    (tmp_path / "thesis").write_bytes(b"years of work")
    (tmp_path / "empty").mkdir()
    for make in (store.copies.backup, store.copies.archive):
        for name in ("thesis", "empty", "pilot"):
            with pytest.raises(StoreError, match="choose another place"):
                make(tmp_path / name)
    assert (tmp_path / "thesis").read_bytes() == b"years of work"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "pilot", "thesis"]


def test_no_copy_is_made_of_a_damaged_study(store: Store, tmp_path: Path) -> None:
    file = store.path / "acts" / "ana.sqlite"
    content = bytearray(file.read_bytes())
    content[content.index(b"interest")] ^= 1
    file.write_bytes(content)
    for make in (store.copies.backup, store.copies.archive):
        with pytest.raises(StoreError, match=r"found problems in 'acts/ana.sqlite'"):
            make(tmp_path / "copy")
    assert [path.name for path in tmp_path.iterdir()] == ["pilot"]


def test_an_archive_restores_to_an_equal_study_and_the_same_bytes(store: Store, tmp_path: Path) -> None:
    store.copies.archive(tmp_path / "one.zip")
    store.copies.archive(tmp_path / "two.zip")
    restored = Store.restore(tmp_path / "one.zip", tmp_path / "again")
    restored.copies.archive(tmp_path / "three.zip")
    assert len({(tmp_path / f"{n}.zip").read_bytes() for n in ("one", "two", "three")}) == 1
    assert restored.acts() == store.acts()
    pd.testing.assert_frame_equal(restored.units, store.units)
    assert restored.verify()["ok"].all()
    assert restored.append([acts.finish(coder="ana", unit_id="m2", codebook=CODEBOOK)]) == 1
    assert store.copies.merge(restored).counts["new"] == 1
    assert stat.S_IMODE((tmp_path / "one.zip").stat().st_mode) == 0o600


def test_an_archive_can_be_read_without_this_package(store: Store, tmp_path: Path) -> None:
    store.copies.archive(tmp_path / "one.zip")
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        manifest = json.loads(archive.read("manifest.json"))
        contents = {name: archive.read(name) for name in archive.namelist()}
    lines = [json.loads(line) for line in contents["acts.jsonl"].splitlines()]
    assert manifest["n_acts"] == {"ana": 9, "ben": 9}
    assert [(line["coder"], line["seq"]) for line in lines] == [
        (c, n) for c in ("ana", "ben") for n in range(1, 10)
    ]
    assert [line.get("text") for line in lines] == [act.text for act in store.acts()]
    for name, said in manifest["files"].items():
        assert hashlib.sha256(contents[name]).hexdigest() == said["sha256"]
        assert len(contents[name]) == said["bytes"]


def test_a_merged_study_is_archived_with_its_branches(store: Store, tmp_path: Path) -> None:
    store.copies.backup(tmp_path / "there")
    there = Store(tmp_path / "there")
    for each in (store, there):
        each.append([acts.reopen(coder="ana", unit_id="m1", codebook=CODEBOOK)])
    store.copies.merge(there)
    store.copies.archive(tmp_path / "one.zip")
    restored = Store.restore(tmp_path / "one.zip", tmp_path / "again")
    assert restored.acts() == store.acts()
    assert restored.copies.merge(there).counts["new"] == 0


# what comes from elsewhere --------------------------------------------------------------------------

Members = list[tuple[zipfile.ZipInfo | str, bytes]]


def with_manifest(members: dict[str, bytes]) -> Members:
    manifest = json.loads(members["manifest.json"])
    manifest["files"] = {
        name: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        for name, content in members.items()
        if name != "manifest.json"
    }
    return list((members | {"manifest.json": json.dumps(manifest).encode()}).items())


def changed(name: str, old: bytes, new: bytes) -> Callable[[dict[str, bytes]], Members]:
    """An archive whose manifest vouches for a changed member."""

    def change(members: dict[str, bytes]) -> Members:
        assert old in members[name]
        return with_manifest(members | {name: members[name].replace(old, new, 1)})

    return change


def spaced(members: dict[str, bytes], *, by: bytes = b"") -> bytes:
    """The last act's line, with something behind its first comma."""
    return members["acts.jsonl"].splitlines(keepends=True)[-1].replace(b",", b"," + by, 1)


def resealed(members: dict[str, bytes], **values: object) -> Members:
    """An archive whose study says other things of itself, under a seal that is right."""
    study = whole_files.unseal(members["study.json"])
    return with_manifest(members | {"study.json": whole_files.seal(study | values)})


def with_units(members: dict[str, bytes], old: bytes, new: bytes) -> Members:
    """An archive that vouches for a changed table of units."""
    table = members["units.parquet"].replace(old, new)
    assert table != members["units.parquet"]
    named = dict(resealed(members, units_sha256=hashlib.sha256(table).hexdigest()))
    return with_manifest(named | {"units.parquet": table})


HOSTILE: dict[str, Callable[[dict[str, bytes]], Members]] = {
    "a way out": lambda m: with_manifest(m | {"../../evil.yaml": b"x"}),
    "a way out by a folder's name": lambda m: with_manifest(m | {"codebooks/../../evil.yaml": b"x"}),
    "a way out past where it is built": lambda m: with_manifest(m | {"codebooks/../../../evil.yaml": b"x"}),
    "an absolute name": lambda m: with_manifest(m | {"/etc/evil": b"x"}),
    "a name of Windows": lambda m: with_manifest(m | {"codebooks\\\\..\\\\evil.yaml": b"x"}),
    "an acts file": lambda m: with_manifest(m | {"acts/ana.sqlite": b"x"}),
    "a member twice": lambda m: [*m.items(), ("study.json", m["study.json"])],
    "another member": lambda m: [*m.items(), (f"codebooks/{'0' * 32}.yaml", b"x")],
    "a member less": lambda m: [(n, c) for n, c in m.items() if n != "units.parquet"],
    "no acts, as its manifest says": lambda m: with_manifest({k: m[k] for k in m if k != "acts.jsonl"}),
    "no study, as its manifest says": lambda m: with_manifest({k: m[k] for k in m if k != "study.json"}),
    "no manifest": lambda m: [(n, c) for n, c in m.items() if n != "manifest.json"],
    "a wrong hash": lambda m: list((m | {"acts.jsonl": m["acts.jsonl"].replace(b"ana", b"ann", 1)}).items()),
    "a changed act": changed("acts.jsonl", b'"start":1', b'"start":2'),
    "a changed memo": changed("acts.jsonl", b"\xc3\xa4hm", b"\xc3\xa4hn"),
    "an act less": lambda m: changed("acts.jsonl", m["acts.jsonl"].splitlines(True)[3], b"")(m),
    "an act of nobody": changed("acts.jsonl", b'"coder":"ana"', b'"coder":"../x"'),
    "a field more": changed("acts.jsonl", b'"seq":1,', b'"seq":1,"x":1,'),
    "a line that is no act": lambda m: with_manifest(m | {"acts.jsonl": b"[]\n" + m["acts.jsonl"]}),
    "a number that no column takes": changed("acts.jsonl", b'"start":1', b'"start":1180591620717411303424'),
    "half of a surrogate pair": changed("acts.jsonl", b'"text":"', b'"text":"\\ud800'),
    "a list for a number": changed("acts.jsonl", b'"start":1', b'"start":[1]'),
    "acts nested without end": lambda m: with_manifest(m | {"acts.jsonl": b"[" * 200_000 + b"\n"}),
    "a manifest nested without end": lambda m: list((m | {"manifest.json": b"[" * 200_000}).items()),
    "a study nested without end": lambda m: with_manifest(m | {"study.json": b"[" * 200_000}),
    "a study without the hash of its units": lambda m: resealed(m, units_sha256=None),
    "units that are not Unicode": lambda m: with_units(m, b"listened", b"list\xa0ned"),
    "units without a column": lambda m: with_units(m, b"document_id", b"document_xx"),
    "another spelling": changed("acts.jsonl", b'{"', b'{ "'),
    "another spelling further down": lambda m: changed("acts.jsonl", spaced(m), spaced(m, by=b" "))(m),
    "a field twice": changed("acts.jsonl", b'"seq":1,', b'"seq":1,"seq":1,'),
    "another size than its manifest says": lambda m: [
        (n, c.replace(b'"bytes": ', b'"bytes": 1') if n == "manifest.json" else c) for n, c in m.items()
    ],
    "other units": lambda m: with_manifest(m | {"units.parquet": m["units.parquet"][:-9] + b"1" * 9}),
    "another study": changed("study.json", b'"id": "', b'"id": "0'),
    "a later version": lambda m: [
        (n, c.replace(b'"schema": 2', b'"schema": 99') if n == "manifest.json" else c) for n, c in m.items()
    ],
}


@pytest.mark.long
@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
def test_a_hostile_or_damaged_archive_is_refused_and_leaves_nothing(
    store: Store, tmp_path: Path, change: Callable[[dict[str, bytes]], Members]
) -> None:
    store.copies.archive(tmp_path / "one.zip")
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        members = change({name: archive.read(name) for name in archive.namelist()})
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        for name, content in members:
            archive.writestr(name, content)
    with pytest.raises(StoreError) as refused:
        Store.restore(tmp_path / "two.zip", tmp_path / "folder" / "again")
    assert SENTINEL not in str(refused.value)
    assert not list((tmp_path / "folder").iterdir()) if (tmp_path / "folder").exists() else True
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "folder") == [
        "one.zip",
        "pilot",
        "two.zip",
    ]


def test_an_archive_that_could_unfold_is_refused(store: Store, tmp_path: Path) -> None:
    store.copies.archive(tmp_path / "one.zip")
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        members = with_manifest(
            {n: archive.read(n) for n in archive.namelist()} | {"acts.jsonl": bytes(10**7)}
        )
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    assert (tmp_path / "bomb.zip").stat().st_size < 10**5
    with pytest.raises(StoreError, match="compressed, encrypted or overlap"):
        Store.restore(tmp_path / "bomb.zip", tmp_path / "again")


@pytest.mark.long
def test_every_flipped_bit_of_an_archive_shows_or_changes_nothing(store: Store, tmp_path: Path) -> None:
    store.copies.archive(tmp_path / "one.zip")
    whole, refused = (tmp_path / "one.zip").read_bytes(), 0
    for place in range(7, len(whole), len(whole) // 60):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place % 8
        (tmp_path / "two.zip").write_bytes(flipped)
        try:
            again = Store.restore(tmp_path / "two.zip", tmp_path / f"again{place}")
        except StoreError:
            refused += 1
            continue
        assert again.acts() == store.acts()  # a hint in the zip's own tables, such as the time of a file
    assert refused > 50


def of_a_later_version(archive: Path, target: Path) -> Path:
    """Return the same zip, of a later version of the format than Python reads."""
    packed = bytearray(archive.read_bytes())
    packed[packed.index(b"PK\x01\x02") + 6] = 173  # "version needed", in the zip's list of its members
    target.write_bytes(packed)
    return target


def test_a_zip_that_python_cannot_read_is_refused(store: Store, tmp_path: Path) -> None:
    store.copies.archive(tmp_path / "one.zip")
    newer, before = of_a_later_version(tmp_path / "one.zip", tmp_path / "newer.zip"), store.acts()
    with pytest.raises(StoreError, match=r"expected an archive as store\.copies"):
        Store.restore(newer, tmp_path / "again")
    with pytest.raises(StoreError, match=r"expected an archive as store\.copies"):
        store.copies.merge(newer)
    assert hand_out.handed_in(newer) is None
    assert (store.acts(), (tmp_path / "again").exists()) == (before, False)


def test_what_is_no_archive_is_refused(tmp_path: Path, store: Store) -> None:
    (tmp_path / "text.zip").write_bytes(SENTINEL.encode() * 99)
    for name in ("text.zip", "nothing.zip", "pilot"):
        with pytest.raises(StoreError, match="nothing was restored"):
            Store.restore(tmp_path / name, tmp_path / "again")
