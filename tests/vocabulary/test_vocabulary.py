"""The table itself: what is legal, what is refused, what depends on what."""

from __future__ import annotations

import pickle
import random
import re

import pytest

from grammar_engine.errors import VocabularyError
from grammar_engine.vocabulary import Vocabulary


def test_special_and_eos_ids_never_are_text() -> None:
    vocabulary = Vocabulary([b"<s>", b"a", b"</s>", b"stop"], eos=[2, 3], special={0: "<s>"})
    assert vocabulary.tokens == (b"", b"a", b"", b"")
    assert vocabulary.eos == (2, 3)
    assert dict(vocabulary.special) == {0: "<s>"}


def test_odd_tokens_are_legal() -> None:
    tokens = [b"a", b"a", b"", b"\xff\xc3", b"x" * 1000, b"\x00", b""]
    vocabulary = Vocabulary(tokens, eos=[6])
    assert list(vocabulary.tokens) == tokens
    assert vocabulary.size == len(vocabulary) == vocabulary.width == 7
    assert vocabulary.token_bytes(4) == b"x" * 1000


def test_padding_ids_spell_nothing() -> None:
    vocabulary = Vocabulary([b"a", b""], eos=[1], width=40)
    assert (vocabulary.size, vocabulary.width) == (2, 40)
    assert vocabulary.token_bytes(39) == b""
    for token in (-1, 40, True, "a", 1.0):
        with pytest.raises(VocabularyError):
            vocabulary.token_bytes(token)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message", "token_id"),
    [
        (([], []), "the vocabulary is empty", None),
        (([b"", b""], [1]), "no token spells any byte", None),
        (([b"a"], [0]), "no token spells any byte", None),
        (([b"a", b"b"], [2]), "eos id 2 is not in 0 .. 1", 2),
        (([b"a", b"b"], [-1]), "eos id -1 is not in 0 .. 1", -1),
        (([b"a", b"b"], ["b"]), "eos id 'b' is str, not int", None),
        (([b"a", b"b"], [True]), "eos id True is bool, not int", None),
        (([b"a", b"b"], [], {5: "x"}), "special id 5 is not in 0 .. 1", 5),
        (([b"a", "b"], []), "token 1 is str, not bytes: 'b'", 1),
        (([b"a", None], []), "token 1 is NoneType, not bytes", 1),
        ((b"ab", []), "not one bytes", None),
        (({b"a": 0, b"b": 1}, []), "the one of id i at place i, not a dict", None),
        (({b"a", b"b"}, []), "the one of id i at place i, not a set", None),
        (([b"a", b"b"], 1), "eos is a sequence of ids, such as [1], not int", None),
        (([b"a", b"b"], [], {}, 1), "width 1 is smaller than the number of tokens, 2: token 1 has no place", 1),
        (([b"a", b"b"], [], {}, 2.0), "width is an int, not float", None),
        (([b"a", b"b"], [], {}, 1 << 40), "width 1099511627776 is larger than", None),
    ],
)
def test_refusals_name_the_token(arguments, message: str, token_id: int | None) -> None:
    with pytest.raises(VocabularyError, match=re.escape(message)) as caught:
        Vocabulary(*arguments)
    assert caught.value.token_id == token_id


def test_ids_may_be_integers_of_numpy() -> None:
    np = pytest.importorskip("numpy")
    two = np.int64(2)
    vocabulary = Vocabulary([b"a", b"b", b"c"], eos=np.array([2]), special={two: "</s>"}, width=np.int32(4))
    assert vocabulary == Vocabulary([b"a", b"b", b""], eos=[2], width=4)
    assert set(map(type, (*vocabulary.eos, *vocabulary.special, vocabulary.width))) == {int}
    assert vocabulary.token_bytes(np.int64(1)) == b"b"


def test_it_cannot_be_changed() -> None:
    tokens, special = [b"a", b"b", b"c"], {0: "x"}
    vocabulary = Vocabulary(tokens, eos=[2], special=special)
    tokens[1] = b"changed"
    special[1] = "changed"
    assert vocabulary.tokens == (b"", b"b", b"")
    assert dict(vocabulary.special) == {0: "x"}
    with pytest.raises(AttributeError):
        vocabulary.tokens = ()  # type: ignore[misc]
    with pytest.raises(AttributeError):
        vocabulary.extra = 1  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        vocabulary.special[1] = "y"  # type: ignore[index]


