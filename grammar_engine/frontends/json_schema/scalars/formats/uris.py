r"""`uri`, `uri-reference`, `iri`, `iri-reference`, `uri-template`: RFC 3986 appendix A, RFC 3987 section 2.2, RFC 6570 section 2.

In a literal of a template the apostrophe is allowed, as an erratum to RFC 6570 says.
"""

from __future__ import annotations

from .hosts import IPV6

_HEX = "[0-9A-Fa-f]"
_UCS = r"\u{A0}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFEF}" + "".join(
    rf"\u{{{plane:X}{'0' if plane < 14 else '1'}000}}-\u{{{plane:X}FFFD}}" for plane in range(1, 15)
)
_PRIVATE = r"\u{E000}-\u{F8FF}\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}"


def _uri(reference: bool, more: str = "", more_in_query: str = "") -> str:
    """RFC 3986, or RFC 3987 with the characters that it adds."""
    percent = f"%{_HEX}{{2}}"
    plain = rf"A-Za-z0-9._~\-{more}"
    delimiters = "!$&'()*+,;="
    pchar = f"(?:[{plain}{delimiters}:@]|{percent})"
    literal = rf"\[(?:{IPV6}|[vV]{_HEX}+\.[A-Za-z0-9._~\-{delimiters}:]+)\]"
    name = f"(?:[{plain}{delimiters}]|{percent})*"
    authority = rf"(?:(?:[{plain}{delimiters}:]|{percent})*@)?(?:{literal}|{name})(?::\d*)?"
    segments = f"(?:/{pchar}*)*"
    rooted = f"//{authority}{segments}|/(?:{pchar}+{segments})?"
    query = f"(?:[{plain}{delimiters}:@/?{more_in_query}]|{percent})*"
    tail = rf"(?:\?{query})?(?:#(?:{pchar}|[/?])*)?"
    absolute = rf"[A-Za-z][A-Za-z0-9+.\-]*:(?:{rooted}|{pchar}+{segments})?{tail}"
    if not reference:
        return absolute
    first = f"(?:[{plain}{delimiters}@]|{percent})+"
    return f"(?:{absolute}|(?:{rooted}|{first}{segments})?{tail})"


def _uri_template() -> str:
    literal = rf"[!#$&-;=?-\[\]_a-z~{_UCS}{_PRIVATE}]"
    variable = rf"(?:[A-Za-z0-9_]|%{_HEX}{{2}})"
    spec = rf"{variable}(?:\.?{variable})*(?::[1-9]\d{{0,3}}|\*)?"
    return rf"(?:{literal}|%{_HEX}{{2}}|\{{[+#./;?&=,!@|]?{spec}(?:,{spec})*\}})*"


URI, URI_REFERENCE = _uri(False), _uri(True)
IRI, IRI_REFERENCE = _uri(False, _UCS, _PRIVATE), _uri(True, _UCS, _PRIVATE)
URI_TEMPLATE = _uri_template()
