from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from sense7_qual.errors import ImportRefused, StoreError, TableError
from sense7_qual.models import Embedder, embedder
from sense7_qual.models._caches import Reply, ReplyCache, VectorCache, clear_cache

WEATHER = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
PRIVATE = "my name is Xanthippe Quill"


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    return embedder()


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> NoReturn:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def model_folder(folder: Path) -> Path:
    """Write a folder that looks like a model, without weights that could be loaded."""
    folder.mkdir()
    modules = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def vector(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


# --- the model ---------------------------------------------------------------------------------------


@pytest.mark.model
@pytest.mark.usefixtures("no_network")
def test_vectors_are_those_of_the_published_model(
    minilm: Embedder, capsys: pytest.CaptureFixture[str]
) -> None:
    # Sentence-Transformers documentation, "Quickstart", all-MiniLM-L6-v2: cosines of these sentences.
    vectors = minilm(WEATHER)
    published = [[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]
    np.testing.assert_allclose(vectors @ vectors.T, published, atol=5e-4)
    assert vectors.dtype == np.float32
    assert vectors.shape == (3, minilm.dimensions) == (3, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    printed = capsys.readouterr()
    assert printed.out == printed.err == ""


@pytest.mark.model
def test_a_vector_does_not_depend_on_the_texts_beside_it(minilm: Embedder) -> None:
    texts = [f"{WEATHER[i % 3]} {'and then some more ' * (i % 9)}{i}" for i in range(27)]
    together = minilm(texts)
    alone = embedder(batch_size=1)(texts)
    assert np.abs(together - alone).max() < 5e-7
    np.testing.assert_array_equal(minilm([*texts, texts[0]])[-1], minilm([*texts, texts[0]])[0])


@pytest.mark.model
def test_no_texts_give_no_rows(minilm: Embedder) -> None:
    assert minilm([]).shape == (0, 384)


@pytest.mark.model
def test_texts_longer_than_the_model_reads_are_said(minilm: Embedder) -> None:
    with pytest.warns(UserWarning, match="1 of 2 texts are longer than the 256 tokens") as warned:
        minilm(["short", f"{PRIVATE} " * 200])
    assert "Xanthippe" not in str(warned[0].message)


@pytest.mark.model
def test_a_saved_folder_gives_the_same_vectors_under_its_own_name(minilm: Embedder, tmp_path: Path) -> None:
    shutil.copytree(minilm.folder, tmp_path / "ours")
    ours = embedder(tmp_path / "ours")
    assert ours.model_id == minilm.model_id.replace("all-MiniLM-L6-v2", "ours")
    np.testing.assert_array_equal(ours(WEATHER), minilm(WEATHER))


@pytest.mark.model
def test_the_cache_gives_the_same_vectors_without_the_model(tmp_path: Path) -> None:
    first = embedder(cache=tmp_path / "vectors")
    done: list[tuple[int, int]] = []
    vectors = first([*WEATHER, WEATHER[0]])
    again = embedder(cache=tmp_path / "vectors", progress=lambda done_, total: done.append((done_, total)))
    np.testing.assert_array_equal(again([*WEATHER, WEATHER[0]]), vectors)
    assert again._loaded == []
    assert done == [(3, 3)]


@pytest.mark.model
def test_an_interruption_loses_one_chunk_at_most(tmp_path: Path) -> None:
    class StoppedError(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done:
            raise StoppedError

    texts = [f"text {number}" for number in range(300)]
    with pytest.raises(StoppedError):
        embedder(cache=tmp_path, progress=stop)(texts)
    seen: list[int] = []
    vectors = embedder(cache=tmp_path, progress=lambda done, total: seen.append(done))(texts)
    assert seen == [256, 300]
    assert np.abs(vectors - embedder()(texts)).max() < 5e-7


@pytest.mark.model
def test_a_bar_is_shown_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    embedder(progress=True)(WEATHER)
    shown = capsys.readouterr().err
    assert "embedding:   0%" in shown
    assert shown.endswith(" \r"), "a bar that has come to its end is wiped out"


# --- which model -------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_model_is_not_loaded_before_it_is_needed() -> None:
    code = (
        "import sys; from sense7_qual.models import embedder; embedder();"
        "print([name for name in ('torch', 'transformers', 'bertopic') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_model_id_follows_what_decides_a_vector(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "m")
    first = embedder(folder).model_id
    (folder / "README.md").write_text("words")
    (folder / "onnx").mkdir()
    (folder / "onnx" / "config.json").write_text("{}")
    assert embedder(folder).model_id == first
    (folder / "config.json").write_text('{"a": 1}')
    second = embedder(folder).model_id
    (folder / "model.safetensors").write_bytes(b"weightz")
    assert len({first, second, embedder(folder).model_id}) == 3


def test_a_model_with_code_of_its_own_is_refused(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "m")
    (folder / "modules.json").write_text(json.dumps([{"type": "evil.Transformer"}]))
    with pytest.raises(ImportRefused, match=r"needs its own code \('evil.Transformer'\)"):
        embedder(folder)


def test_pickled_weights_are_refused(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "m")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ImportRefused, match=r"without safetensors weights \('pytorch_model.bin'\)"):
        embedder(folder)


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportRefused, match=r"without a readable modules\.json"):
        embedder(tmp_path)


@pytest.mark.parametrize("model", ["nowhere", "/nowhere/at/all", "./nowhere", Path("some/where")])
def test_a_path_that_is_no_folder_is_refused(model: str | Path) -> None:
    with pytest.raises(ImportRefused, match="not a folder"):
        embedder(model)


def test_a_hub_name_without_a_local_copy_or_a_network(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ImportRefused, match="'owner/name-of-none' is not in the local copy of the hub"):
        embedder("owner/name-of-none")


def test_a_batch_size_below_one_is_refused() -> None:
    with pytest.raises(TableError, match="batch_size of 1 or more – found 0"):
        embedder(batch_size=0)


def test_what_is_not_a_text_is_refused_by_row() -> None:
    embed = embedder()
    with pytest.raises(TableError, match="found 'row 1: NoneType', 'row 2: float'") as refused:
        embed([PRIVATE, None, float("nan")])  # type: ignore[list-item]
    assert "Xanthippe" not in str(refused.value)
    with pytest.raises(TableError, match="found one string"):
        embed(PRIVATE)


# --- the cache ---------------------------------------------------------------------------------------


def test_the_cache_keeps_vectors_by_model_and_text(tmp_path: Path) -> None:
    VectorCache(tmp_path).save("a", {"x": vector(1, 2), "": vector(3, 4), "x\ud800": vector(5, 6)})
    found = VectorCache(tmp_path).load("a", ["x", "", "x\ud800", "y"])
    assert {text: row.tolist() for text, row in found.items()} == {"x": [1, 2], "": [3, 4], "x\ud800": [5, 6]}
    assert VectorCache(tmp_path).load("b", ["x"]) == {}


def test_the_cache_holds_no_text_and_no_plain_hash_of_one(tmp_path: Path) -> None:
    import hashlib

    cache = VectorCache(tmp_path / "c")
    cache.save("m", {PRIVATE: vector(1)})
    stored = b"".join(path.read_bytes() for path in (tmp_path / "c").iterdir())
    assert b"Xanthippe" not in stored
    assert hashlib.sha256(PRIVATE.encode()).digest() not in stored
    assert "Xanthippe" not in repr(cache)
    assert VectorCache(tmp_path / "d")._key != cache._key  # so another folder's digests say nothing of this
    assert cache._key.hex() not in repr(cache)


def test_the_cache_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    VectorCache(tmp_path / "c").save("m", {"x": vector(1)})
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode) for path in [tmp_path / "c", *(tmp_path / "c").iterdir()]
    }
    assert modes == {"c": 0o700, "key": 0o600, "vectors.sqlite": 0o600}


def test_a_lost_key_or_database_costs_the_vectors_only(tmp_path: Path) -> None:
    VectorCache(tmp_path).save("m", {"x": vector(1)})
    (tmp_path / "key").unlink()
    assert VectorCache(tmp_path).load("m", ["x"]) == {}
    (tmp_path / "vectors.sqlite").unlink()
    assert VectorCache(tmp_path).load("m", ["x"]) == {}


def test_a_cache_on_a_disk_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A memory stick, and some network folders."""

    def refused(*_: object) -> NoReturn:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    VectorCache(tmp_path).save("m", {"x": vector(1)})
    assert set(VectorCache(tmp_path).load("m", ["x"])) == {"x"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["key", "vectors.sqlite"]


def test_clearing_a_cache_leaves_no_vector_and_no_reply(tmp_path: Path) -> None:
    cache, replies = VectorCache(tmp_path / "c"), ReplyCache(tmp_path / "r")
    cache.save("m", {PRIVATE: vector(1.7), "x": vector(2)})
    replies.save(b"what was asked", Reply(PRIVATE))
    (tmp_path / "r" / ".left.part").write_text(PRIVATE, "utf-8")  # by a kernel that was killed
    assert (clear_cache(tmp_path / "c"), clear_cache(str(tmp_path / "r"))) == (2, 1)
    assert cache.load("m", [PRIVATE, "x"]) == {}
    assert replies.load(b"what was asked") is None
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert vector(1.7).tobytes() not in stored
    assert b"Xanthippe" not in stored
    assert clear_cache(tmp_path / "c") == 0
    cache.save("m", {"x": vector(2)})
    with pytest.raises(StoreError, match="is not a cache of embedder or chat"):
        clear_cache(tmp_path)


def test_a_batch_is_saved_whole_or_not_at_all(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path)
    with pytest.raises(StoreError, match="too big"):
        cache.save("m", {"x": vector(1), "y": np.ones(300_000, dtype=np.float32)})
    assert cache.load("m", ["x", "y"]) == {}


def test_of_two_texts_with_one_number_neither_gets_the_vector_of_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = VectorCache._place
    monkeypatch.setattr(VectorCache, "_place", lambda *args: (7, place(*args)[1]))
    cache = VectorCache(tmp_path)
    cache.save("m", {"x": vector(1)})
    assert cache.load("m", ["x", "y"])["x"].tolist() == [1]
    cache.save("m", {"y": vector(2)})
    assert {text: each.tolist() for text, each in cache.load("m", ["x", "y"]).items()} == {"y": [2]}


def test_what_is_not_a_cache_is_said(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "vectors.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreError, match=r"found: file is not a database – delete the folder"):
        VectorCache(tmp_path / "a").load("m", ["x"])
    (tmp_path / "a" / "key").write_bytes(b"short")
    with pytest.raises(StoreError, match="a key of 5 bytes"):
        VectorCache(tmp_path / "a")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="expected a folder of vectors"):
        VectorCache(tmp_path / "file")
