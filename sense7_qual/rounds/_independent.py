"""Which decisions a coder made before seeing another's: the independent ones, which agreement is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from sense7_qual.acts import Act, shows_suggestions
from sense7_qual.frames import is_model
from sense7_qual.rounds._rounds import Round

Seen = Literal["suggestion", "others"]
Pair = tuple[str, str]
"""A coder and a unit."""
Finished = tuple[str, str, str | None]
"""A coder, a unit and the round in which it was finished."""

_LATEST: Final = "9999"


@dataclass(frozen=True, slots=True)
class Independent:
    """What coders decided before they saw a suggestion or another's decisions on the same text.

    Attributes
    ----------
    acts : list of Act
        The acts without what was decided on a text later.
    later : dict of (str, str, str or None) to str
        What was finished later, by coder, unit and round, and what its coder had seen by then: a "suggestion"
        or "others".
    """

    acts: list[Act]
    later: dict[Finished, Seen]

    def __repr__(self) -> str:
        return f"Independent({len(self.acts)} acts, {len(self.later)} finished later)"


def independent(acts: Iterable[Act], rounds: Sequence[Round]) -> Independent:
    """Keep what each coder decided on a text before they could know what a model or another coder thinks.

    A coder could read another's decisions on a text once a round was unblinded in which another had finished
    it, and knows them by ruling on the text. Where coding is in no round, nothing says whether it was blind:
    it counts as independent. Training is left out of this: gold is nobody's decision.

    Parameters
    ----------
    acts : iterable of Act
        Each coder's in their order.
    rounds : sequence of Round
        Those that the acts open.
    """
    order = list(acts)
    readable = _readable(order, rounds)
    latest: dict[str, str] = {}
    told: dict[Pair, Seen] = {}
    kept: list[Act] = []
    later: dict[Finished, Seen] = {}
    for act in order:
        # A clock that is put back makes nobody's later decision an earlier one.
        at = latest[act.coder] = max(act.at, latest.get(act.coder, ""))
        pair = (act.coder, str(act.unit_id))
        if shows_suggestions(act):
            told.setdefault(pair, "suggestion")
        elif act.kind == "rule" or at >= readable.get(pair, _LATEST):
            told.setdefault(pair, "others")
        if not act.traits.decides or pair not in told:
            kept.append(act)
        elif act.kind == "finish":
            later[*pair, act.round] = told[pair]
    return Independent(kept, later)


def _readable(acts: Sequence[Act], rounds: Sequence[Round]) -> dict[Pair, str]:
    """Return from when on each coder could read what another had decided on a unit."""
    opened = {one.name: one.unblinded_at for one in rounds if not one.is_training and one.unblinded_at}
    finished: dict[str, dict[str, str]] = {}
    coders = sorted({act.coder for act in acts if act.kind == "finish" and not is_model(act.coder)})
    for act in acts:
        unblinded = opened.get(str(act.round))
        if act.kind == "finish" and unblinded is not None and not is_model(act.coder):
            at = max(unblinded, act.at)
            by = finished.setdefault(str(act.unit_id), {})
            by[act.coder] = min(at, by.get(act.coder, at))
    readable: dict[Pair, str] = {}
    for unit_id, by in finished.items():
        for coder in coders:
            times = [at for other, at in by.items() if other != coder]
            if times:
                readable[coder, unit_id] = min(times)
    return readable
