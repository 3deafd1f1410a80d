"""Token automata read back from outside, and what is known of them without the engine.

Idea. A state is judged by two references that share nothing. The oracle (tests/oracle) says which tokens may come after a text. The byte
automaton that a `TokenDFA` carries (its grammar, as a table) is small enough to be read in full, so all of a token automaton can be
compared with it: a token leads where its bytes lead.

What is read with `follow` and `mask_of` goes through the same calls of the core that `Guide` makes.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from grammar_engine import Grammar, TokenDFA
from grammar_engine._native import ffi, lib
from grammar_engine.errors import VocabularyError
from grammar_engine.frontends.automaton import NO_STATE
from oracle.earley import Recogniser
from oracle.mask import oracle_mask, step_bytes
from vocabularies import TinyVocabulary


def mask_bytes(dfa: TokenDFA, state: int) -> bytes:
    """The words of a mask."""
    words = array("I", [0xDEADBEEF]) * ((dfa.vocabulary.width + 31) // 32)
    assert lib.ge_dfa_fill_mask(dfa._handle, state, ffi.from_buffer("uint32_t[]", words)) >= 0
    return words.tobytes()


def mask_of(dfa: TokenDFA, state: int) -> set[int]:
    """The ids whose bit is set."""
    bits = bin(int.from_bytes(mask_bytes(dfa, state), "little"))
    return {token for token, bit in enumerate(reversed(bits[2:])) if bit == "1"}


def follow(dfa: TokenDFA, state: int, token: int) -> int:
    """The state after a token, or -1."""
    return int(lib.ge_dfa_next(dfa._handle, state, token))


def accepts(dfa: TokenDFA, state: int) -> bool:
    return bool(lib.ge_dfa_accepts(dfa._handle, state))


def reachable(dfa: TokenDFA, tokens: Iterable[int]) -> dict[int, tuple[int, ...]]:
    """State -> the first of the shortest sequences of `tokens` that lead there; without the state after an end of text."""
    tokens = list(tokens)
    found: dict[int, tuple[int, ...]] = {0: ()}
    pending = [0]
    for state in pending:
        for token in tokens:
            to = follow(dfa, state, token)
            if to >= 0 and to != dfa.num_states and to not in found:
                found[to] = (*found[state], token)
                pending.append(to)
    return found


class ByteTable:
    """The byte automaton of a `TokenDFA`."""

    def __init__(self, dfa: TokenDFA):
        self._handle = dfa._handle
        content = ffi.new("ge_dfa_content *")
        lib.ge_dfa_read(dfa._handle, content)
        self.accepts = [bool(content.byte_accepts[state]) for state in range(content.n_byte_states)]

    def read(self, state: int, text: bytes) -> int | None:
        """The state after `text`."""
        for byte in text:
            state = lib.ge_dfa_byte_next(self._handle, state, byte)
            if state == NO_STATE:
                return None
        return state


def check_against_bytes(dfa: TokenDFA, tiny: TinyVocabulary) -> int:
    """Every mask and every transition of `dfa` is what reading the bytes says, from each pair of states that some tokens lead to; and no
    two states do the same. Returns the number of masks compared.
    """
    table, spelt, eos = ByteTable(dfa), tiny.spelt, set(tiny.eos)
    partner: dict[int, int] = {0: 0}  # byte state -> state
    pending = [0]
    rows: dict[int, dict[int, int]] = {}
    for state in pending:
        rows[state] = {t: to for t, text in enumerate(spelt) if text and t not in eos and (to := table.read(state, text)) is not None}
        expected = rows[state].keys() | (eos if table.accepts[state] else set())
        own = partner[state]
        assert mask_of(dfa, own) == expected, (state, own)
        assert accepts(dfa, own) == table.accepts[state]
        for token in range(-1, len(spelt) + 2):
            to = follow(dfa, own, token)
            if token in eos and table.accepts[state]:
                assert to == dfa.num_states
            elif token in rows[state]:
                assert partner.setdefault(rows[state][token], to) == to >= 0
                if rows[state][token] not in rows and rows[state][token] not in pending:
                    pending.append(rows[state][token])
            else:
                assert to == -1
    assert mask_of(dfa, dfa.num_states) == eos
    assert [follow(dfa, dfa.num_states, token) for token in eos] == [dfa.num_states] * len(eos)
    blocks = refine(rows, table.accepts)
    assert len(set(partner.values())) == dfa.num_states == len(set(blocks.values()))
    return len(rows)


def refine(rows: dict[int, dict[int, int]], accepting: Sequence[bool]) -> dict[int, int]:
    """Moore's partition refinement: state -> block of the states that cannot be told apart by tokens."""
    block = {state: int(accepting[state]) for state in rows}
    count = 0
    while len(set(block.values())) != count:
        count = len(set(block.values()))
        names: dict[Any, int] = {}
        block = {
            state: names.setdefault((block[state], tuple((token, block[to]) for token, to in sorted(row.items()))), len(names))
            for state, row in rows.items()
        }
    return block


