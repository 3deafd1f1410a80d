"""lexing="longest", key words beside names: masks are made by their difference from those without the key words, and equal the oracle's."""

from __future__ import annotations

import random

import pytest

from exactness.walk import Walk
from grammar_engine import Grammar, Limits, Matcher, Switches, Vocabulary, ir
from vocabularies import TinyVocabulary

LETTERS = b"abcdefghijklmnopqrstuvwxyz"
SIGNS = [b"+", b"-", b"->", b"--", b"(", b")", b",", b"<=", b"<"]


def random_word(rng: random.Random) -> bytes:
    return bytes(rng.choices(LETTERS, k=rng.randint(1, 5)))


def random_key_words(rng: random.Random) -> list[bytes]:
    """Words of which some begin others, some have a blank or a mark within, and some begin as no name does."""
    words = {random_word(rng) for _ in range(rng.randint(2, 5))}
    for word in sorted(words):
        if rng.random() < 0.5:
            words.add(word + rng.choice([random_word(rng), b" " + random_word(rng), b"-" + random_word(rng), b"!", b" "]))
    if rng.random() < 0.3:
        words.add(rng.choice([b"0", b"-", b'"', b" "]) + random_word(rng))
    return sorted(words)


def random_language(rng: random.Random) -> tuple[ir.Builder, list[bytes]]:
    """Names, key words, signs, quoted strings and comments; statements of four to seven
    of them, mostly of words of any kind, some within brackets. And the key words."""
    b = ir.Builder()
    b.longest = True
    words = random_key_words(rng)
    most = rng.choice([None, None, 4])
    name = b.lexeme(b.concat(b.byte_set(LETTERS), b.repeat(b.byte_set(LETTERS + b"0123456789_"), 0, most)), "name")
    quoted = b.lexeme(b.pattern('"[^"]*"', ir.ECMA_FULL), "quoted")
    number = b.lexeme(b.pattern("[0-9]+", ir.ECMA_FULL), "number")
    lexemes: list[ir.Symbol] = [b.lexeme(b.bytes(word), word.decode()) for word in words]
    signs: list[ir.Symbol] = [b.lexeme(b.bytes(sign), sign.decode()) for sign in rng.sample(SIGNS, 4)]
    b.start, value = b.nonterminal("start"), b.nonterminal("value")
    for symbol in (name, quoted, number):
        if symbol == name or rng.random() < 0.7:
            b.rule(value, [symbol])
    if rng.random() < 0.5:
        b.rule(value, [signs[0], value, signs[1]])
    word = b.nonterminal("word")
    for symbol in rng.sample([name, name, *lexemes], len(lexemes)):
        b.rule(word, [symbol])
    for _ in range(rng.randint(3, 6)):
        b.rule(
            b.start, [rng.choice([*lexemes, name, word]), *rng.choices([*lexemes, *signs, value, word, word, word], k=rng.randint(3, 6))]
        )
    if rng.random() < 0.8:
        b.lexeme(b.repeat(b.byte_set(b" \n"), 1, None), "blanks", skip=True)
    if rng.random() < 0.5:
        b.lexeme(b.pattern("--[^\n]*\n", ir.ECMA_FULL), "comment", skip=True)
    return b, words


def vocabulary_for(rng: random.Random, words: list[bytes]) -> TinyVocabulary:
    """Single bytes, and some 200 words with all beginnings, key words, parts of them, signs, and what these are joined to."""
    letters = [bytes([letter]) for letter in LETTERS]
    pieces = [*words, *SIGNS, b" ", b"\n", b'"', b"0", b"_", *(letter + random_word(rng) for letter in letters)]
    tokens = {bytes([byte]) for byte in b"".join([*pieces, LETTERS])}
    for _ in range(200):
        token = b"".join(rng.choices(pieces, k=rng.randint(1, 3)))
        first = rng.randint(0, 2)
        tokens.add(token[first : rng.randint(first + 1, first + 7)] or b"a")
    return TinyVocabulary((*sorted(tokens), b""), (len(tokens),))


def test_key_words_equal_the_oracle(long_run: bool) -> None:
    """From different first alternatives too: within words, behind blanks, within quotes."""
    masks = made = by_difference = seed = 0
    while masks < (90_000 if long_run else 3_000):
        seed += 1
        rng = random.Random(seed)
        builder, words = random_language(rng)
        walk = Walk(builder, vocabulary_for(rng, words), rng)
        try:
            walk.run(8)
        except BaseException as error:
            error.args = (f"seed {seed}: {error}",)
            raise
        masks += walk.masks
        made += walk.grammar.stats.mask_builds
        by_difference += walk.grammar.stats.heirs
    assert by_difference > made / 10


