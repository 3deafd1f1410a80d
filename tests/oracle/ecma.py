"""Is a text a regular expression of ECMA-262 (edition of 2025) with the flag u? By recursive descent along the grammar of the standard.

Early errors are looked for afterwards, as the standard has them: names that both may take part in a match, references to what is not there.
What a property is called is asked of `properties`, which callers give; identifiers are those of Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_SYNTAX = "^$\\.*+?()[]{}|"
_SET = -1  # the value of an atom of a class that is more than one character


class _BadError(Exception):
    pass


def is_pattern(text: str, is_property: Callable[[str], bool]) -> bool:
    try:
        _Pattern(text, is_property).parse()
    except _BadError:
        return False
    return True


class _Pattern:
    def __init__(self, text: str, is_property: Callable[[str], bool]):
        self.text, self.at, self.is_property = text, 0, is_property
        self.n_groups, self.numbers, self.references = 0, [0], set[str]()

    def parse(self) -> None:
        names = self.disjunction()
        if self.at < len(self.text) or max(self.numbers) > self.n_groups or not self.references <= names:
            raise _BadError

    # --- the text ---

    def take(self, pattern: str) -> re.Match[str] | None:
        match = re.compile(pattern, re.DOTALL).match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def need(self, pattern: str) -> re.Match[str]:
        match = self.take(pattern)
        if not match:
            raise _BadError
        return match

    # --- the grammar; what returns names returns those of the groups in it ---

    def disjunction(self) -> set[str]:
        names = self.alternative()
        while self.take(r"\|"):
            names |= self.alternative()
        return names

    def alternative(self) -> set[str]:
        names: set[str] = set()
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            more = self.term()
            if more & names:
                raise _BadError
            names |= more
        return names

    def term(self) -> set[str]:
        if self.take(r"[\^$]|\\[bB]"):
            return set()
        if self.take(r"\(\?<?[=!]"):
            return self.group(set())
        names = self.atom()
        if bounds := self.take(r"[*+?]\??|\{(\d+)(,(\d*))?\}\??"):
            low, _, high = bounds.groups()
            if high and int(low) > int(high):
                raise _BadError
        return names

    def group(self, own: set[str]) -> set[str]:
        names = self.disjunction()
        self.need(r"\)")
        if names & own:
            raise _BadError
        return names | own

    def atom(self) -> set[str]:
        if self.take(r"\("):
            if flags := self.take(r"\?([ims]*)(-([ims]*))?:"):
                all_flags = flags[1] + (flags[3] or "")
                if len(set(all_flags)) < len(all_flags) or (flags[2] and not all_flags):
                    raise _BadError
                return self.group(set())
            self.n_groups += 1
            return self.group({self.name()} if self.take(r"\?") else set())
        if self.take(r"\["):
            self.members()
        elif self.take(r"\\(?=[1-9])"):
            self.numbers.append(int(self.need("[0-9]+")[0]))
        elif self.take(r"\\k"):
            self.references.add(self.name())
        elif self.take(r"\\"):
            self.escape(in_class=False)
        elif not self.take(r"[^\^$\\*+?()\[\]{}|]"):
            raise _BadError
        return set()

    def name(self) -> str:
        self.need("<")
        found = ""
        while not self.take(">"):
            found += chr(self.unicode()) if self.take(r"\\u") else self.need(r"[^\\]")[0]
        if not found.replace("$", "_").replace("\u200c", "_").replace("\u200d", "_").isidentifier() or found[0] in "\u200c\u200d":
            raise _BadError
        return found

    def unicode(self) -> int:
        """Behind \\u."""
        if braced := self.take(r"\{([0-9A-Fa-f]+)\}"):
            code = int(braced[1], 16)
            if code > 0x10FFFF:
                raise _BadError
            return code
        unit = int(self.need("[0-9A-Fa-f]{4}")[0], 16)
        if 0xD800 <= unit < 0xDC00 and (trail := self.take(r"\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})")):
            return 0x10000 + ((unit - 0xD800) << 10) + int(trail[1], 16) - 0xDC00
        return unit

    def escape(self, *, in_class: bool) -> int:
        """Behind a backslash: the character, or _SET."""
        if self.take("[dDsSwW]"):
            return _SET
        if name := self.take(r"[pP]\{([^}]*)\}"):
            if not self.is_property(name[1]):
                raise _BadError
            return _SET
        if letter := self.take("[fnrtv]"):
            return ord(dict(zip("fnrtv", "\f\n\r\t\v", strict=True))[letter[0]])
        if control := self.take("c([A-Za-z])"):
            return ord(control[1]) & 31
        if self.take("0(?![0-9])"):
            return 0
        if digits := self.take("x([0-9A-Fa-f]{2})"):
            return int(digits[1], 16)
        if self.take("u"):
            return self.unicode()
        if in_class and self.take("b"):
            return 8
        escaped = self.need(f"[{re.escape(_SYNTAX)}/{'-' if in_class else ''}]")
        return ord(escaped[0])

    def members(self) -> None:
        self.take(r"\^")
        while not self.take(r"\]"):
            low = self.member()
            if not self.take(r"-(?!\])"):
                continue
            high = self.member()
            if _SET in (low, high) or low > high:
                raise _BadError

    def member(self) -> int:
        return self.escape(in_class=True) if self.take(r"\\") else ord(self.need(r"[^\\\]]")[0])