def test_fingerprint_tells_apart_what_masks_depend_on() -> None:
    base = Vocabulary([b"ab", b"c", b""], eos=[2])
    others = [
        Vocabulary([b"a", b"bc", b""], eos=[2]),
        Vocabulary([b"ab", b"c", b""], eos=[]),
        Vocabulary([b"ab", b"c", b"", b""], eos=[2]),
        Vocabulary([b"ab", b"c", b""], eos=[2], width=4),
    ]
    assert len({v.fingerprint for v in (base, *others)}) == 5
    assert all(base != other for other in others)
    same = Vocabulary([b"ab", b"c", b"x"], eos=[2, 2], special={2: "a name"})
    assert same.fingerprint == base.fingerprint and same == base and hash(same) == hash(base)
    assert re.fullmatch("[0-9a-f]{64}", base.fingerprint)
    assert Vocabulary.bytes().fingerprint == "5a473ed2b947371ed033c32dffc4cf8b4d28f73ef9f97f44b18a7fc590f92675"


def test_it_pickles() -> None:
    vocabulary = Vocabulary([b"a", b"b"], eos=[1], special={1: "</s>"}, width=9)
    copy = pickle.loads(pickle.dumps(vocabulary))
    assert copy == vocabulary and dict(copy.special) == {1: "</s>"}


def test_greedy_spelling() -> None:
    vocabulary = Vocabulary([b"a", b"ab", b"abc", b"c", b"a", b""], eos=[5])
    assert vocabulary.encode_greedy(b"abcaca") == [2, 0, 3, 0]
    assert vocabulary.encode_greedy(b"") == []
    with pytest.raises(VocabularyError, match="byte 3") as caught:
        vocabulary.encode_greedy(b"abcb")
    assert caught.value.missing == b"b"


def test_greedy_spelling_takes_the_longest() -> None:
    rng = random.Random(0)
    for _ in range(200):
        tokens = [bytes(rng.choices(b"ab", k=rng.choice((0, 1, 2, 3, 7)))) for _ in range(12)]
        vocabulary, text = Vocabulary([b"a", b"b", *tokens, b""], eos=[14]), bytes(rng.choices(b"ab", k=30))
        spelled = vocabulary.encode_greedy(text)
        while spelled:
            token = spelled.pop(0)
            longest = max((spelling for spelling in vocabulary.tokens if text.startswith(spelling)), key=len)
            assert token == vocabulary.tokens.index(longest)
            text = text.removeprefix(longest)
        assert not text


def test_the_byte_vocabulary() -> None:
    vocabulary = Vocabulary.bytes()
    assert [vocabulary.token_bytes(b) for b in range(256)] == [bytes((b,)) for b in range(256)]
    assert vocabulary.eos == (256,) and vocabulary.size == 257


def test_the_builtin_vocabulary() -> None:
    vocabulary = Vocabulary.builtin()
    assert 4000 <= vocabulary.size <= 8000
    assert vocabulary.tokens[:256] == Vocabulary.bytes().tokens[:256]
    assert vocabulary.eos == (vocabulary.size - 1,)
    assert len(set(vocabulary.tokens)) == vocabulary.size
    text = '{"name": "Grüße", "tags": ["日本", true, null], "n": -1.5}'.encode()
    spelled = vocabulary.encode_greedy(text)
    assert b"".join(vocabulary.token_bytes(t) for t in spelled) == text
    assert len(spelled) < len(text) * 0.7
    noise = random.Random(0).randbytes(500)
    assert b"".join(vocabulary.token_bytes(t) for t in vocabulary.encode_greedy(noise)) == noise


def test_repr() -> None:
    assert repr(Vocabulary([b"a"] * 2000, eos=[], width=2048)) == "<Vocabulary of 2,000 tokens, width 2,048, eos ()>"
