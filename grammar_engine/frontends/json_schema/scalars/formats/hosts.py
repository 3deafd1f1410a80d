r"""`hostname`, `idn-hostname`, `ipv4`, `ipv6`: RFC 1123 section 2.1, RFC 5890 to 5893, RFC 2673 section 3.2, RFC 4291 section 2.2.

A label with `--` in third and fourth place is an A-label of an internationalised name (`xn--...`, in any case of the letters): what follows
is the Punycode of a U-label, as RFC 5890 to 5893 have it with the characters of Unicode 14. RFC 5893 asks that the directions of several
labels go together where a name has characters that are written from right to left; an A-label has none. So what has the format `hostname`
has `idn-hostname`, as JSON Schema asks for.

Internationalised names are read by the core (csrc/regex/names/rx_name.c): those of `idn-hostname` exactly. A beginning of a U-label may
take more octets as an A-label than there is room for, and the whole does not: more characters can take fewer octets, by one or two, since
how Punycode writes a number depends on the one before. Such are found (csrc/regex/names/rx_grow.c). What is outside is exact, too
(csrc/regex/names/rx_barred.c).
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
_LABEL = f"{_ALNUM}(?:{_ALNUM}|{_LDH}(?:{_ALNUM}(?:{_LDH}{{0,59}}{_ALNUM})?|-{_ALNUM}(?:{_LDH}{{0,58}}{_ALNUM})?))?"


def host_name(b: Builder) -> Expr:
    """Labels of at most 63 characters, at most 253 in all."""
    label = b.union(b.pattern(_LABEL, ECMA_FULL), b.concat(b.pattern("[Xx][Nn]--", ECMA_FULL), b.punycode()))
    return b.intersect(b.concat(label, b.repeat(b.concat(b.bytes(b"."), label), 0, None)), b.repeat(b.char, 1, 253))


def idn_host_name(b: Builder) -> Expr:
    """Names with labels in ASCII, A-labels, and U-labels."""
    return b.host_name(all_dots=True)
