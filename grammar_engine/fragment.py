"""Expressions that many grammars have, made once for a process.

Idea. An expression is a stretch of records, each of which refers to earlier ones. So one that was made in a builder of its own is copied
into another as a whole (`Builder.copy`), with ids and offsets moved: that takes a fiftieth of the time to make it.

Invariants. A fragment never changes, and has no record that its expression is not made of. Ids below `first` are of expressions that each
builder begins with. For a builder a copy is new, whatever equal ones it has; in the core they are one again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .ir import OFFSETS, PARTS, Builder, records_of

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
        self.first = builder.n_exprs
        root = make(builder)
        records = list(records_of(builder.words))
        used = {root}
        for i in reversed(range(self.first, len(records))):
            op, operands = records[i]
            if i in used and op in PARTS:
                used.update(operands[PARTS[op]])
        ids = {old: self.first + i for i, old in enumerate(sorted(i for i in used if i >= self.first))}
        self.root, self.n_exprs = ids.get(root, root), len(ids)
        self.words: list[int] = []
        self.data = bytes(builder.data)
        self.parts: list[int] = []
        self.offsets: list[int] = []
        for i in ids:
            op, operands = records[i]
            places = range(len(self.words) + 2, len(self.words) + 2 + len(operands))
            self.words += (op, len(operands), *operands)
            for at in places[PARTS[op]] if op in PARTS else ():
                if self.words[at] >= self.first:
                    self.words[at] = ids[self.words[at]]
                    self.parts.append(at)
            self.offsets += places[OFFSETS[op]] if op in OFFSETS else ()
