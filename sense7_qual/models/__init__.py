"""Models as callables: sentence embeddings that run on this machine, without a network.

Everything below this package takes a model as a plain function (`embed(texts)` gives an array), so a
study can bring its own; `embedder` makes one from the shipped model or from a folder.
"""

from __future__ import annotations

from sense7_qual.models.embeddings import Embedder, embedder

__all__ = ["Embedder", "embedder"]
