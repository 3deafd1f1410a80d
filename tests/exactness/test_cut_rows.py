"""Cut rows: rows that differ only in where they return share what comes after them, and no mask changes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from exactness.walk import ids_of
from grammar_engine import Grammar, Limits, Matcher, Switches, Vocabulary, ir
from grammar_engine.errors import LimitExceededError
from grammar_engine.frontends.lark import build
from oracle.earley import Recogniser
from oracle.mask import oracle_mask, step_bytes

GRAMMARS = Path(__file__).parents[2] / "grammars"

# Brackets in brackets, each with something else behind it; operators that
# bind to the left, to the right and both; tails that may be empty; lists.
CONTRIVED = {
    "operators": """
        start: statement*
        statement: NAME "=" sum ";" | sum ";" | "{" statement* "}"
        sum: sum ("+" | "-") product | product
        product: power ("*" power)*
        power: unary ("^" power)?
        unary: ("-" | "!" | "(" NAME ")") unary | postfix
        postfix: atom | postfix "(" [sum ("," sum)*] ")" | postfix "[" sum "]" | postfix "++"
        atom: NAME | "(" sum ")" | "[" sum ("," sum)~0..2 "]"
        NAME: /[ab]+/
        %ignore / +/
    """,
    "contexts": """
        start: "!" e | "+" e ";" e | "[" list "]"
        list: (e ",")~0..3 e [";" list]
        e: e e2 e | "-" e | "(" e ")" tail | "{" list "}" | NAME
        e2: "+" | "*" "-"?
        tail: ("(" list? ")")? ("[" e "]")?
        NAME: /a|ab|b/
    """,
    "mutual": """
        start: p
        p: q "+" p | q | "(" p ")"
        q: p "-" | "(" q "]" | "a" r
        r: | "b" r | "(" p ")" r
    """,
}
SIGNS = ["a", "b", "(", ")", "[", "]", "{", "}", "+", "-", "*", "!", ",", ";", "=", "^", " "]


def _valid_texts(source: str, rng: random.Random) -> list[str]:
    """Beginnings of sentences, with many brackets."""
    vocabulary = Vocabulary([*(sign.encode() for sign in SIGNS), b""], eos=[len(SIGNS)])
    matcher, texts = Matcher(Grammar.from_lark(source), vocabulary, switches=Switches(outlines=False)), []
    for _ in range(40):
        text = ""
        for _ in range(20):
            allowed = [token for token in matcher.allowed_tokens() if token < len(SIGNS)]
            if not allowed:
                break
            token = rng.choices(allowed, weights=[3 if SIGNS[token] in "([{+-*" else 1 for token in allowed])[0]
            assert matcher.accept(token)
            text += SIGNS[token]
        texts.append(text)
        matcher.reset()
    return texts


@pytest.mark.parametrize("max_rows", [None, 300])
@pytest.mark.parametrize("name", CONTRIVED)
def test_masks_are_those_of_the_oracle(name: str, max_rows: int | None) -> None:
    """Tokens are pieces of texts, over up to eight lexemes. With few rows allowed,
    matchers begin afresh again and again, and some of their rows are not cut."""
    source, rng = CONTRIVED[name], random.Random(name)
    pieces = {text[i : i + n] for text in _valid_texts(source, rng) for i in range(len(text)) for n in range(1, 9)}
    tokens = [piece.encode() for piece in sorted({*SIGNS, *rng.sample(sorted(pieces), min(len(pieces), 200))})]
    vocabulary, builder = Vocabulary([*tokens, b""], eos=[len(tokens)]), ir.Builder()
    build(builder, source)
    recogniser = Recogniser(builder)
    grammar = Grammar.from_lark(source, limits=None if max_rows is None else Limits(max_rows=max_rows))
    on, off = Matcher(grammar, vocabulary), Matcher(Grammar.from_lark(source), vocabulary, switches=Switches(outlines=False))
    cut, masks = 0, 0
    for _ in range(8):
        state = recogniser.start()
        for _ in range(5):
            try:
                mask = on.mask()
            except LimitExceededError as error:
                assert error.limit == "max_rows"
                assert max_rows is not None
                break
            cut += grammar.stats.cut_rows > 0
            assert mask == off.mask()
            assert ids_of(bytes(mask)) == oracle_mask(recogniser, state, [*tokens, b""], {len(tokens)})
            masks += 1
            token = rng.choice(sorted(ids_of(bytes(mask))))
            if token == len(tokens):
                break
            assert off.accept(token)
            assert on.accept(token)
            state = step_bytes(state, tokens[token])
        on.reset()
        off.reset()
    assert cut > masks // 2 > 5


@pytest.mark.parametrize("name", ["arithmetic", "c_like", "python_subset", "sql_select"])
def test_rows_are_cut(name: str) -> None:
    """Most rows that a mask makes in the grammar of a language are cut ones, and without outlines there are none."""
    source, vocabulary = (GRAMMARS / f"{name}.lark").read_text(), Vocabulary.builtin()
    text = next(iter(sorted((GRAMMARS / f"{name}.accept").iterdir()))).read_bytes()
    for outlines in (True, False):
        grammar = Grammar.from_lark(source)
        matcher = Matcher(grammar, vocabulary, switches=Switches(outlines=outlines))
        for token in vocabulary.encode_greedy(text):
            matcher.mask()
            assert matcher.accept(token)
        assert (grammar.stats.cut_rows > 0) == outlines
        assert grammar.stats.cut_rows < grammar.stats.rows
