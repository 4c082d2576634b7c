"""Which sentence carries a suggestion: the one without which its probability falls most."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sense7_qual.suggestions._features import Embed, Features, vectors
from sense7_qual.suggestions._frames import ByDefinition, ByModel
from sense7_qual.suggestions._texts import sentences

__all__ = ["evidence"]


def evidence(
    model: ByModel | ByDefinition, texts: list[str], features: Features, embed: Embed
) -> list[tuple[int, int]]:
    """Return the sentence that carries the suggestion in each text; of one sentence, that one.

    Where a classifier of sentences was fitted on coded spans, or where a definition alone suggests, it is the
    sentence that this scores highest.
    """
    spans = [sentences(text) for text in texts]
    of_text = np.repeat(np.arange(len(texts)), [len(own) for own in spans])
    flat = [span for own in spans for span in own]
    if isinstance(model, ByDefinition):
        score = model.described.similarity(vectors(_cut(texts, of_text, flat), embed))
    elif model.sentences is not None:
        score = model.sentences(vectors(_cut(texts, of_text, flat), embed))
    else:
        score = _fall(model, texts, of_text, flat, features, embed)
    best = [int(np.argmax(score[of_text == number])) for number in range(len(texts))]
    return [own[at] for own, at in zip(spans, best, strict=True)]


def _cut(texts: list[str], of_text: npt.NDArray[Any], spans: list[tuple[int, int]]) -> list[str]:
    return [texts[number][start:end] for number, (start, end) in zip(of_text, spans, strict=True)]


def _fall(
    model: ByModel,
    texts: list[str],
    of_text: npt.NDArray[Any],
    spans: list[tuple[int, int]],
    features: Features,
    embed: Embed,
) -> npt.NDArray[Any]:
    """Return how low the score is of each text without each of its sentences, the lowest highest."""
    alone = np.bincount(of_text, minlength=len(texts))[of_text] == 1
    rest = [
        texts[number] if single else texts[number][:start] + texts[number][end:]
        for number, (start, end), single in zip(of_text, spans, alone, strict=True)
    ]
    meaning = vectors(rest, embed)
    return -model.text_score(features.rows(rest, meaning), meaning)
