"""Vectors around a few axes, whose groups are known."""

from __future__ import annotations

import numpy as np

from sense7_qual.themes._communities import communities, fuzzy_graph
from sense7_qual.themes._neighbours import nearest_neighbours


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def planted(sizes: list[int], *, noise: float, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors around as many axes as there are sizes, mixed, and the axis of each."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return unit(np.eye(20)[truth] + noise * rng.normal(size=(len(truth), 20))), truth


def grouped(vectors: np.ndarray, *, resolution: float = 0.5, min_size: int = 5, k: int = 15) -> np.ndarray:
    graph = fuzzy_graph(nearest_neighbours(vectors, k))
    return communities(graph, resolution=resolution, min_size=min_size, seed=3, n_starts=5)
