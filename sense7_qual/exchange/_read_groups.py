"""The sets of a REFI-QDA project: groups of codes and of texts, and who finished what in files of our own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

import pandas as pd

from sense7_qual.exchange import _refi
from sense7_qual.exchange._archive import local
from sense7_qual.exchange._project import GROUPS
from sense7_qual.exchange._tree import Tree
from sense7_qual.tables import COVERAGE

__all__ = ["Groups", "groups_of"]


@dataclass(slots=True, repr=False)
class Groups:
    """What the sets of a project say."""

    of_codes: list[tuple[str, str | None, str | None]] = field(
        default_factory=list
    )  # group, description, code
    of_texts: dict[str, set[str]] = field(default_factory=dict)
    finished: list[dict[str, str | None]] = field(default_factory=list)
    undecided: list[tuple[str, str, str]] = field(default_factory=list)

    def frame(self) -> pd.DataFrame:
        """Return the groups of codes (`GROUPS`)."""
        return GROUPS.check(pd.DataFrame(self.of_codes, columns=list(GROUPS.columns)), as_written=True)

    def coverage(self, fingerprint: str | None) -> pd.DataFrame:
        """Return who finished which text (`tables.COVERAGE`)."""
        rows = pd.DataFrame(self.finished, columns=list(COVERAGE.columns)).assign(codebook=fingerprint)
        return COVERAGE.check(rows, as_written=True)

    def open_decisions(self) -> pd.DataFrame:
        """Return the codes left undecided on finished texts."""
        return pd.DataFrame(self.undecided, columns=["unit_id", "coder", "code"], dtype="string")


def groups_of(
    tree: Tree,
    texts: Mapping[str, str],
    codes: Mapping[str, str],
    *,
    ours: bool,
    lost: Mapping[str, list[str]],
) -> Groups:
    """Parse the sets of a project; `texts` and `codes` map its identifiers to ids."""
    groups, names = Groups(), Counter[str]()
    for each in tree.under("Sets", "Set"):
        if _refi.holds_codebook(each):
            tree.of(each, "MemberCode", "Description")
            continue
        name = _refi.name_of(each, ours=ours)
        members = _known(tree, each, "MemberSource", texts, name, lost)
        described = _refi.description(each)
        if stated := _refi.lines_of(described, _refi.FINISHED):
            row = {"coder": stated["coder"], "round": stated.get("round")}
            groups.finished += [{"unit_id": unit_id, **row} for unit_id in members]
        elif stated := _refi.lines_of(described, _refi.UNDECIDED):
            tree.of(each, "MemberCode")
            groups.undecided += [(unit_id, stated["coder"], stated["code"]) for unit_id in members]
        else:
            names[name] += 1
            _add(
                tree,
                each,
                name if names[name] == 1 else f"{name} ({names[name]})",
                members,
                groups,
                codes,
                lost,
            )
            continue
        tree.description(each)
    if not groups.finished:
        lost["who finished which text: not in the file, so that no code is known to be absent"].append("all")
    return groups


def _add(
    tree: Tree, element: Element, name: str, members: list[str], groups: Groups, codes: Mapping[str, str],
    lost: Mapping[str, list[str]],
) -> None:  # fmt: skip
    """Add a group of another program: its texts become a column of units, its codes rows of a frame."""
    if members:
        groups.of_texts[name] = set(members)
    kinds = {local(each) for each in element}
    if "MemberCode" in kinds or not kinds & {"MemberSource", "MemberNote"}:  # a group of nothing is kept, too
        own = dict.fromkeys(_known(tree, element, "MemberCode", codes, name, lost))
        described = tree.description(element) or None
        groups.of_codes += [(name, described, code) for code in own or [None]]
    elif not members:
        lost["groups without a text or code that was read: left out"].append(name)


def _known(
    tree: Tree, element: Element, kind: str, known: Mapping[str, str], name: str,
    lost: Mapping[str, list[str]],
) -> list[str]:  # fmt: skip
    named = tree.references(element, kind)
    strangers = [name for guid in named if guid not in known]
    lost["members of groups that are no text or code that was read: left out"] += strangers
    return [known[guid] for guid in named if guid in known]
