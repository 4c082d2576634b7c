from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from sense7_qual.errors import ImportRefused
from sense7_qual.models import Embedder, _sentence_models, embedder

DATA = Path(__file__).parents[2] / "data"
WEATHER = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]


@pytest.fixture(scope="module")
def user_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        place = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(place))
        yield place


@pytest.fixture(scope="module")
def int8(user_cache: Path) -> Embedder:
    return embedder(precision="int8")


def kept(user_cache: Path) -> Path:
    (file,) = user_cache.glob("sense7_qual/models/*.int8")
    return file


@pytest.mark.model
def test_vectors_are_those_of_32_bits_to_a_cosine_of_99_hundredths(int8: Embedder) -> None:
    texts = pd.read_csv(DATA / "explanations.csv", dtype=str)["Comment"].tolist()[::4]
    texts += ["ok", "It was kind.", "too slow", " ".join(texts[:9]), "👍 ça va"]
    vectors, exact = int8(texts), embedder()(texts)
    cosines = (vectors * exact).sum(axis=1)
    assert cosines.min() >= 0.99
    assert cosines.mean() >= 0.997
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(texts), int8.dimensions) == (len(texts), 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert not np.array_equal(vectors, exact)


@pytest.mark.model
def test_a_vector_does_not_depend_on_the_texts_beside_it(int8: Embedder) -> None:
    texts = [*WEATHER, "far longer than the others " * 20]
    np.testing.assert_array_equal(int8(texts)[::-1], int8(texts[::-1]))
    np.testing.assert_array_equal(int8(texts)[2:3], int8([WEATHER[2]]))
    assert int8([]).shape == (0, 384)


@pytest.mark.model
def test_vectors_are_those_of_wider_products(int8: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = int8(WEATHER)
    monkeypatch.setattr(_sentence_models, "_overflows", lambda: True)
    np.testing.assert_array_equal(embedder(precision="int8")(WEATHER), vectors)


def test_the_product_that_is_tried_is_of_8_bit_numbers() -> None:
    import onnx

    model = onnx.load_model_from_string(_sentence_models._PRODUCT)
    onnx.checker.check_model(model, full_check=True)
    assert [node.op_type for node in model.graph.node] == ["MatMulInteger"]
    kinds = [given.type.tensor_type.elem_type for given in model.graph.input]
    assert kinds == [onnx.TensorProto.UINT8, onnx.TensorProto.INT8]


def test_a_processor_that_cuts_off_large_sums_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Path("/proc/cpuinfo")
    if told.exists() and {"avx512_vnni", "avx_vnni"} & set(told.read_text().split()):
        assert not _sentence_models._overflows()  # instructions that sum in 32 bits
    cut_off = SimpleNamespace(run=lambda names, given: [np.full((2, 2), 2 * 32767)])
    monkeypatch.setattr(_sentence_models, "_session", lambda model, wide: cut_off)
    assert _sentence_models._overflows()


@pytest.mark.model
def test_only_the_beginning_of_a_long_text_is_read_as_in_32_bits(int8: Embedder) -> None:
    text = "a first matter, and then another one; " * 60
    with pytest.warns(UserWarning, match="1 of 1 texts are longer than the 256 tokens"):
        vector = int8([text])
    with pytest.warns(UserWarning, match="1 of 1 texts are longer"):
        exact = embedder()([text])
    assert float((vector @ exact.T).item()) > 0.995


@pytest.mark.model
def test_vectors_of_the_two_precisions_are_kept_apart(int8: Embedder, tmp_path: Path) -> None:
    exact = embedder(cache=tmp_path)(WEATHER)
    again = embedder(precision="int8", cache=tmp_path)
    np.testing.assert_array_equal(again(WEATHER), int8(WEATHER))
    np.testing.assert_array_equal(embedder(cache=tmp_path)(WEATHER), exact)
    assert again.model_id.startswith("all-MiniLM-L6-v2-int8@sha256:")
    assert again.model_id.rpartition(":")[2] != embedder().model_id.rpartition(":")[2]
    assert "precision='int8'" in repr(again)


@pytest.mark.nightly
@pytest.mark.model
def test_a_damaged_model_is_made_anew(int8: Embedder, user_cache: Path) -> None:
    vectors = int8(WEATHER)
    whole = kept(user_cache).read_bytes()
    for damaged in (b"", whole[:-1], whole[:1_000_000] + b"x" + whole[1_000_001:]):
        kept(user_cache).write_bytes(damaged)
        np.testing.assert_array_equal(embedder(precision="int8")(WEATHER), vectors)
        assert kept(user_cache).read_bytes() == whole
    assert kept(user_cache).stat().st_mode & 0o077 == 0


@pytest.mark.model
def test_a_cache_that_cannot_be_written_does_no_harm(
    int8: Embedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = int8(WEATHER)
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    np.testing.assert_array_equal(embedder(precision="int8")(WEATHER), vectors)


@pytest.mark.nightly
@pytest.mark.model
def test_themes_of_8_bits_load_no_torch_and_name_the_model(int8: Embedder) -> None:
    int8(WEATHER)  # the model is there
    code = f"""
import json, sys
import pandas as pd
from sense7_qual import models, themes
texts = pd.read_csv({str(DATA / "explanations.csv")!r}, dtype=str)["Comment"].head(80)
units = pd.DataFrame({{"unit_id": [str(row) for row in range(80)], "text": texts, "document_id": "d",
                       "case_id": "p", "position": 1}})
found = themes.fit(units, embed=models.embedder(precision="int8"), seed=7, n_resamples=2)
heavy = ("torch", "transformers", "bertopic", "sentence_transformers", "umap", "onnx")
print(json.dumps([found.parameters["model"], [name for name in heavy if name in sys.modules]]))
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [int8.model_id, []]


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "modules.json").write_text(json.dumps([{"type": "sentence_transformers.models.Transformer"}]))
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "tokenizer.json").write_text("{}")
    bert = {"model_type": "bert", "hidden_act": "gelu"}
    mean = {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}
    for config, pooling, found in (
        ({**bert, "model_type": "mpnet"}, mean, "a model of type: 'mpnet'"),
        ({**bert, "hidden_act": "relu"}, mean, "an activation of kind: 'relu'"),
        ({**bert, "position_embedding_type": "relative_key"}, mean, "positions of kind: 'relative_key'"),
        (bert, {**mean, "pooling_mode_cls_token": True}, "pooling by mean: False"),
    ):
        (folder / "config.json").write_text(json.dumps(config))
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
        with pytest.raises(ImportRefused, match=rf"found {found} – use precision='float32'"):
            embedder(folder, precision="int8")
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode": "mean"}))
    assert embedder(folder, precision="int8").model_id.startswith("m-int8@sha256:")


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "onnxruntime" else there(name)
    )
    with pytest.raises(
        ImportRefused, match=r"onnxruntime is not installed – run pip install 'sense7_qual\[int8\]'"
    ):
        embedder(precision="int8")