STATEMENTS = """
start: (word ";")*
word: NAME | ({words}) NAME
NAME: /[A-Za-z_][A-Za-z0-9_]*/
%ignore /[ \\n]+/
"""


@pytest.mark.parametrize("texts", [("", "select one; ", "sel", "select "), ("up", "delete", "dele")], ids=" ".join)
def test_places_with_other_key_words_need_no_analysis_of_their_own(texts: tuple[str, ...]) -> None:
    """Names are analysed once, at the beginning, within, and behind a blank, however many sets of key words are beside them."""
    vocabulary = Vocabulary.builtin(slices=())

    def work(words: str, **switches: bool) -> tuple[int, int]:
        source = STATEMENTS.format(words=" | ".join(f'"{word}"' for word in words.split()))
        grammar = Grammar.from_lark(source, lexing="longest")
        for text in texts:
            matcher = Matcher(grammar, vocabulary, switches=Switches(**switches))
            assert matcher.accept_bytes(text.encode())
            matcher.mask()
        return grammar.stats.inner_builds, grammar.stats.trie_nodes

    work("select update delete")
    made, nodes = work("select update delete insert where limit")
    assert made == 0
    assert 2 * nodes < work("select update delete insert order group", heirs=False)[1]


def masks_with_and_without(grammar: Grammar, vocabulary: Vocabulary, text: bytes) -> tuple[bytes, bytes]:
    matchers = [Matcher(grammar, vocabulary, switches=Switches(heirs=heirs)) for heirs in (True, False)]
    assert all(matcher.accept_bytes(text) for matcher in matchers)
    return bytes(matchers[0].mask()), bytes(matchers[1].mask())


def test_a_core_without_a_mask_of_its_own_finds_the_blank_before_the_difference() -> None:
    """`A` has too many nodes for a lexeme-internal mask, so its core is walked,
    and comes to the blank, where the difference has something to take back."""
    rng = random.Random(1)
    letters = LETTERS.decode()
    words = "|".join("".join(rng.choices(letters, k=8)) for _ in range(400))
    source = f"""start: A ";" | A A ";" | K "?"\nA: /[a-z]+( [a-z]+!|#({words}))?/\nK: "a b"\n%ignore " "\n"""
    tokens = {bytes([byte]) for byte in range(32, 127)} | {b" b;", b" ba", b" bd;", b" b"}
    for _ in range(3_000):
        tokens.add((rng.choice(["", " "]) + "".join(rng.choices(letters, k=rng.randint(1, 6))) + rng.choice(["", ";", " ", "!"])).encode())
    vocabulary = Vocabulary([*sorted(tokens), b""], eos=[len(tokens)])
    on, off = masks_with_and_without(Grammar.from_lark(source, lexing="longest"), vocabulary, b"a")
    assert on == off


def test_where_a_core_differs_in_much_it_is_tried_once() -> None:
    """52 letters as key words beside a word that does not end where they do: whatever begins with a letter differs."""
    letters = " | ".join(f'"{letter}"' for letter in LETTERS.decode() + LETTERS.decode().upper())
    source = f"""
start: item*
item: W ";" | k other | "(" item ")" | "[" item "]"
other: k other | W ";" | "(" other ")" | "!"
k: {letters}
W: /[a-zA-Z]+:/
%ignore " "
"""
    vocabulary = Vocabulary.builtin(slices=())
    nodes = {}
    for heirs in (False, True):
        grammar = Grammar.from_lark(source, lexing="longest")
        for text in (b"(", b"[", b"((", b"(["):
            before = grammar.stats.trie_nodes
            matcher = Matcher(grammar, vocabulary, switches=Switches(heirs=heirs))
            assert matcher.accept_bytes(text)
            matcher.mask()
            nodes[heirs] = grammar.stats.trie_nodes - before
        on, off = masks_with_and_without(grammar, vocabulary, b"(a")
        assert on == off
    assert nodes[True] <= nodes[False]


def test_a_core_meets_no_limit_that_the_grammar_does_not() -> None:
    """Beside `AB` alone nothing drops what is nested, so a core has more alternatives than any text of the grammar."""
    source = 'start: (A | K | C)*\nA: /[^!]+!/\nK: "ab"\nC: /[a-z]/\n'
    grammar = Grammar.from_lark(source, lexing="longest", limits=Limits(max_alternatives=3))
    on, off = masks_with_and_without(grammar, Vocabulary.builtin(), b"")
    assert on == off
