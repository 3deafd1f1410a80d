"""The prefix cache: what was computed for the beginnings of texts, found again by hash.

Idea. A text is cut into blocks of a fixed number of tokens. A block is known by the tokens before it and its own, so the hash of both names
it, and one table holds the blocks of all texts: a new text whose first blocks are there takes them instead of computing them. Blocks that
nobody uses stay, up to a bound; those go first that were not used for longest, and of one text the last first.

    hashing.py   the names of blocks                    cache.py     the table: find, enter, leave, give up
    block.py     a block                                lease.py     the blocks of one running text
    pool.py      which idle block goes first

    kv.py        the payloads are keys and values of a model
    matchers.py  the payloads are states of a grammar
"""

from .cache import PrefixCache, Statistics
from .lease import Lease
from .matchers import MatcherCache

__all__ = ["Lease", "MatcherCache", "PrefixCache", "Statistics"]
