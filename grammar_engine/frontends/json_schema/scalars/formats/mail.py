r"""`email`, `idn-email`: RFC 5321 section 4.1.2, extended by RFC 6531 section 3.3.

An address literal is IPv4 or IPv6; other tags are registered nowhere. The local part has at most 64 octets, the domain 255 (RFC 5321,
section 4.5.3.1). Domains of `idn-email` are names of `idn-hostname` with ASCII dots, in any normalisation form: who looks a name up normalises it
(RFC 5891, section 5.2), and so the official suite has it. All that is asked of labels is asked of their form C.
"""

from __future__ import annotations

from .....ir import ECMA_FULL, Builder, Expr
from .hosts import IPV4, IPV6

_NOT_ASCII = r"\x80-\u{10FFFF}"
_SUBDOMAIN = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
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
    domain = b.union(b.host_name(any_form=True, late=late), b.pattern(_LITERAL, ECMA_FULL))
    return b.concat(_local(b, _NOT_ASCII), b.bytes(b"@"), domain)
