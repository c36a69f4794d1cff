"""Obligations: which nodes must hold for a value, and in which branch of which choice.

When the kind of a value is known, `expand` turns a node into obligations, or refuses. A choice
whose alternatives but one are refused at once is that one; other choices stay open, with a branch
for each alternative, which `refuse` ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..paths import Place
from .nodes import Choice, Node, Refusal

# Choices inside choices multiply. A node that would lead to more nodes than this (`Node.width`) is
# left to the validator, and so are more obligations in branches, for one value.
BRANCHED: Final = 400
_NONE_LEFT: Final = "no alternative is left, the last one: "


class Branch:
    """One alternative of an open choice."""

    __slots__ = ("choice", "ended", "reason")

    def __init__(self) -> None:
        self.ended = False
        # Once it has ended: why, and at which value.
        self.reason: Reason | None = None
        self.choice: OpenChoice

    @property
    def gone(self) -> bool:
        """True if this branch or one around it has ended."""
        branch: Branch | None = self
        while branch is not None:
            if branch.ended:
                return True
            branch = branch.choice.around
        return False


class OpenChoice:
    """A choice at one value: how many of its branches are left, and the branch that contains it.

    `rule` is given as the reason when none is left; None if a branch says better why.
    """

    __slots__ = ("agrees", "around", "first", "left", "rule")

    def __init__(self, around: Branch | None, branches: Sequence[Branch], rule: str | None) -> None:
        self.around = around
        self.left = len(branches)
        self.rule = rule if self.left > 1 else None
        # Why the first branch ended, and whether the others ended for the same reason.
        self.first: Reason | None = None
        self.agrees = True
        for branch in branches:
            branch.choice = self


Obligation = tuple[Node, Branch | None]
Where = tuple[Place | None, int]
Reason = tuple[Refusal, Where]
# A member that is refused: what its object was asked at first, its key, its value or the beginning
# of that, and whether it is all of it.
Naming = tuple[list[Obligation], Any, Any, bool]
Refused = list[tuple[Branch | None, Refusal]]


def alive(obligations: list[Obligation]) -> list[Obligation]:
    """Those whose branch has not ended."""
    for one in obligations:
        if one[1] is not None:
            return [one for one in obligations if one[1] is None or not one[1].gone]
    return obligations


def expand(expected: list[Obligation], kind: int) -> tuple[list[Obligation], Refused]:
    """The obligations of a value of this kind that has begun, and the refusals of one."""
    active: list[Obligation] = []
    refused: Refused = []
    if len(expected) == 1 and expected[0][1] is None:
        node = expected[0][0]
        # A property of a compiled class is a call; this one is known after the first.
        others = node._others if node._others is not None else node.others
        if len(others) == 1 and node._says_nothing:  # a reference, as a rule
            node, others = others[0], ()
        if not others and not node.choices:
            return _simple(node, kind)
    elif expected:
        # What must hold anyway comes first: inside of a branch it need not be asked again.
        expected = sorted(dict.fromkeys(expected), key=_is_branched)
    expansion = _Expansion(kind)
    for node, branch in expected:
        if branch is not None and (len(active) > BRANCHED or branch.gone):
            continue
        refusal = expansion.node(node, branch, active)
        if refusal is not None:
            refused.append((branch, refusal))
    return active, refused


def _simple(node: Node, kind: int) -> tuple[list[Obligation], Refused]:
    """The most frequent case: one node, no choices."""
    if not node.kinds & kind:
        return [], [(None, node.mismatch(kind))]
    idle = node._idle if node._idle is not None else node.idle
    return [(node, None)] if kind & ~idle else [], []


def _is_branched(obligation: Obligation) -> bool:
    return obligation[1] is not None


def refuse(refused: Refused, where: Where, naming: Naming | None = None) -> Reason | None:
    """End the branches that these refusals, all certain at one character, refuse.

    Returns why the value itself is refused, if one outside of all choices is among them.

    Of a choice that has one branch left after that, this branch alone says from now on why not.
    """
    narrowed: list[OpenChoice] = []
    for branch, refusal in refused:
        last = _end(branch, (refusal, where), naming, narrowed)
        if last is not None:
            return last
    for choice in narrowed:
        if choice.left == 1:
            choice.rule = None
    return None


def _end(
    branch: Branch | None, reason: Reason, naming: Naming | None, narrowed: list[OpenChoice]
) -> Reason | None:
    while branch is not None:
        if branch.gone:
            return None
        branch.ended = True
        branch.reason = reason
        choice = branch.choice
        choice.left -= 1
        choice.first = choice.first or reason
        choice.agrees = choice.agrees and choice.first == reason
        if choice.left:
            narrowed.append(choice)
            return None
        named = None if naming is None else _reason_of_the_named(choice, naming)
        if named is not None:
            reason = named
        elif not choice.agrees:
            reason = _last(choice.rule, reason[0]), reason[1]
        branch = choice.around
    return reason


def _last(rule: str | None, refusal: Refusal) -> Refusal:
    """The refusal of a choice whose last branch is refused."""
    if rule is None:
        return refusal
    text = refusal.text.removeprefix(_NONE_LEFT)  # said once, however deep choices stand
    return Refusal(rule, _NONE_LEFT + text, refusal.path)


def _reason_of_the_named(choice: OpenChoice, naming: Naming) -> Reason | None:
    """Why the alternative that a member names had ended before the member came.

    Of `{"bark": -5, "kind": "dog"}` dogs end at -5, and cats, which are left, at the "d". But it is
    said to be a dog, so that -5 is the reason. None if the member names none, or several that ended
    for different reasons.
    """
    asked, key, value, whole = naming
    reasons = {
        branch.reason
        for node, branch in asked
        if branch is not None and branch.choice is choice and node.members is not None
        if any(_names(child, value, whole) for child in node.members.properties.get(key, ()))
    }
    return reasons.pop() if len(reasons) == 1 else None


def _names(node: Node, value: Any, whole: bool) -> bool:
    """True if this is, or begins, one of the few values that a node allows."""
    for part in node.parts:
        if part.texts is None:
            continue
        if isinstance(value, str):
            return value in part.texts if whole else any(it.startswith(value) for it in part.texts)
        return part.end_validator is not None and part.end_validator.refusal(value) is None
    return False


class _Expansion:
    """One value of a known kind, and the nodes that are known to hold for it."""

    __slots__ = ("_always", "_kind")

    def __init__(self, kind: int) -> None:
        self._kind = kind
        self._always: set[Node] = set()

    def node(self, node: Node, branch: Branch | None, out: list[Obligation]) -> Refusal | None:
        """Add what a node asks, or say why a value of this kind is refused.

        One of too many parts is left to the validator.
        """
        kind = self._kind
        parts = node.parts
        if len(parts) > BRANCHED:
            return None
        if self._always or len(parts) > 1:
            parts = tuple([part for part in parts if part not in self._always])
        for part in parts:
            if not part.kinds & kind:
                return part.mismatch(kind)
            if kind & ~part.idle:
                out.append((part, branch))
        if branch is None:
            self._always.update(parts)
        for part in parts:
            for choice in part.choices:
                refusal = self._choice(choice, branch, out)
                if refusal is not None:
                    return refusal
        return None

    def _choice(
        self, choice: Choice, around: Branch | None, out: list[Obligation]
    ) -> Refusal | None:
        """As `node`, for a choice.

        A branch that asks nothing more cannot end, and then nor can its choice. So it is with a
        node that leads back to itself, or to more nodes than may be looked at.
        """
        branches: list[Branch] = []
        obligations: list[Obligation] = []
        refusal = Refusal(choice.rule or "anyOf", "there is no alternative")
        if choice.width > BRANCHED:
            return None
        for node in choice.alternatives:
            branch, asked = Branch(), len(obligations)
            refused = self.node(node, branch, obligations)
            if refused is not None:
                del obligations[asked:]
                refusal = _last(choice.rule, refused)
            elif len(obligations) == asked:
                return None
            else:
                branches.append(branch)
        if not branches:
            return refusal
        OpenChoice(around, branches, choice.rule)
        if len(out) + len(obligations) <= BRANCHED:
            out += obligations
        return None
