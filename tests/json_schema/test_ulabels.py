"""U-labels and normalisation form C, against the package `idna`: `idn-hostname` asks for it, the domains of `idn-email` do not.

The oracle is the check of `idna` taken to pieces. A label of `idn-email` has to be a U-label of at most 63 octets once it is normalised.
"""

from __future__ import annotations

import itertools
import random
import sys
import unicodedata
from collections.abc import Callable, Iterator

import idna
import pytest

from grammar_engine import Grammar, Matcher, Vocabulary

from .engine import BYTES, accepts, dump

SCRIPTS = [
    "abcdefghijklmnopqrstuvwxyz", "aeouyố\u0301\u0302\u0308\u031b\u0323\u0327", "ǘấṩ\u0323\u031b\u0328\u0301", "αεηιουωᾴ\u0313\u0342\u0301\u0308",
    "אבגדשל\u05c1\u05b7\u05bc", "ابيوهك\u0653\u0654\u064b\u0651\u200c", "कनरम़्\u093c\u0947\u093f\u200d", "කරව\u0dca\u0dd9\u0dcf\u0ddf\u200d\u0ddd",
    "কর\u09c7\u09be\u09d7\u09cd", "ஒக\u0bd7\u0bc6\u0bbe", "かきはカキ\u3099\u309a・ー", "한국어가", "йёиеї\u0306\u0308", "\U00011131\U00011127\U00011103",
    "\u0300\u0315\u0334\u0335\u0345", "l·", "-", "٠١0۱",
]  # fmt: skip


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def is_u_label(label: str) -> bool:
    if label.isascii() or label != nfc(label):
        return False
    try:
        idna.core.check_hyphen_ok(label)
        idna.core.check_initial_combiner(label)
        if any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in label):
            idna.core.check_bidi(label, check_ltr=True)
        for at, char in enumerate(label):
            classes = {
                name for name, packed in idna.idnadata.codepoint_classes.items() if idna.intranges.intranges_contain(ord(char), packed)
            }
            if not (
                "PVALID" in classes
                or ("CONTEXTJ" in classes and idna.core.valid_contextj(label, at))
                or ("CONTEXTO" in classes and idna.core.valid_contexto(label, at))
            ):
                return False
    except (idna.IDNAError, ValueError):
        return False
    return True


def is_normalised_label(label: str) -> bool:
    return is_u_label(label) and len(label.encode("punycode")) <= 59


def is_mail_label(label: str) -> bool:
    return is_normalised_label(nfc(label))


ORACLES = {"idn-hostname": is_normalised_label, "idn-email": is_mail_label}


def reader(name: str) -> Callable[[str], bool]:
    """Whether a label is accepted."""
    matcher = Matcher(Grammar.from_json_schema({"type": "string", "format": name}), BYTES)
    before = "a@" if name == "idn-email" else ""

    def reads(label: str) -> bool:
        matcher.reset()
        return matcher.accept_bytes(dump(before + label).encode()) and matcher.is_complete

    return reads


def labels(rng: random.Random, n: int) -> Iterator[str]:
    """Random labels of one or two scripts, in form C or taken apart; few are valid."""
    for _ in range(n):
        scripts = [*rng.sample(SCRIPTS, rng.randint(1, 2)), *rng.sample(SCRIPTS[-4:], rng.randint(0, 1))]
        label = "".join(rng.choice(rng.choice(scripts)) for _ in range(rng.randint(1, 19)))
        label = rng.choice([label[:4], nfc(label), unicodedata.normalize("NFD", label)[:19]])
        if not label.isascii():
            yield label


@pytest.mark.parametrize("name", ORACLES)
def test_what_is_accepted_is_what_is_valid(name: str) -> None:
    rng, reads, is_valid = random.Random(name), reader(name), ORACLES[name]
    seen = {(form, accepted): 0 for form in (True, False) for accepted in (True, False)}
    for label in labels(rng, 16000):
        accepted = reads(label)
        assert accepted == is_valid(label), ascii(label)
        seen[label == nfc(label), accepted] += 1
    assert min(seen[True, True], seen[False, False]) > 500
    assert seen[False, True] > 500 if name == "idn-email" else seen[False, True] == 0


def test_all_short_labels_of_mail() -> None:
    """Letters, vowel signs and marks that go together in some way."""
    marks, signs, joiners = "\u0301\u031b\u0323\u0315\u0dca\u0654", "\u0dd9\u0dcf", "\u200c\u200d"
    reads, seen = reader("idn-email"), {True: 0, False: 0}
    for n in range(1, 5):
        for label in map("".join, itertools.product("aốකوك" + marks + signs + joiners, repeat=n)):
            if not label.isascii():
                accepted = reads(label)
                assert accepted == is_mail_label(label), ascii(label)
                seen[accepted] += 1
    assert min(seen.values()) > 1000


