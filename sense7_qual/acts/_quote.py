"""What is decided about a quote: what it is to show, whether it may be printed, and in whose words."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from sense7_qual._messages import did_you_mean, word
from sense7_qual.acts._validate import facet_values
from sense7_qual.errors import ActError

__all__ = [
    "QUOTE_ROLES",
    "QUOTE_STATES",
    "QuoteDecision",
    "check_paraphrase",
    "quote_decision",
    "quote_facets",
]

QUOTE_STATES: Final = ("chosen", "approved", "refused")
"""Set aside for print; may be printed as it stands; is not to be printed."""

QUOTE_ROLES: Final = ("shows", "disconfirms")
"""Whether a quote shows its code or speaks against it: it looks like the code and is none, say."""

_WORDS: Final = ("original", "paraphrase")
_LONGEST: Final = 10_000


class QuoteDecision(NamedTuple):
    """What one act decides about a quote."""

    role: str
    state: str
    paraphrased: bool


def quote_decision(facets: str | None) -> QuoteDecision:
    """Return what an act of kind ``quote`` decides, or raise `ActError` where its facets do not say it."""
    values = {} if facets is None else facet_values(facets)
    for name, known in (
        ("role", QUOTE_ROLES),
        ("state", QUOTE_STATES),
        ("words", _WORDS),
    ):
        if values.get(name) not in known:
            raise ActError(
                f"quote: expected {name} out of {', '.join(known)} – found {word(values.get(name))} – "
                f"{did_you_mean(str(values.get(name)), known)}"
            )
    if len(values) > 3:
        raise ActError("quote: expected role, state and words – found more – make it with acts.quote.")
    return QuoteDecision(values["role"], values["state"], values["words"] == "paraphrase")


def quote_facets(role: str, state: str, words: Literal["original", "paraphrase"]) -> str:
    """Return the facets of an act of kind ``quote``, after checking them."""
    facets = f"role={role} state={state} words={words}"
    for name, value, known in (("role", role, QUOTE_ROLES), ("state", state, QUOTE_STATES)):
        if value not in known:
            raise ActError(
                f"quote: expected {name} out of {', '.join(known)} – found {word(value)} – "
                f"{did_you_mean(str(value), known)}"
            )
    return facets


def check_paraphrase(paraphrased: bool, text: str | None) -> None:
    """Raise `ActError` where an act lacks the paraphrase that it speaks of; an erased one is empty."""
    if paraphrased != (text is not None) or len(text or "") > _LONGEST:
        found = "none" if text is None else f"{len(text)} characters"
        raise ActError(
            f"quote: expected a paraphrase of at most {_LONGEST} characters with words=paraphrase, and none "
            f"otherwise – found {found} – make it with acts.quote."
        )
