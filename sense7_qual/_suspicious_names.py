"""Names of columns and coders that are likely nobody's: results, models, and what a sheet computes.

A coder called "final" or "gpt-4o" would count as one more person, who agrees with the people more than
they do with one another: an alpha of .69 becomes .79. Such a coder is asked about, never renamed or left
out. A table of decisions is warned of (`frames.as_people`); in a study, the first acts are refused until
somebody says that a person made them (`likely_model`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_RESULTS: Final = frozenset(
    {
        "final",
        "finals",
        "gold",
        "golden",
        "goldstandard",
        "adjudicated",
        "adjudication",
        "adjudicator",
        "consensus",
        "consensual",
        "majority",
        "pooled",
        "agreed",
        "resolved",
        "reconciled",
        "settled",
        "merged",
        "combined",
        "truth",
        "groundtruth",
        "reference",
        "standard",
        "target",
        "outcome",
        "label",
        "labels",
        "answer",
        "key",
        "decision",
        "verdict",
        "vote",
        "discussion",
        "discussed",
        "konsens",
        "endgültig",
        "entscheidung",
        "consenso",
        "final_code",
    }
)
"""What people decided together."""
_MODELS: Final = frozenset(
    {
        "gpt",
        "chatgpt",
        "llm",
        "llms",
        "claude",
        "gemini",
        "llama",
        "mistral",
        "mixtral",
        "qwen",
        "deepseek",
        "grok",
        "gemma",
        "bert",
        "roberta",
        "openai",
        "anthropic",
        "copilot",
        "ai",
        "bot",
        "chatbot",
        "chatbots",
        "machine",
        "model",
        "models",
        "modell",
        "classifier",
        "predicted",
        "prediction",
        "predictions",
        "pred",
        "auto",
        "automatic",
        "automated",
        "algorithm",
        "baseline",
        "svm",
    }
)
"""What machines are called."""
_COMPUTED: Final = frozenset(
    {
        "agree",
        "agrees",
        "agreement",
        "disagree",
        "disagreement",
        "match",
        "matches",
        "same",
        "equal",
        "diff",
        "difference",
        "conflict",
        "n",
        "count",
        "counts",
        "anzahl",
        "number",
        "votes",
        "percent",
        "kappa",
        "alpha",
        "check",
        "ok",
        "correct",
        "min",
        "max",
        "mode",
        "range",
        "weight",
        "confidence",
        "probability",
        "übereinstimmung",
        "einig",
        "gleich",
        "accord",
    }
)
"""What a sheet computes of its coders."""
_BETWEEN: Final = re.compile(r"[\W\d_]+")


PERSON_PREFIX: Final = "person-"
"""The beginning of the name of a person whose name would be asked about: "person-ai"."""


def is_known(name: str) -> bool:
    """Return True for a name that says itself whether it is a person's, a model's or computed."""
    return name.startswith((PERSON_PREFIX, "model-")) or name in ("consensus", "majority", "pooled")


def likely_results(names: Iterable[str]) -> list[str]:
    """Return the names that contain a word for what people decided together: "final", "consensus_2"."""
    return [name for name in names if not _RESULTS.isdisjoint(_words(name))]


def likely_models(names: Iterable[str]) -> list[str]:
    """Return the names that contain the name of a model or a machine: "gpt-4o", "model_x", "llm"."""
    return [name for name in names if not _MODELS.isdisjoint(_words(name))]


def likely_model(name: str) -> bool:
    """Return True for a name that is likely a model's, and does not say itself whose it is."""
    return bool(likely_models([name])) and not is_known(name)


def likely_computed(names: Iterable[str]) -> list[str]:
    """Return the names of columns that a sheet computes of others, alone or with a number: "agree", "n"."""
    return [name for name in names if (words := _words(name)) and _COMPUTED.issuperset(words)]


def _words(name: str) -> list[str]:
    return [word for word in _BETWEEN.split(name.casefold()) if word]
