r"""The values of `format`, each as the regular expression that its RFC defines.

Idea. A format is a set of strings, so it is an expression like any other: it meets `pattern` and the lengths by intersection, and it has
a complement. The expressions are transcriptions of the ABNF in the RFC that the standard names, written from small named parts.

Where the standard asks for more than a regular expression of sensible size can say, the set here is *smaller*, never larger:

- `time`, `date-time`: a leap second (`:60`) is allowed where the time in UTC is 23:59, for offsets of whole and half hours.
- `hostname`: labels with `--` in third and fourth place (`xn--...`) are left out, since which of them are valid only IDNA tables say.
- `email`: address literals are IPv4 and IPv6.

References: RFC 3339 (date, time, date-time, duration), 5321 (email), 1123 (hostname), 2673 (ipv4), 4291 (ipv6), 3986 (uri), 3987 (iri),
6570 (uri-template), 4122 (uuid), 6901 (json-pointer).
"""

from __future__ import annotations

from collections.abc import Callable

from ...ir import ECMA_FULL, Builder, Expr

_DATE = (
    r"(?:\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))"
    r"|(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
)


def _leap_seconds() -> str:
    ways = []
    for hour in range(24):
        later, earlier = (hour + 1) % 24, 23 - hour
        utc = "[Zz]|" if hour == 23 else ""
        ways.append(rf"{hour:02}:59:60(?:\.\d+)?(?:{utc}\+{later:02}:00|-{earlier:02}:00)")
        ways.append(rf"{hour:02}:29:60(?:\.\d+)?(?:\+{hour:02}:30|-{earlier:02}:30)")
    return "|".join(ways)


_HOUR_MINUTE = r"(?:[01]\d|2[0-3]):[0-5]\d"
_TIME = rf"(?:{_HOUR_MINUTE}:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-]{_HOUR_MINUTE})|{_leap_seconds()})"
_DURATION_TIME = r"T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)"
_DURATION_DATE = r"(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)"
_DURATION = rf"P(?:{_DURATION_DATE}(?:{_DURATION_TIME})?|{_DURATION_TIME}|\d+W)"

_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4 = rf"(?:{_OCTET}\.){{3}}{_OCTET}"


def _ipv6() -> str:
    group = "[0-9A-Fa-f]{1,4}"
    last = f"(?:{group}:{group}|{_IPV4})"
    ways = [f"(?:{group}:){{6}}{last}", f"::(?:{group}:){{5}}{last}", f"(?:{group})?::(?:{group}:){{4}}{last}"]
    for before, after in ((1, f"(?:{group}:){{3}}{last}"), (2, f"(?:{group}:){{2}}{last}"), (3, f"{group}:{last}"), (4, last)):
        ways.append(f"(?:(?:{group}:){{0,{before}}}{group})?::{after}")
    ways += [f"(?:(?:{group}:){{0,5}}{group})?::{group}", f"(?:(?:{group}:){{0,6}}{group})?::"]
    return "(?:" + "|".join(ways) + ")"


_IPV6 = _ipv6()

_ALNUM, _LDH = "[A-Za-z0-9]", "[A-Za-z0-9-]"
_LABEL = f"{_ALNUM}(?:{_ALNUM}|{_LDH}(?:{_ALNUM}(?:{_LDH}{{0,59}}{_ALNUM})?|-{_ALNUM}(?:{_LDH}{{0,58}}{_ALNUM})?))?"
_HOSTNAME = rf"{_LABEL}(?:\.{_LABEL})*"

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\-]+"
_LOCAL = rf"(?:{_ATOM}(?:\.{_ATOM})*|\"(?:[ !#-\[\]-~]|\\[ -~])*\")".replace(r"\"", '"')
_SUBDOMAIN = rf"{_ALNUM}(?:{_LDH}*{_ALNUM})?"
_DOMAIN = rf"(?:{_SUBDOMAIN}(?:\.{_SUBDOMAIN})*|\[(?:{_IPV4}|[Ii][Pp][Vv]6:{_IPV6})\])"

_HEX = "[0-9A-Fa-f]"
_UUID = f"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"
_POINTER = r"(?:/(?:[^~/]|~[01])*)*"

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
    literal = rf"\[(?:{_IPV6}|[vV]{_HEX}+\.[{plain}{delimiters}:]+)\]"
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
    literal = rf"[!#$&'-;=?-\[\]_a-z~{_UCS}{_PRIVATE}]"
    variable = rf"(?:[A-Za-z0-9_]|%{_HEX}{{2}})"
    spec = rf"{variable}(?:\.?{variable})*(?::[1-9]\d{{0,3}}|\*)?"
    return rf"(?:{literal}|%{_HEX}{{2}}|\{{[+#./;?&=,!@|]?{spec}(?:,{spec})*\}})*"


def _whole(source: str) -> Callable[[Builder], Expr]:
    return lambda b: b.pattern(source, ECMA_FULL)


def _email(b: Builder) -> Expr:
    local = b.intersect(b.pattern(_LOCAL, ECMA_FULL), b.repeat(b.char, 1, 64))
    domain = b.intersect(b.pattern(_DOMAIN, ECMA_FULL), b.repeat(b.char, 1, 255))
    return b.concat(local, b.bytes(b"@"), domain)


def _hostname(b: Builder) -> Expr:
    return b.intersect(b.pattern(_HOSTNAME, ECMA_FULL), b.repeat(b.char, 1, 253))


FORMATS: dict[str, Callable[[Builder], Expr]] = {
    "date": _whole(_DATE),
    "time": _whole(_TIME),
    "date-time": _whole(f"{_DATE}[Tt]{_TIME}"),
    "duration": _whole(_DURATION),
    "email": _email,
    "hostname": _hostname,
    "ipv4": _whole(_IPV4),
    "ipv6": _whole(_IPV6),
    "uri": _whole(_uri(False)),
    "uri-reference": _whole(_uri(True)),
    "iri": _whole(_uri(False, _UCS, _PRIVATE)),
    "iri-reference": _whole(_uri(True, _UCS, _PRIVATE)),
    "uri-template": _whole(_uri_template()),
    "uuid": _whole(_UUID),
    "json-pointer": _whole(_POINTER),
    "relative-json-pointer": _whole(rf"(?:0|[1-9]\d*)(?:#|{_POINTER})"),
}

UNSUPPORTED_FORMATS = {
    "idn-email": "internationalised host names are not implemented",
    "idn-hostname": "internationalised host names are not implemented",
    "regex": "regular expressions are not a regular language",
}
