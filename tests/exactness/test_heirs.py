"""Masks that are made from that of an heir. Where both go on below a node
whatever comes there, it is not looked at: no mask differs for that."""

from __future__ import annotations

import itertools
import json
import string

from grammar_engine import Grammar, Matcher, Switches, Vocabulary

NAMES = [bytes(letters) for letters in itertools.product(string.ascii_lowercase.encode(), repeat=3)]
BEHIND = {b"_" + bytes(letters) for letters in itertools.product(b"abcdefghijkm", repeat=2)}
BEHIND |= {b"_" + bytes(signs) for signs in itertools.product(b'abcm01"-', repeat=2)}
TOKENS = [*(bytes([byte]) for byte in range(256)), *NAMES, *sorted(BEHIND)]
TAILS = ["[a-z]*", "[a-l]*", "[a-z0-9]*", "[a-z]*[0-9]", "[a-z]{2,}", "[0-9]*", "[a-k]*-", "[a-z]{0,2}", ".*", ""]


def vocabulary() -> Vocabulary:
    return Vocabulary([*TOKENS, b""], eos=[len(TOKENS)])


def grammar_of(at_once: str, later: str | None) -> Grammar:
    """The state behind the quotation mark has that behind one more letter
    as its heir; what comes after `_` differs (None: there is none)."""
    behind = "" if later is None else f"(_{later})?"
    return Grammar.from_json_schema(json.dumps({"type": "string", "pattern": f"^(_{at_once}|[a-z0-9]+{behind})$"}))


def test_masks_by_heirs_are_those_without() -> None:
    shared, heirs = vocabulary(), 0
    for at_once, later in itertools.product(TAILS, [*TAILS, None]):
        masks = []
        for switches in (Switches(), Switches(slices=False), Switches(heirs=False), Switches(heirs=False, inner_masks=False, slices=False)):
            grammar = grammar_of(at_once, later)
            matcher = Matcher(grammar, shared, switches=switches)
            matcher.accept_bytes(b'"')
            masks.append(matcher.mask())
            heirs += grammar.stats.heirs
        assert len(set(masks)) == 1, (at_once, later)
    assert heirs > 100


def test_what_both_read_as_a_whole_is_not_looked_at() -> None:
    grammar = grammar_of("[a-z]*", "[a-z0-9]*")
    matcher = Matcher(grammar, vocabulary())
    matcher.accept_bytes(b'"')
    matcher.mask()
    assert grammar.stats.heirs == 1
    assert grammar.stats.trie_nodes < 450  # 256 of the first look; 513 in all if it is looked at


def test_what_the_heir_does_not_read_is_walked_as_any_other() -> None:
    for later in "[0-9]*", None:
        grammar = grammar_of("[a-z]*", later)
        matcher = Matcher(grammar, vocabulary())
        matcher.accept_bytes(b'"')
        matcher.mask()
        assert grammar.stats.heirs == 1
        assert grammar.stats.trie_nodes < 450, later  # 509 and 493 node by node


TAG = "(([A-Za-z]{2,3}(-([A-Za-z]{3}(-[A-Za-z]{3}){0,2}))?)|[A-Za-z]{4}|[A-Za-z]{5,8})(-([A-Za-z]{4}))?(-([A-Za-z]{2}|[0-9]{3}))?"


def test_plain_text_is_not_followed_where_any_other_key_may_come() -> None:
    """Beside keys with a tag of a language all others may come, so text goes
    on whatever the pattern says: 2,200 derivatives if it is followed."""
    schema = {
        "patternProperties": {f"^(name|about)_{TAG}(-([A-Za-z0-9]{{5,8}}|[0-9][A-Za-z0-9]{{3}}))*$": {}},
        "properties": {"name": True},
    }
    masks, most = [], 0
    for switches in (Switches(), Switches(heirs=False, slices=False)):
        grammar = Grammar.from_json_schema(schema)
        matcher = Matcher(grammar, vocabulary(), switches=switches)
        for text in (b'{"', b"name", b"_en", b'-abc": 1'):
            before = grammar.stats.derivatives
            masks.append(matcher.mask())
            most = max(most, grammar.stats.derivatives - before)
            assert matcher.accept_bytes(text)
    assert masks[:4] == masks[4:]
    assert most < 600


def test_an_heir_whose_mask_is_made_from_that_of_a_wider_configuration() -> None:
    """White space leads from there to the heir. That the number is a multiple keeps the unit from being analysed."""
    schema = {"type": ["string", "integer"], "format": "idn-hostname", "multipleOf": 7}
    numbers, words = [b"%d" % i for i in range(10, 300)], [b" word%d" % i for i in range(600)]
    tokens = [*(bytes([byte]) for byte in range(256)), *numbers, *words]
    vocabulary = Vocabulary([*tokens, b""], eos=[len(tokens)])
    matchers = [Matcher(Grammar.from_json_schema(schema), vocabulary, switches=Switches(heirs=heirs)) for heirs in (True, False)]
    for piece in (b"", b" ", b"\n"):
        assert all(matcher.accept_bytes(piece) for matcher in matchers)
        assert len({matcher.mask() for matcher in matchers}) == 1
