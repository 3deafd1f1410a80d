r"""`email`, `idn-email`: RFC 5321 section 4.1.2, extended by RFC 6531 section 3.3.

An address literal is IPv4 or IPv6; other tags are registered nowhere. The local part has at most 64 octets, the domain 255 (RFC 5321,
section 4.5.3.1), a label 63 (RFC 1035, section 2.3.4), counted as A-labels.

RFC 6531 adds characters to local parts and U-labels to domains, so what has the format `email` has `idn-email`, as JSON Schema asks for.
Each label stands alone: those in ASCII are not decoded, and directions are not asked of several together. A U-label is in normalisation
form C by definition (RFC 5890, section 2.3.2.1), and of such domains exactly those of the RFC are accepted. Beyond it, labels in other
forms are read as what form C makes of them: who looks a name up normalises it (RFC 5891, section 5.2), and the official suite has one. Some
of these are left out, where octets are nearly used up: all beginnings of a text in form C are in form C, so that it is known what may
follow them, but a beginning in another form may be composed with what follows (csrc/regex/names/rx_name.c).
"""

from __future__ import annotations

from .....ir import ECMA_FULL, Builder, Expr
from .hosts import IPV4, IPV6

_NOT_ASCII = r"\x80-\u{10FFFF}"
_SUBDOMAIN = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_LITERAL = rf"\[(?:{IPV4}|[Ii][Pp][Vv]6:{IPV6})\]"


def _local(b: Builder, more: str) -> Expr:
    """Local parts, with more characters than those of ASCII."""
    atom = rf"[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~\-{more}]+"
    local = rf'{atom}(?:\.{atom})*|"(?:[ !#-\[\]-~{more}]|\\[ -~])*"'
    return b.intersect(b.pattern(local, ECMA_FULL), b.repeat(b.byte_set(range(256)), 1, 64))


def email(b: Builder) -> Expr:
    """`Mailbox` of RFC 5321."""
    domain = b.intersect(b.pattern(rf"{_SUBDOMAIN}(?:\.{_SUBDOMAIN})*|{_LITERAL}", ECMA_FULL), b.repeat(b.char, 1, 255))
    return b.concat(_local(b, ""), b.bytes(b"@"), domain)


def idn_email(b: Builder, *, late: bool = False) -> Expr:
    """`Mailbox` as RFC 6531 extends it. `late`: with all host names, see `Builder.host_name`."""
    domain = b.union(b.host_name(any_form=True, of_mail=True, late=late), b.pattern(_LITERAL, ECMA_FULL))
    return b.concat(_local(b, _NOT_ASCII), b.bytes(b"@"), domain)