def test_every_composed_letter_taken_apart() -> None:
    """It is valid in addresses, whole and in parts; as the name of a host whole only."""
    mail, host = reader("idn-email"), reader("idn-hostname")
    n_letters = 0
    for code in range(0x80, sys.maxunicode + 1):
        letter, parts = chr(code), unicodedata.normalize("NFD", chr(code))
        if letter != parts and not 0xAC00 <= code <= 0xD7A3 and is_u_label(letter):
            n_letters += 1
            assert mail(letter) and mail(parts) and mail(parts * 2 + "a") == is_mail_label(parts * 2 + "a"), ascii(letter)
            assert host(letter) and not host(parts), ascii(letter)
    assert n_letters > 300


def test_marks_in_any_order_and_number() -> None:
    mail, host = reader("idn-email"), reader("idn-hostname")
    for label in (
        "cafe\u0301",
        "a\u0301\u0323",
        "a\u0323\u0301",
        "a\u0301\u0301",
        "ש\u05c1\u05bc",
        "ي\u0654",
        "क\u094d\u093c",
        "か\u3099",
        "e\u0302\u0301x-o\u0308",
        "a\u0301" * 10,
        "ố\u031b",
        "\u1112\u1161\u11ab",
    ):
        assert mail(label) and not host(label), ascii(label)
    for label in (
        "\u0301a",
        "E\u0301",
        "a\u0301\u200d",
        "\u0dd9\u0dca\u200d",
        "क\u0301\u094d\u200dष",
        "a\u0301א",
    ):
        assert not mail(label) and not host(label), ascii(label)
    assert mail("क\u094d\u200dष") and host("क\u094d\u200dष")


def test_a_joiner_follows_no_mark_that_is_composed() -> None:
    """U+0DD9 and U+0DCA are composed to U+0DDA, behind which there may be no joiner."""
    for name in ORACLES:
        assert not reader(name)("ක\u0dd9\u0dca\u200dක") and reader(name)("ක\u0dca\u200dක"), name


def tokens(rng: random.Random) -> list[bytes]:
    """Bytes, marks and letters, parts of them, and words of them with what may follow."""
    made = {bytes([byte]) for byte in range(256)}
    for script in SCRIPTS:
        made |= {char.encode() for char in script} | {char.encode()[:2] for char in script}
        for _ in range(25):
            word = "".join(rng.choice(script) for _ in range(rng.randint(1, 6))).encode()
            made |= {word, word[1:], word[: rng.randint(1, 5)], word + rng.choice([b"-", b".", b'"', b".com", b"\xcc"])}
    return sorted(made - {b""})


@pytest.mark.parametrize("name", ORACLES)
def test_masks_near_marks(name: str) -> None:
    rng = random.Random(1)
    each = tokens(rng)
    grammar = Grammar.from_json_schema({"type": "string", "format": name})
    matcher, other = Matcher(grammar, Vocabulary([*each, b""], eos=[len(each)])), Matcher(grammar, BYTES)
    n_masks = 0
    for label in (
        "",
        "e",
        "ố",
        "a\u0301",
        "cafe\u0323",
        "क",
        "क\u094d",
        "ක\u0dd9",
        "கொ",
        "ஒ",
        "か",
        "ي",
        "بي\u200c",
        "ש",
        "a\u0308" * 9,
        "ê-e",
        "\U00011131",
        "日・",
    ):
        text = ('"a@' if name == "idn-email" else '"').encode() + label.encode()
        for cut in range(max(1, len(text) - 2), len(text) + 1):
            matcher.reset()
            other.reset()
            if not matcher.accept_bytes(text[:cut]):
                assert not other.accept_bytes(text[:cut])
                continue
            assert other.accept_bytes(text[:cut])
            bits = int.from_bytes(bytes(matcher.mask()), "little")
            for i, token in enumerate(each):
                is_read = other.accept_bytes(token)
                assert is_read == bool(bits >> i & 1), (text[:cut], token)
                if is_read:
                    other.rollback(1)
            n_masks += 1
    assert n_masks > 25


def test_the_official_examples() -> None:
    grammar = Grammar.from_json_schema({"type": "string", "format": "idn-email"})
    for text in ("user@cafe\u0301.com", "cafe\u0301@example.com", "cafe\u0301@cafe\u0301.cafe\u0301.com", "실례@실례.테스트"):
        assert accepts(grammar, dump(text)), text
