"""Models as callables: sentence embeddings on this machine, and language models behind an address.

Everything below this package takes a model as a plain function (`embed(texts)` gives an array,
`chat(messages)` a reply), so a study can bring its own; `embedder` and `chat` make them.

==============================  ===============  ===============================================
question                        function         file
==============================  ===============  ===============================================
How do texts become vectors?    `embedder`       ``_embedder.py``, ``_vector_cache.py``
How do I ask a language model?  `chat`           ``_chat.py``, ``_openai.py``, ``_transport.py``
What did it answer before?      `chat(cache=…)`  ``_reply_cache.py``
==============================  ===============  ===============================================
"""

from __future__ import annotations

from sense7_qual.models._chat import Chat, Estimate, Usage, chat
from sense7_qual.models._embedder import Embedder, embedder
from sense7_qual.models._openai import EndpointError, NoAnswer

__all__ = ["Chat", "Embedder", "EndpointError", "Estimate", "NoAnswer", "Usage", "chat", "embedder"]
