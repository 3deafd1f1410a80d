"""`date`, `time`, `date-time`, `duration`: RFC 3339, section 5.6 and appendix A.

Beyond the grammar, a day has to exist in its month (leap years included), and a leap second (`:60`) has to be at 23:59 in UTC, whatever
the offset; which years had one is not looked up. Local time and offset then determine each other digit by digit: so the times with a leap
second are an intersection, each part of which is about one digit and has ten alternatives, not sixty.
"""

from __future__ import annotations

from .....ir import ECMA_FULL, Builder, Expr

DATE = (
    r"(?:\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))"
    r"|(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
)

_HOUR_MINUTE = r"(?:[01]\d|2[0-3]):[0-5]\d"
_TIME = rf"{_HOUR_MINUTE}:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-]{_HOUR_MINUTE})"
_LEAP = r":60(?:\.\d+)?"


def _leaps(sign: str, *pairs: tuple[str, str]) -> str:
    """A leap second: a pair is hours and minutes of the local time, and those of the offset."""
    return "|".join(local + _LEAP + sign + offset for local, offset in pairs)


# Each is about one digit. To the west time and offset add up to 23:59, ...
_WEST = (
    _leaps("-", *((rf"\d\d:\d{9 - m}", rf"\d\d:\d{m}") for m in range(10))),
    _leaps("-", *((rf"\d\d:{5 - m}\d", rf"\d\d:{m}\d") for m in range(6))),
    _leaps("-", *((rf"\d{(13 - h) % 10}:\d\d", rf"\d{h}:\d\d") for h in range(10))),
    _leaps(
        "-",
        *((rf"{2 - h}[0-3]:\d\d", rf"{h}[0-3]:\d\d") for h in range(3)),
        *((rf"{1 - h}[4-9]:\d\d", rf"{h}[4-9]:\d\d") for h in range(2)),
    ),
)
# ... to the east the offset is a minute more, in the same hour, ...
_EAST = (
    _leaps(r"\+", *((rf"\d\d:\d{(m - 1) % 10}", rf"\d\d:\d{m}") for m in range(10))),
    _leaps(r"\+", *((rf"\d\d:{m}[0-8]", rf"\d\d:{m}[1-9]") for m in range(6)), *((rf"\d\d:{m - 1}9", rf"\d\d:{m}0") for m in range(1, 6))),
    _leaps(r"\+", *((rf"\d{h}:\d\d", rf"\d{h}:\d\d") for h in range(10))),
    _leaps(r"\+", *((rf"{hours}:\d\d", rf"{hours}:\d\d") for hours in (r"0\d", r"1\d", "2[0-3]"))),
)
# ... or a whole hour.
_EAST_WHOLE = _leaps(r"\+", *((f"{(h + 23) % 24:02}:59", f"{h:02}:00") for h in range(24)))


def time(b: Builder) -> Expr:
    """`full-time`."""

    def all_of(patterns: tuple[str, ...]) -> Expr:
        return b.intersect(*(b.pattern(source, ECMA_FULL) for source in patterns))

    return b.union(b.pattern(f"{_TIME}|23:59{_LEAP}[Zz]|{_EAST_WHOLE}", ECMA_FULL), all_of(_WEST), all_of(_EAST))


def date_time(b: Builder) -> Expr:
    """`date-time`."""
    return b.concat(b.pattern(f"{DATE}[Tt]", ECMA_FULL), time(b))


_DURATION_TIME = r"T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)"
_DURATION_DATE = r"(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)"
DURATION = rf"P(?:{_DURATION_DATE}(?:{_DURATION_TIME})?|{_DURATION_TIME}|\d+W)"
