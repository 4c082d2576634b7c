"""Vectors of large sets: in chunks on the disk, resumed after an interruption, by one process or several."""

from __future__ import annotations

import json
import logging
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sense7_qual import themes
from sense7_qual.errors import QualError, StoreError, TableError
from sense7_qual.models import Embedder, StoredVectors, _stored_vectors as module, embed_to_folder, embedder

PRIVATE = "my name is Xanthippe Quill"
TEXTS = [f"{word} number {row}" for row in range(8) for word in ("the queue", "kindness", "a wrong fact")]


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    return embedder()


@pytest.mark.model
def test_vectors_are_those_of_the_embedder(minilm: Embedder, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    stored = embed_to_folder(
        [*TEXTS, *TEXTS],
        tmp_path / "v",
        embed=minilm,
        chunk=7,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert np.abs(stored(TEXTS[::-1]) - minilm(TEXTS[::-1])).max() < 1e-6
    assert stored.array.shape == (24, 384)
    assert isinstance(stored.array, np.memmap)
    assert seen == [(0, 24), (7, 24), (14, 24), (21, 24), (24, 24)]
    assert stored([]).shape == (0, 384)
    assert stat.S_IMODE((tmp_path / "v" / "vectors.npy").stat().st_mode) == 0o600


@pytest.mark.model
def test_what_was_interrupted_goes_on(
    minilm: Embedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = embed_to_folder(TEXTS, tmp_path / "whole", embed=minilm, chunk=6)
    done: list[int] = []
    asked = module._embedded

    def killed(parts: Any, embed: Any, client: Any) -> Any:
        for start, vectors in asked(parts, embed, client):
            if len(done) == 2:
                raise KeyboardInterrupt
            done.append(start)
            yield start, vectors

    monkeypatch.setattr(module, "_embedded", killed)
    with pytest.raises(KeyboardInterrupt):
        embed_to_folder(TEXTS, tmp_path / "v", embed=minilm, chunk=6)
    assert json.loads((tmp_path / "v" / "plan.json").read_text())["done"] == [0, 1]
    monkeypatch.setattr(module, "_embedded", asked)
    again: list[int] = []
    texts_asked: list[str] = []
    monkeypatch.setattr(Embedder, "__call__", _noting(texts_asked, Embedder.__call__))
    stored = embed_to_folder(
        TEXTS, tmp_path / "v", embed=minilm, chunk=6, progress=lambda done, _: again.append(done)
    )
    assert again == [12, 18, 24]
    assert texts_asked == TEXTS[12:]
    assert stored.array.tobytes() == whole.array.tobytes()
    texts_asked.clear()
    assert embed_to_folder(TEXTS, tmp_path / "v", embed=minilm, chunk=6).array.shape == (24, 384)
    assert texts_asked == []


def _noting(noted: list[str], call: Any) -> Any:
    def noting(self: Embedder, texts: list[str]) -> Any:
        noted.extend(texts)
        return call(self, texts)

    return noting


@pytest.mark.model
def test_other_texts_models_and_chunks_are_refused(minilm: Embedder, tmp_path: Path) -> None:
    embed_to_folder(TEXTS[:6], tmp_path / "v", embed=minilm, chunk=6)
    before = (tmp_path / "v" / "vectors.npy").read_bytes()
    other = replace(minilm, model_id="another")
    for texts, embed, chunk, match in (
        (TEXTS[:5], minilm, 6, "another set of texts"),
        (TEXTS[5::-1], minilm, 6, "another set of texts"),
        (TEXTS[:6], other, 6, "another model"),
        (TEXTS[:6], minilm, 5, "another chunk"),
    ):
        with pytest.raises(StoreError, match=match):
            embed_to_folder(texts, tmp_path / "v", embed=embed, chunk=chunk)
    assert (tmp_path / "v" / "vectors.npy").read_bytes() == before
    (tmp_path / "v" / "vectors.npy").write_bytes(before[:100])
    with pytest.raises(StoreError, match=r"vectors\.npy"):
        embed_to_folder(TEXTS[:6], tmp_path / "v", embed=minilm, chunk=6)
    (tmp_path / "v" / "plan.json").write_text("{")
    with pytest.raises(StoreError, match=r"plan\.json that cannot be read"):
        embed_to_folder(TEXTS[:6], tmp_path / "v", embed=minilm, chunk=6)


@pytest.mark.model
@pytest.mark.parametrize(
    ("texts", "chunk", "match"),
    [("one", 6, "one string"), ([], 6, "found none"), (["a", None], 6, "NoneType"), (["a"], 0, "chunk")],
)
def test_what_cannot_be_embedded_is_refused(
    minilm: Embedder, tmp_path: Path, texts: Any, chunk: int, match: str
) -> None:
    with pytest.raises(QualError, match=match):
        embed_to_folder(texts, tmp_path / "v", embed=minilm, chunk=chunk)
    assert not (tmp_path / "v").exists()


@pytest.mark.model
def test_no_text_is_in_the_folder_or_in_what_is_shown(minilm: Embedder, tmp_path: Path) -> None:
    stored = embed_to_folder([PRIVATE, "fine"], tmp_path / "v", embed=minilm)
    with pytest.raises(TableError, match="1 of 2") as refusal:
        stored(["fine", "Xanthippe"])
    assert "Xanthippe" not in str(refusal.value) + repr(stored)
    for file in (tmp_path / "v").iterdir():
        assert b"Xanthippe" not in file.read_bytes()


@pytest.mark.model
def test_themes_take_them(minilm: Embedder, tmp_path: Path) -> None:
    texts = [f"{text} again" for text in TEXTS] + TEXTS + [f"so {text}" for text in TEXTS]
    units = pd.DataFrame(
        {
            "unit_id": [f"u{row:02}" for row in range(72)],
            "text": texts,
            "document_id": "d",
            "case_id": "p",
            "position": range(72),
        }
    )
    stored = embed_to_folder(texts, tmp_path / "v", embed=minilm)
    settings: dict[str, Any] = {"granularity": 1.0, "n_resamples": 0}
    of_file = themes.fit(units, embed=stored, **settings)
    pd.testing.assert_series_equal(
        of_file.assignments["theme"], themes.fit(units, embed=minilm, **settings).assignments["theme"]
    )
    assert of_file.parameters["model"] == minilm.model_id


@pytest.mark.nightly
@pytest.mark.long
@pytest.mark.model
def test_two_workers_give_what_one_process_gives(
    minilm: Embedder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    distributed = pytest.importorskip("distributed")
    texts = [f"{text}, {more}" for text in TEXTS for more in ("fine", PRIVATE)]
    here = embed_to_folder(texts, tmp_path / "here", embed=minilm, chunk=8)
    with (
        caplog.at_level(logging.DEBUG),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path / "dask")
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        there = embed_to_folder(texts, tmp_path / "there", embed=minilm, chunk=8, client=client)
        broken = replace(minilm, folder=tmp_path / "nowhere", model_id="broken")
        broken._loaded.extend(minilm._loaded)  # here it works
        with pytest.raises(Exception, match="nowhere"):
            embed_to_folder(texts, tmp_path / "broken", embed=broken, client=client)
        logs = str(client.get_worker_logs()) + str(client.get_scheduler_logs())
    assert isinstance(there, StoredVectors)
    assert there.array.tobytes() == here.array.tobytes()
    assert "Compute Failed" in logs
    assert "Xanthippe" not in logs + caplog.text
