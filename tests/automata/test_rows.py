"""Masks of many tokens: rows of bits that several of them share, and lists of what each has besides or lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from automata.reading import check_against_bytes, mask_of
from grammar_engine import TokenDFA, Vocabulary
from grammar_engine._native import ffi, lib
from vocabularies import TinyVocabulary

MANY = 1000  # more than are kept as a list


def words(letter: bytes, n: int) -> list[bytes]:
    return [letter + b"%03d;" % i for i in range(n)]


def one_of(letter: str, first: int, end: int) -> str:
    return "|".join(f"{letter}{i:03d};" for i in range(first, end))


def tokens_listed(dfa: TokenDFA, state: int) -> list[int]:
    out = ffi.new("uint32_t[]", dfa.vocabulary.size)
    return list(out[0 : lib.ge_dfa_tokens(dfa._handle, state, out)])


def check(pattern: str, tiny: TinyVocabulary, folder: Path) -> TokenDFA:
    """Masks are what the bytes say, in a loaded automaton too, and as lists."""
    vocabulary = tiny.build()
    built = TokenDFA.from_regex(pattern, vocabulary)
    built.save(folder / "automaton")
    for dfa in (built, TokenDFA.load(folder / "automaton", vocabulary)):
        check_against_bytes(dfa, tiny)
        for state in range(dfa.num_states + 1):
            assert tokens_listed(dfa, state) == sorted(mask_of(dfa, state))
    return built


@pytest.mark.parametrize("few_first", [False, True])
@pytest.mark.parametrize("apart", [1, 2, 63, 64, 65, 66, 130])
def test_masks_that_differ_in_some_tokens(apart: int, few_first: bool, tmp_path: Path) -> None:
    """Each has what the one before it lacks, wherever those tokens lie, up to and above what a list may hold."""
    many, few = words(b"x", MANY), words(b"t", 2 * apart)
    tiny = TinyVocabulary((*(few + many if few_first else many + few), b"A", b"B", b"C", b""), (MANY + 2 * apart + 3,))
    some = one_of("x", 0, MANY)
    pattern = f"A(?:{some})|B(?:{some}|{one_of('t', 0, apart)})|C(?:{some}|{one_of('t', 0, 2 * apart)})?"
    dfa = check(pattern, tiny, tmp_path)
    assert dfa.stats.masks == 5 and dfa.stats.listed_masks == 2
    rows = (dfa.memory_bytes - 2 * dfa.vocabulary.size) / (4 * (dfa.vocabulary.width + 31) // 32)  # (classes take two bytes a token)
    assert rows < (3 if apart < 64 else 6)


def test_rows_that_end_early(tmp_path: Path) -> None:
    """What lies far behind the others is listed: also where it is farther than a gap tells."""
    near, far = words(b"x", MANY), words(b"t", 40)
    for n_far in (1, 31, 32, 33, 40):
        space = [b"-%d" % i for i in range(3 * MANY)]
        tiny = TinyVocabulary((*near, *space, *far[:n_far], b"A", b"B", b""), (4 * MANY + n_far + 2,))
        some = one_of("x", 0, MANY)
        check(f"A(?:{some}|{one_of('t', 0, n_far)})|B(?:{some})?", tiny, tmp_path)
    space = [b"-%d" % i for i in range(200_000)]
    vocabulary = Vocabulary([*near, *space, *far, b"A", b""], eos=[MANY + 200_041])
    dfa = TokenDFA.from_regex(f"A(?:{one_of('x', 0, MANY)}|{one_of('t', 0, 30)})?", vocabulary)
    after = next(state for state in range(dfa.num_states) if len(mask_of(dfa, state)) > 1)
    expected = [*range(MANY), *range(MANY + 200_000, MANY + 200_030), MANY + 200_041]
    assert tokens_listed(dfa, after) == expected == sorted(mask_of(dfa, after))
    dfa.save(tmp_path / "automaton")
    assert sorted(mask_of(TokenDFA.load(tmp_path / "automaton", vocabulary), after)) == expected
    assert dfa.memory_bytes < 20_000


def test_many_rows(tmp_path: Path) -> None:
    """Masks that have nothing to do with each other, and for each of them one that is near it."""
    tiny = TinyVocabulary((*words(b"x", MANY), *[bytes([letter]) for letter in range(33, 48)], b"a", b"b", b"end;", b""), (MANY + 18,))
    halves = ["|".join(f"x{i:03d};" for i in range(MANY) if i >> bit & 1) for bit in range(10)]
    both = "|".join(f"\\x{33 + bit:02x}(?:a(?:{half})|b(?:{half}|end;))" for bit, half in enumerate(halves))
    check(both, tiny, tmp_path)
