"""Questions to the chat server of the tests."""

from __future__ import annotations

import traceback

import pytest

from sense7_qual import models
from sense7_qual.models import Chat
from tests.helpers.chat_server import (
    Server,
)

PRIVATE = "my name is Xanthippe Quill"


KEY = "sk-very-secret-key-0123456789"


ASK = [{"role": "system", "content": "Rate."}, {"role": "user", "content": PRIVATE}]


def asking(server: Server, *, n: int = 100, **settings: object) -> Chat:
    chosen = {"base_url": server.base_url, "model": "m-1", "max_retries": 0, "timeout": 60.0, **settings}
    redacted = "redacted " if "redact" in settings else ""
    consent = f"send at most {n} {redacted}text{'s' * (n > 1)} to {server.destination}"
    return models.chat(**{"consent": consent, **chosen})  # type: ignore[arg-type]


def failure(chat: Chat, kind: type[Exception]) -> str:
    """Return the message of the error; neither text nor key stands anywhere in it or in what led to it."""
    with pytest.raises(kind) as caught:
        chat(ASK)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert "Xanthippe" not in shown
    assert KEY not in shown
    assert caught.value.__context__ is None
    return str(caught.value)
