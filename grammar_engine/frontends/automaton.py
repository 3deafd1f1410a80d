"""Automata over bytes: the grammar of the texts that one accepts.

Idea. A nonterminal for each state, and for each state that it leads to a rule: one byte out of those that lead there, then that state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ir import Builder
from ..report import Entry, Report

NO_STATE = 0xFFFFFFFF


def build(builder: Builder, follow: Callable[[int, int], int], accepts: Sequence[bool]) -> tuple[Report, bool]:
    """Compile a deterministic automaton into `builder`.

    Parameters
    ----------
    builder : Builder
        Empty; filled by this call.
    follow : callable of (state, byte) to state
        NO_STATE where a text cannot go on. State 0 is the start.
    accepts : sequence of bool
        By state: a text may end there.

    Returns
    -------
    Report
    bool
        Whether some state leads to none in which a text may end. No grammar knows such.
    """
    states = [builder.nonterminal(f"state {state}") for state in range(len(accepts))]
    builder.start = states[0]
    sources: list[list[int]] = [[] for _ in states]  # of each state, from where a byte leads to it
    for state, symbol in enumerate(states):
        ways: dict[int, list[int]] = {}
        for byte in range(256):
            to = follow(state, byte)
            if to != NO_STATE:
                ways.setdefault(to, []).append(byte)
        for to, members in ways.items():
            sources[to].append(state)
            builder.rule(symbol, [builder.lexeme(builder.byte_set(members), "byte"), states[to]])
        if accepts[state]:
            builder.rule(symbol, [])
    ending = {state for state in range(len(states)) if accepts[state]}
    todo = [*ending]
    while todo:
        more = [state for state in sources[todo.pop()] if state not in ending]
        ending.update(more)
        todo += more
    return Report(enforced=[Entry("", "automaton", f"{len(states)} states over bytes")]), len(ending) < len(states)
