"""Expressions that many grammars have, made once for a process.

Idea. An expression is a stretch of records, each of which refers to earlier ones. So one that was made in a builder of its own is copied
into another as a whole (`Builder.copy`), with ids and offsets moved: that takes a tenth of the time to make it.

Invariants. A fragment never changes. Ids below `first` are of expressions that each builder begins with. In a builder a copy is one
expression, however often it is asked for; what else is equal to it there, or to a part of it, is another for the builder, and one again in the core.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .ir import OFFSETS, PARTS, Builder

if TYPE_CHECKING:
    from collections.abc import Callable

    from .ir import Expr


class Fragment:
    """An expression with all that it is made of.

    Parameters
    ----------
    make : callable
        Makes it in the builder that it is given.

    Attributes
    ----------
    words, data : list of int, bytes
        The records, and the strings that they point into, as in `Builder`.
    first, n_exprs, root : int
        The id of the first record, the number of records, the id of the expression.
    parts, offsets : list of int
        Where in `words` there are ids from `first` on, and offsets.
    """

    def __init__(self, make: Callable[[Builder], Expr]) -> None:
        builder = Builder()
        begin, self.first = len(builder.words), builder.n_exprs
        self.root = make(builder)
        self.words, self.data = builder.words[begin:], bytes(builder.data)
        self.n_exprs = builder.n_exprs - self.first
        self.parts: list[int] = []
        self.offsets: list[int] = []
        at = 0
        while at < len(self.words):
            op, end = self.words[at], at + 2 + self.words[at + 1]
            operands = range(at + 2, end)
            if op in PARTS:
                self.parts += [i for i in operands[PARTS[op]] if self.words[i] >= self.first]
            elif op in OFFSETS:
                self.offsets += operands[OFFSETS[op]]
            at = end
