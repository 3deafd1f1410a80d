"""coalesce_literals: the same texts, in fewer spellings. Each trap of replacing literals inside a pattern by symbols has a test."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import pytest

from automata.reading import follow, mask_of, paths_of, texts_of
from exactness import grammars
from grammar_engine import Grammar, Guide, TokenDFA, Vocabulary, ir
from grammar_engine._native import fewest_tokens
from grammar_engine.errors import GrammarError, LimitExceededError
from vocabularies import random_vocabulary


def vocabulary_of(*pieces: bytes) -> Vocabulary:
    """All bytes, then these, then an end of text."""
    return Vocabulary([*(bytes([byte]) for byte in range(256)), *pieces, b""], eos=[256 + len(pieces)])


def both(pattern: str, vocabulary: Vocabulary, **options) -> tuple[TokenDFA, TokenDFA]:
    """The exact automaton and the other one, whose masks are contained in its."""
    exact = TokenDFA.from_regex(pattern, vocabulary)
    coalesced = TokenDFA.from_regex(pattern, vocabulary, coalesce_literals=True, **options)
    check_contained(coalesced, exact)
    return exact, coalesced


def check_contained(coalesced: TokenDFA, exact: TokenDFA) -> None:
    """After the same tokens a mask has no bit that the exact one has not, and it is not empty; ends of text are the same."""
    seen, pending = {(0, 0)}, [(0, 0)]
    for one, other in pending:
        tokens, every = mask_of(coalesced, one), mask_of(exact, other)
        eos = set(exact.vocabulary.eos)
        assert tokens <= every and bool(tokens) == bool(every) and tokens & eos == every & eos
        for token in tokens - eos:
            step = follow(coalesced, one, token), follow(exact, other, token)
            assert step[0] >= 0
            if step not in seen:
                seen.add(step)
                pending.append(step)


def spellings(dfa: TokenDFA, text: bytes) -> set[tuple[bytes, ...]]:
    return {tuple(dfa.vocabulary.tokens[token] for token in path) for path in paths_of(dfa, text)}


def test_texts_stay_the_same(long_run: bool) -> None:
    rng, fewer, automata = random.Random(91), 0, 0
    for _ in range(1000 if long_run else 50):
        builder = ir.Builder()
        parts = [
            builder.bytes(b"".join(rng.choices(grammars.LETTERS, k=rng.randint(2, 4))))
            if rng.random() < 0.5
            else grammars.random_expr(rng, builder, 2, grammars.LETTERS)
            for _ in range(3)
        ]
        builder = grammars.one_lexeme(builder, builder.concat(*parts) if rng.random() < 0.7 else builder.union(*parts))
        drawn = random_vocabulary(rng, grammars.LETTERS)
        vocabulary = vocabulary_of(*filter(None, drawn.spelt))
        try:
            grammar = Grammar._from_builder(builder)
            exact = TokenDFA.from_grammar(grammar, vocabulary, max_states=300)
        except (GrammarError, LimitExceededError):
            continue
        coalesced = TokenDFA.from_grammar(grammar, vocabulary, coalesce_literals=True)
        check_contained(coalesced, exact)
        texts = texts_of(exact, 6, b"abc")
        assert texts_of(coalesced, 6, b"abc") == texts
        for text in sorted(texts)[:5]:
            assert paths_of(coalesced, text) <= paths_of(exact, text)
            fewer += len(paths_of(coalesced, text)) < len(paths_of(exact, text))
        automata += 1
    assert automata > 25
    assert fewer > 10


# --- the traps --------------------------------------------------------------------------------------------------------------

WORDS = vocabulary_of(
    b"http", b"https", b"ht", b"tp", b"tps", b"tps:", b"s:", b"://", b"https://", b"abc", b"ab", b"bc", b"abcabc", b"foo", b"oo",
    b"food", b"xfoo", b"fo", b"name", b'"name', b'name"', b'":', b'name":', b"na", b"me",
)  # fmt: skip


def test_an_optional_end() -> None:
    """The run ends before the `s`, which may stand alone or not at all."""
    exact, coalesced = both("https?://[a-z]", WORDS)
    assert (b"https", b"://", b"a") in spellings(exact, b"https://a")
    heads = {path[:1] for path in spellings(coalesced, b"https://a") | spellings(coalesced, b"http://a")}
    assert heads == {(b"http",)}
    assert spellings(coalesced, b"https://a") == {
        (b"http", *rest) for rest in [(b"s", b"://", b"a"), (b"s:", b"/", b"/", b"a"), (b"s", b":", b"/", b"/", b"a")]
    }
    assert spellings(coalesced, b"http://a") == {(b"http", b"://", b"a"), (b"http", b":", b"/", b"/", b"a")}
    assert texts_of(TokenDFA.from_regex("https?", WORDS, coalesce_literals=True), 9) == {b"http", b"https"}


def test_an_optional_middle_and_beginning() -> None:
    _, coalesced = both("(?:ab)?cabc|x?foo", WORDS)
    assert texts_of(coalesced, 12) == {b"abcabc", b"cabc", b"foo", b"xfoo"}
    assert (b"abcabc",) not in spellings(coalesced, b"abcabc")


def test_repeats_that_are_counted() -> None:
    _, coalesced = both("(?:abc){2}", WORDS)
    assert spellings(coalesced, b"abcabc") == {(b"abcabc",)}
    _, coalesced = both("(?:abc){1,3}", WORDS)
    assert texts_of(coalesced, 12) == {b"abc" * count for count in (1, 2, 3)}
    assert spellings(coalesced, b"abcabc") == {(b"abc", b"abc")}


def test_loops() -> None:
    exact, coalesced = both("(?:abc)+|-", WORDS)
    assert texts_of(coalesced, 13) == texts_of(exact, 13) == {b"-", *(b"abc" * count for count in range(1, 5))}
    for text in (b"abc", b"abcabcabc"):
        assert len(spellings(coalesced, text)) == 1


def test_alternatives() -> None:
    exact, coalesced = both("foo|food|ab(?:c|bc)|name[0-9]", WORDS)
    assert texts_of(coalesced, 6) == texts_of(exact, 6)
    assert spellings(coalesced, b"food") == {(b"foo", b"d")}
    assert spellings(coalesced, b"name7") == {(b"name", b"7")}
    assert spellings(coalesced, b"abc") == {(b"ab", b"c")}


def test_a_class_that_contains_the_bytes_before() -> None:
    """Where the literal may begin anew at any byte nothing is determined, so nothing may be taken out."""
    exact, coalesced = both("[a-z]*foo", WORDS)
    for text in (b"foo", b"food", b"xfoo", b"fofoo"):
        assert spellings(coalesced, text) == spellings(exact, text)
    assert (b"xfoo",) in spellings(coalesced, b"xfoo")


def test_a_class_that_contains_the_bytes_after() -> None:
    exact, coalesced = both("foo[a-z]*", WORDS)
    assert spellings(exact, b"food") > spellings(coalesced, b"food") == {(b"foo", b"d")}
    assert spellings(coalesced, b"foofoo") == {(b"foo", *rest) for rest in [(b"foo",), (b"fo", b"o"), (b"f", b"oo"), (b"f", b"o", b"o")]}


def test_no_token_reaches_over_an_end() -> None:
    exact, coalesced = both('"name":[0-9]+', WORDS)
    assert (b'"name', b'":', b"1") in spellings(exact, b'"name":1')
    assert spellings(coalesced, b'"name":1') == {(b'"', b"name", b'":', b"1"), (b'"', b"name", b'"', b":", b"1")}


@pytest.mark.parametrize("number", range(6))
def test_no_ghost_byte(number: int) -> None:
    """File separators and digits, which stand for literals in another design, are bytes like any other."""
    patterns = ["\x1cab", '[^"]ab\x1c1', "(?:\x1c|x)ab[\x00-\x1f]", "ab.\x1c1", r"[\s\S]{2}foo", "\x1c1|\x1c2|foo[^o]?"]
    vocabulary, letters = vocabulary_of(b"ab", b"\x1c1", b"\x1cab", b"foo", b"1ab", b"b\x1c", b"1foo"), b"\x1c12abfo"
    exact, coalesced = both(patterns[number], vocabulary)
    texts = texts_of(exact, 6, letters)
    assert texts_of(coalesced, 6, letters) == texts
    assert any(b"\x1c" in text for text in texts)


def test_only_letters_digits_and_underscores_of_two_or_more() -> None:
    exact, coalesced = both("x-://é7[a-c]", WORDS)
    for text in ("x-://é7a", "x-://é7c"):
        assert spellings(coalesced, text.encode()) == spellings(exact, text.encode())
    _, coalesced = both("_9a-", vocabulary_of(b"_9", b"9a", b"a-"))
    assert spellings(coalesced, b"_9a-") == {(b"_9", b"a", b"-")}


# --- spellings --------------------------------------------------------------------------------------------------------------


def test_the_fewest_tokens() -> None:
    vocabulary = vocabulary_of(b"fi", b"file", b"filen", b"ame", b"name", b"ename")

    def words(text: bytes) -> list[bytes]:
        return [vocabulary.tokens[token] for token in fewest_tokens(vocabulary._handle, text)]

    assert words(b"filename") == [b"filen", b"ame"]  # the longest first token of those with two
    assert words(b"filfile") == [b"fi", b"l", b"file"]
    assert words(b"") == []
    assert fewest_tokens(Vocabulary([b"ab", b"b", b""], eos=[2])._handle, b"aba") == []


def fewest_by_trying_all(tokens: Sequence[bytes], text: bytes) -> list[bytes]:
    """From the end; of the tokens that leave the fewest, the longest."""
    best: dict[int, tuple[int, int]] = {len(text): (0, 0)}
    for at in reversed(range(len(text))):
        ways = [(best[at + len(t)][0] + 1, -len(t)) for t in tokens if at + len(t) in best and text.startswith(t, at)]
        if ways:
            best[at] = min(ways)
    found, at = list[bytes](), 0
    while at in best and at < len(text):
        found.append(text[at : at - best[at][1]])
        at -= best[at][1]
    return found


def test_fewest_tokens_equal_trying_all() -> None:
    rng = random.Random(92)
    for _ in range(200):
        tokens = sorted({bytes(rng.choices(b"ab", k=rng.randint(1, 4))) for _ in range(5)})
        vocabulary, text = Vocabulary([*tokens, b""], eos=[len(tokens)]), bytes(rng.choices(b"ab", k=rng.randint(1, 9)))
        found = fewest_tokens(vocabulary._handle, text)
        assert [tokens[token] for token in found] == fewest_by_trying_all(tokens, text)


def test_long_tokens_that_a_long_text_nearly_repeats() -> None:
    """To read on from each position would take the product of both lengths, so another way is taken: it finds the same."""
    rng, spelt = random.Random(93), 0
    for _ in range(12):
        part = bytes(rng.choices(b"ab", k=rng.choice([1, 2, 30])))
        tokens = {part * n for n in (1, rng.randint(2, 5), rng.randint(20, 60))} | {part * (2000 // len(part))}
        tokens |= {part * n + b"b" for n in (3, 100)} | {bytes(rng.choices(b"ab", k=rng.randint(1, 5))) for _ in range(3)}
        words = sorted(tokens)
        vocabulary = Vocabulary([*words, b""], eos=[len(words)])
        runs = [part * (rng.randint(1, 3000) // len(part)) for _ in range(3)]
        text = b"".join(run + rng.choice(words) for run in runs)
        found = [words[token] for token in fewest_tokens(vocabulary._handle, text)]
        assert found == fewest_by_trying_all(words, text)
        spelt += bool(found)
    assert spelt > 6


def test_the_longest_token_against_a_longer_text() -> None:
    vocabulary, begin = Vocabulary([b"a", b"a" * 20_000, b""], eos=[2]), time.monotonic()
    assert fewest_tokens(vocabulary._handle, b"a" * 40_001) == [1, 1, 0]
    assert time.monotonic() - begin < 2


def test_the_spelling_of_the_caller() -> None:
    asked: list[bytes] = []

    def spell(text: bytes) -> list[int]:
        asked.append(text)
        return list(text)

    _, coalesced = both('"name":https?', WORDS, spell=spell)
    assert sorted(asked) == [b"http", b"name"]
    assert spellings(coalesced, b'"name":http') == {
        (b'"', b"n", b"a", b"m", b"e", *rest, b"h", b"t", b"t", b"p") for rest in [(b'"', b":"), (b'":',)]
    }


def test_a_caller_may_leave_a_literal_as_it_is() -> None:
    exact, coalesced = both('"name":http', WORDS, spell=lambda text: [] if text == b"name" else list(text))
    assert (b'"name', b'":') in {path[:2] for path in spellings(coalesced, b'"name":http')}
    assert {path[-4:] for path in spellings(coalesced, b'"name":http')} == {(b"h", b"t", b"t", b"p")}
    assert not coalesced.is_exact
    unchanged = TokenDFA.from_regex('"name":http', WORDS, coalesce_literals=True, spell=lambda _: [])
    assert all(mask_of(unchanged, state) == mask_of(exact, state) for state in range(exact.num_states))


@pytest.mark.parametrize(
    "tokens", [[0], [ord("n")], [*b"nam"], [*b"names"], [*b"nbme"], [10**6], [256 + 25], [*b"name", 256 + 25], [*b"name", ord("e")]]
)
def test_a_spelling_of_something_else_is_refused(tokens: list[int]) -> None:
    with pytest.raises(ValueError, match="not tokens that spell it"):
        TokenDFA.from_regex("name", WORDS, coalesce_literals=True, spell=lambda _: tokens)


@pytest.mark.parametrize(("tokens", "kind"), [([-1], ValueError), ([1 << 40], ValueError), (["n"], ValueError), (None, TypeError)])
def test_a_spelling_that_is_none(tokens, kind: type) -> None:
    with pytest.raises(kind):
        TokenDFA.from_regex("name", WORDS, coalesce_literals=True, spell=lambda _: tokens)


def test_an_error_of_the_caller_comes_through() -> None:
    def spell(_: bytes) -> list[int]:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        TokenDFA.from_regex("name", WORDS, coalesce_literals=True, spell=spell)


def test_literals_that_the_vocabulary_cannot_spell_alone() -> None:
    """They stay as they are: here only together with the quotes."""
    vocabulary = Vocabulary([b'"ab', b'c"', b"b", b""], eos=[3])
    exact, coalesced = both('"abc"', vocabulary)
    assert spellings(coalesced, b'"abc"') == spellings(exact, b'"abc"') == {(b'"ab', b'c"')}


def test_what_is_shown(tmp_path) -> None:
    exact, coalesced = both('"name":[0-9]+', WORDS)
    assert repr(exact).endswith(", exact>") and exact.is_exact and exact.stats.exact
    for dfa in (coalesced, loaded(coalesced, tmp_path)):
        assert "NOT exact" in repr(dfa) and not dfa.is_exact and not dfa.stats.exact
        assert spellings(dfa, b'"name":1') == spellings(coalesced, b'"name":1')


def loaded(dfa: TokenDFA, folder) -> TokenDFA:
    dfa.save(folder / "automaton")
    return TokenDFA.load(folder / "automaton", dfa.vocabulary)


def test_the_grammar_stays_whole() -> None:
    """It is that of the texts, not of the spellings."""
    _, coalesced = both("https?", WORDS)
    again = TokenDFA.from_grammar(coalesced.grammar, WORDS)
    assert again.is_exact and 257 in Guide(again).get_tokens()
