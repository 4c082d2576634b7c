"""Models as functions: sentence embeddings on this machine, and language models behind an address.

The other packages take a model as a plain function (`embed(texts)` returns an array, `chat(messages)` a
reply), so a study can use its own; `embedder`, `chat` and `local_chat` make them, and `clear_cache` empties a
folder in which they keep vectors or replies.

=====================================  =================  ============================
question                               function           file
=====================================  =================  ============================
Which texts are alike in meaning?      `embedder`         ``_embedder.py``
And for texts too large for memory?    `embed_to_folder`  ``_stored_vectors.py``
What does a language model answer?     `chat`             ``_chat.py``, ``_openai.py``
And one in a file of my own?           `local_chat`       ``_local.py``
What did it cost?                      `Usage`, `Cost`    ``_chat.py``
What is kept, and how is it cleared?   `clear_cache`      ``_caches.py``
=====================================  =================  ============================
"""

from __future__ import annotations

from sense7_qual.models._caches import clear_cache
from sense7_qual.models._chat import Chat as Chat, Cost as Cost, Usage as Usage, chat
from sense7_qual.models._embedder import Embedder as Embedder, embedder
from sense7_qual.models._local import local_chat
from sense7_qual.models._openai import EndpointError as EndpointError, NoAnswer as NoAnswer
from sense7_qual.models._stored_vectors import StoredVectors as StoredVectors, embed_to_folder

__all__ = ["chat", "clear_cache", "embed_to_folder", "embedder", "local_chat"]


def __dir__() -> list[str]:
    return __all__
