"""Expressions that many grammars have, made once for a process.

Idea. What was made in a builder of its own stands in another as one record, in which all its records are (`OP_FRAGMENT`). The core knows a
fragment that it has read. So what it made of common ones is kept, for each set of them that a grammar has, and grammars begin with a copy
(`_native`).

Invariants. A fragment never changes, and has no record that its expression is not made of. There is no fragment in it, and no error in its
patterns. For a builder a copy is new, whatever equal ones it has; in the core they are one again.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from .ir import OP_FRAGMENT, PARTS, Builder, records_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from .ir import Expr


class Fragment:
    """An expression with all that it is made of.

    Parameters
    ----------
    make : callable
        Makes it in the builder that it is given.
    is_common : bool
        Many grammars have it: what the core makes of it is kept, too.

    Attributes
    ----------
    words : array of int
        The record.
    """

    def __init__(self, make: Callable[[Builder], Expr], is_common: bool = False) -> None:
        self.is_common = is_common
        builder = Builder()
        root = make(builder)
        records = list(records_of(builder.words))
        used = {root}
        for i in reversed(range(len(records))):
            op, operands = records[i]
            if i in used and op in PARTS:
                used.update(operands[PARTS[op]])
            elif i in used and op == OP_FRAGMENT:
                raise ValueError("a fragment in a fragment")
        ids = {old: new for new, old in enumerate(sorted(used))}
        data = builder.data.ljust(-(-len(builder.data) // 4) * 4, b"\0")
        content = [len(builder.data), *(int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4))]
        for old in ids:
            op, operands = records[old]
            renamed = list(operands)
            if op in PARTS:
                renamed[PARTS[op]] = map(ids.__getitem__, operands[PARTS[op]])
            content += (op, len(renamed), *renamed)
        self.words = array("I", (OP_FRAGMENT, len(content), *content))
