"""Stand-ins for `Matcher`, small enough to be right by inspection."""

from __future__ import annotations

from collections.abc import Callable

from grammar_engine.vocabulary import Vocabulary


class ToyWriter:
    """Masks by trying every token: `is_prefix` and `is_sentence` say what
    the language is, `closing` how a prefix ends by the shortest way."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        is_prefix: Callable[[bytes], bool],
        is_sentence: Callable[[bytes], bool],
        closing: Callable[[bytes], bytes],
    ):
        self.vocabulary, self.is_prefix, self.is_sentence, self.closing = vocabulary, is_prefix, is_sentence, closing
        self.reset()

    def reset(self) -> None:
        self.text = b""
        self.is_terminated = False

    def mask(self) -> bytes:
        bits = sum(1 << t for t, piece in enumerate(self.vocabulary.tokens) if piece and self.is_prefix(self.text + piece))
        if self.is_sentence(self.text):
            bits |= sum(1 << t for t in self.vocabulary.eos)
        return bits.to_bytes(-(-self.vocabulary.width // 32) * 4, "little")

    def closing_tokens(self) -> list[int]:
        return [self.vocabulary.tokens.index(bytes((byte,))) for byte in self.closing(self.text)] + list(self.vocabulary.eos[:1])

    def accept(self, token: int) -> bool:
        assert int.from_bytes(self.mask(), "little") >> token & 1
        if token in self.vocabulary.eos:
            self.is_terminated = True
        self.text += self.vocabulary.token_bytes(token)
        return True
