r"""`hostname`, `ipv4`, `ipv6`: RFC 1123 section 2.1, RFC 2673 section 3.2, RFC 4291 section 2.2.

A label with `--` in third and fourth place is an A-label of an internationalised name (`xn--...`, in any case of the letters): what follows is
the Punycode of a U-label, as RFC 5890 to 5893 have it with the characters of Unicode 14. Whether the directions of several labels go together
is asked of `idn-hostname` only, where they are seen.
"""

from __future__ import annotations

from .....ir import ECMA_FULL, Builder, Expr

_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
IPV4 = rf"(?:{_OCTET}\.){{3}}{_OCTET}"


def _ipv6() -> str:
    group = "[0-9A-Fa-f]{1,4}"
    last = f"(?:{group}:{group}|{IPV4})"
    ways = [f"(?:{group}:){{6}}{last}", f"::(?:{group}:){{5}}{last}", f"(?:{group})?::(?:{group}:){{4}}{last}"]
    for before, after in ((1, f"(?:{group}:){{3}}{last}"), (2, f"(?:{group}:){{2}}{last}"), (3, f"{group}:{last}"), (4, last)):
        ways.append(f"(?:(?:{group}:){{0,{before}}}{group})?::{after}")
    ways += [f"(?:(?:{group}:){{0,5}}{group})?::{group}", f"(?:(?:{group}:){{0,6}}{group})?::"]
    return "(?:" + "|".join(ways) + ")"


IPV6 = _ipv6()

_ALNUM, _LDH = "[A-Za-z0-9]", "[A-Za-z0-9-]"
_REST = f"(?:{_ALNUM}|{_LDH}(?:{_ALNUM}(?:{_LDH}{{0,59}}{_ALNUM})?|-{_ALNUM}(?:{_LDH}{{0,58}}{_ALNUM})?))?"
LABEL, LABEL_WITH_LETTER = f"{_ALNUM}{_REST}", f"[A-Za-z]{_REST}"


def label(b: Builder, *, left: bool = False) -> Expr:
    """A label in ASCII. `left`: of A-labels only those without characters that are written from right to left."""
    return b.union(b.pattern(LABEL, ECMA_FULL), b.concat(b.pattern("[Xx][Nn]--", ECMA_FULL), b.punycode(left=left)))


def host_name(b: Builder) -> Expr:
    """Labels of at most 63 characters, at most 253 in all."""
    one = label(b)
    return b.intersect(b.concat(one, b.repeat(b.concat(b.bytes(b"."), one), 0, None)), b.repeat(b.char, 1, 253))