def check_against_oracle(dfa: TokenDFA, recogniser: Recogniser, tiny: TinyVocabulary) -> int:
    """The mask at each state, and after each of its tokens, is what the oracle says of a text that leads there.

    Returns the number of masks compared.
    """
    spelt, eos, masks = tiny.spelt, set(tiny.eos), 0
    known: dict[int, Any] = {0: recogniser.start()}
    for state in (pending := [0]):
        allowed = oracle_mask(recogniser, known[state], spelt, eos)
        assert mask_of(dfa, state) == allowed
        assert accepts(dfa, state) == recogniser.is_sentence(known[state])
        masks += 1
        for token in allowed - eos:
            to, text = follow(dfa, state, token), step_bytes(known[state], spelt[token])
            if to not in known:
                known[to] = text
                pending.append(to)
            else:
                masks += 1
                assert mask_of(dfa, to) == oracle_mask(recogniser, text, spelt, eos)
    assert len(known) == dfa.num_states
    return masks


def oracle_is_stuck(recogniser: Recogniser, tiny: TinyVocabulary, text: bytes) -> bool:
    """Whether no token comes after `text`, which is no sentence, though some sentence begins so."""
    state = step_bytes(recogniser.start(), text)
    assert state is not None
    return not recogniser.is_sentence(state) and not oracle_mask(recogniser, state, tiny.spelt, ())


def spelling_error(make: Any) -> VocabularyError | None:
    """What `make` raises for want of a token."""
    try:
        make()
    except VocabularyError as error:
        return error
    return None


def texts_of(dfa: TokenDFA, longest: int, alphabet: bytes = bytes(range(256))) -> set[bytes]:
    """All texts of up to `longest` bytes out of `alphabet` that token paths spell, and that are sentences."""
    spelt, found = dfa.vocabulary.tokens, set[bytes]()
    tokens = {token for token, text in enumerate(spelt) if text and not text.strip(alphabet)}
    seen = {(0, b"")}
    pending = [(0, b"")]
    for state, text in pending:
        if accepts(dfa, state):
            found.add(text)
        for token in mask_of(dfa, state) & tokens:
            step = follow(dfa, state, token), text + spelt[token]
            if len(step[1]) <= longest and step not in seen:
                seen.add(step)
                pending.append(step)
    return found


def paths_of(dfa: TokenDFA, text: bytes) -> set[tuple[int, ...]]:
    """All sequences of tokens that spell `text` and that the automaton reads."""

    def go(state: int, at: int) -> Iterator[tuple[int, ...]]:
        if at == len(text):
            yield ()
        for token in mask_of(dfa, state) - set(dfa.vocabulary.eos) if at < len(text) else ():
            spelling = dfa.vocabulary.tokens[token]
            if text.startswith(spelling, at):
                yield from ((token, *rest) for rest in go(follow(dfa, state, token), at + len(spelling)))

    return set(go(0, 0))


def random_text(dfa: TokenDFA, rng: random.Random, steps: int) -> list[int]:
    """Tokens, each chosen among all that are allowed."""
    state, path = 0, list[int]()
    while len(path) < steps and (allowed := mask_of(dfa, state) - set(dfa.vocabulary.eos)):
        path.append(rng.choice(sorted(allowed)))
        state = follow(dfa, state, path[-1])
    return path


def compiled(builder: Any) -> Grammar:
    return Grammar._from_builder(builder)
