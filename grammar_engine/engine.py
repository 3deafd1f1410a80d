"""Engines: the automata that a grammar grows over a vocabulary, what of it can be switched off, and what it counts.

Idea. An `Engine` is one of the core: lexer states, Earley rows, configurations and their masks of one (grammar, vocabulary, switches). It
only grows; `grammar.py` says when a fresh one begins, a *generation*, and keeps those that are alive.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from ._native import check, ffi, handle_of, lib, new_err, place_for
from .checks import check_bool

if TYPE_CHECKING:
    from .grammar import Grammar
    from .vocabulary import Vocabulary


@dataclass(frozen=True)
class Switches:
    """Caches and fast paths of the engine. Masks are the same with each of them on or off; off is for tests and measurements.

    Parameters
    ----------
    mask_cache : bool
        Keep the mask of each configuration.
    inner_masks : bool
        Use lexeme-internal masks where much is allowed. Off: the trie is walked there; slices still shorten the walk.
    shared_inner : bool
        Keep lexeme-internal masks, and token automata of lexemes, with the vocabulary, for all grammars.
    goto_cache : bool
        Keep Earley steps.
    state_cache : bool
        Keep transitions of the lexer and of configurations.
    slices : bool
        Allow plain tokens together where any plain text can go on, those of a slice of the vocabulary where all it does can, and all below
        a node of the trie where that stays inside a lexeme; go down strings that are spelt out without states; of strings that
        `uniqueItems` compares walk what may still equal one.
    heirs : bool
        Make a mask by its difference from that of the state to which most bytes lead, or (`lexing="longest"`) of what a longer match would
        drop, or without lexemes that read little.
    clamping : bool
        Take states to be equal whose bounds no token can tell apart, and count what there is to spare; take counted text to have no most of
        characters, labels of host names to have none, and regular expressions as texts to have no names and groups, and look at the tokens
        that may differ. Take long strings that `uniqueItems` compares by their first bytes.
    table : bool
        Make the token automaton of a grammar that turns out to have few states, with the sixteenth matcher over it.
    shapes : bool
        Analyse lexemes by the shapes of tokens (``Hello`` is ``Aaaaa``) where they tell no letters or digits apart.
    outlines : bool
        Walk once for all Earley rows in which the same lexemes may come.
    ahead : bool
        Where a text is one lexeme, make masks with the first matcher, before they are asked for.
    """

    mask_cache: bool = True
    inner_masks: bool = True
    shared_inner: bool = True
    goto_cache: bool = True
    state_cache: bool = True
    slices: bool = True
    heirs: bool = True
    clamping: bool = True
    table: bool = True
    shapes: bool = True
    outlines: bool = True
    ahead: bool = True

    def __post_init__(self) -> None:
        for field in fields(self):
            check_bool(f"Switches.{field.name}", getattr(self, field.name))

    def _off(self) -> int:
        """The fields that are off as `ge_switch` bits: field i is bit i."""
        return sum(1 << i for i, field in enumerate(fields(self)) if not getattr(self, field.name))


@dataclass(frozen=True)
class Stats:
    """Counters of one engine (grammar and vocabulary), or sums over several. None depends on the machine.

    Attributes
    ----------
    bytes, mask_bytes : int
        Held by automata, and by kept masks.
    expressions, lexer_states, rows, return_points, rules, configurations : int
        Interned so far.
    cut_rows : int
        Of the rows, those made only to look ahead of a text, without what is around an expression. They do not count for `max_rows`.
    masks, mask_hits, mask_builds, mask_evictions : int
        Kept now; computed and found equal to a kept one; computed; dropped.
    trie_nodes, derivatives : int
        Visited; computed.
    bytes_copied : int
        Of masks, to compute, to keep and to write them. A mask that is kept already is one copy of a row, which is not counted.
    inner_builds, inner_hits : int
        Lexeme-internal masks computed; these and outlines found with the vocabulary.
    slice_hits : int
        Walks that a slice made short.
    heirs : int
        Masks made by their difference from another one.
    outlines, outline_hits : int
        Walks made for all Earley rows with the same lexemes, and found again.
    tables : int
        Token automata made.
    max_row_items, max_alternatives : int
        Largest Earley row; largest configuration.
    generation : int
        Number of fresh starts, from 1.
    """

    bytes: int = 0
    mask_bytes: int = 0
    expressions: int = 0
    lexer_states: int = 0
    rows: int = 0
    cut_rows: int = 0
    return_points: int = 0
    rules: int = 0
    configurations: int = 0
    masks: int = 0
    mask_hits: int = 0
    mask_builds: int = 0
    mask_evictions: int = 0
    trie_nodes: int = 0
    bytes_copied: int = 0
    derivatives: int = 0
    inner_builds: int = 0
    inner_hits: int = 0
    slice_hits: int = 0
    heirs: int = 0
    outlines: int = 0
    outline_hits: int = 0
    tables: int = 0
    max_row_items: int = 0
    max_alternatives: int = 0
    generation: int = 0

    def _and(self, other: Stats) -> Stats:
        """Both together: sums, and maxima where the name says so."""
        mine, theirs = asdict(self), asdict(other)
        return Stats(**{name: max(mine[name], theirs[name]) if name in _MAXIMA else mine[name] + theirs[name] for name in mine})


_STATS_FIELDS = [field.name for field in fields(Stats) if field.name != "generation"]  # of the core
_MAXIMA = {"max_row_items", "max_alternatives", "generation"}


class Engine:
    """A generation of automata of one (grammar, vocabulary, switches)."""

    __slots__ = ("__weakref__", "generation", "handle", "switches", "vocabulary")

    def __init__(self, grammar: Grammar, vocabulary: Vocabulary, switches: Switches, generation: int):
        self.generation = generation
        self.vocabulary, self.switches = vocabulary._handle, switches
        made, err = place_for("ge_engine"), new_err()
        check(lib.ge_engine_new(grammar._handle, vocabulary._handle, switches._off(), made, err), err)
        self.handle = handle_of(made)

    def stats(self) -> Stats:
        """The counters at this moment."""
        out = ffi.new("ge_stats *")
        lib.ge_engine_stats(self.handle, out)
        return Stats(generation=self.generation, **{name: getattr(out, name) for name in _STATS_FIELDS})

    def n_bytes(self) -> int:
        """Held by automata and kept masks."""
        out = ffi.new("ge_stats *")
        lib.ge_engine_stats(self.handle, out)
        return int(out.bytes + out.mask_bytes)
