"""The values of `format`, each as the regular expression that its RFC defines, one file a family.

Idea. A format is a set of strings, so it is an expression like any other: it meets `pattern` and the lengths by intersection, and it has
a complement. The expressions are transcriptions of the ABNF in the RFC that the standard names, written from small named parts.

Each is exact for what its RFC defines. Beyond it, `idn-email` reads texts in other normalisation forms, but for some: mail.py. NARROWED
says that in short, for the report of a schema that uses such a format.

Invariant. NARROWED and WIDER have the same names. FORMATS[f] <= the strings of format f <= WIDER[f], or equal to FORMATS[f] where there is
no WIDER[f]. So what is outside of WIDER[f] surely does not have the format: that is what `not` admits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from .....fragment import Fragment
from .....ir import ECMA_FULL, Builder, Expr
from . import hosts, mail, times, uris

_HEX = "[0-9A-Fa-f]"
_UUID = f"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"  # RFC 4122, section 3
_POINTER = r"(?:/(?:[^~/]|~[01])*)*"  # RFC 6901, section 3
_RELATIVE_POINTER = rf"(?:0|[1-9]\d*)(?:#|{_POINTER})"  # draft-handrews-relative-json-pointer-02, section 3


def _whole(source: str) -> Callable[[Builder], Expr]:
    return lambda b: b.pattern(source, ECMA_FULL)


FORMATS: dict[str, Callable[[Builder], Expr]] = {
    "date": _whole(times.DATE),
    "time": times.time,
    "date-time": times.date_time,
    "duration": _whole(times.DURATION),
    "email": mail.email,
    "idn-email": mail.idn_email,
    "hostname": hosts.host_name,
    "idn-hostname": hosts.idn_host_name,
    "ipv4": _whole(hosts.IPV4),
    "ipv6": _whole(hosts.IPV6),
    "uri": _whole(uris.URI),
    "uri-reference": _whole(uris.URI_REFERENCE),
    "iri": _whole(uris.IRI),
    "iri-reference": _whole(uris.IRI_REFERENCE),
    "uri-template": _whole(uris.URI_TEMPLATE),
    "uuid": _whole(_UUID),
    "json-pointer": _whole(_POINTER),
    "relative-json-pointer": _whole(_RELATIVE_POINTER),
    "regex": Builder.syntax,  # ECMA-262, edition of 2025, "Patterns"
}

WIDER: dict[str, Callable[[Builder], Expr]] = {"idn-email": partial(mail.idn_email, late=True)}


@cache
def fragment(name: str) -> Fragment:
    """The expression of `FORMATS[name]`, for builders to copy."""
    return Fragment(FORMATS[name], is_common=True)


# Formats of which nearly each text is a state, so that they are not joined with other sets to one expression.
WITHIN = {"email": "idn-email", "hostname": "idn-hostname"}  # part of the other, by JSON Schema, Validation, sections 7.3.2 and 7.3.3
APART = frozenset({"idn-hostname", "idn-email"})

NARROWED = {
    "idn-email": "without some domains that are not in normalisation form C, which RFC 5890 asks for: those in which a beginning of a "
    "label takes more octets than there is room for, and the whole does not",
}
