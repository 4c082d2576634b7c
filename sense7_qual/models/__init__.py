"""Models as callables: sentence embeddings on this machine, and language models behind an address.

Everything below this package takes a model as a plain function (`embed(texts)` gives an array,
`chat(messages)` a reply), so a study can bring its own; `embedder` and `chat` make them, and
`clear_cache` empties a folder in which they keep vectors or replies.

=====================================  =================  ============================
question                               function           file
=====================================  =================  ============================
Which texts are alike in meaning?      `embedder`         ``_embedder.py``
And of texts that memory cannot hold?  `embed_to_folder`  ``_stored_vectors.py``
What does a language model answer?     `chat`             ``_chat.py``, ``_openai.py``
What did it cost?                      `Usage`, `Cost`    ``_chat.py``
What is kept, and how does it go?      `clear_cache`      ``_caches.py``
=====================================  =================  ============================
"""

from __future__ import annotations

from sense7_qual.models._caches import clear_cache
from sense7_qual.models._chat import Chat as Chat, Cost as Cost, Usage as Usage, chat
from sense7_qual.models._embedder import Embedder as Embedder, embedder
from sense7_qual.models._openai import EndpointError as EndpointError, NoAnswer as NoAnswer
from sense7_qual.models._stored_vectors import StoredVectors as StoredVectors, embed_to_folder

__all__ = ["chat", "clear_cache", "embed_to_folder", "embedder"]


def __dir__() -> list[str]:
    return __all__
