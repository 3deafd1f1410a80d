"""`date`, `time`, `date-time`, `duration`: RFC 3339, section 5.6 and appendix A.

Beyond the grammar, a day has to exist in its month (leap years included), and a leap second (`:60`) has to be at 23:59 in UTC, whatever
the offset; which years had one is not looked up. Local time and offset then determine each other, hours by hours and minutes by minutes:
so the times with a leap second are those with the right hours *and* the right minutes, an intersection.
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
_WHOLE_HOURS_EAST = "|".join(f"{(hour + 23) % 24:02}:59{_LEAP}\\+{hour:02}:00" for hour in range(24))
_HOURS_EAST = "|".join(rf"{hour:02}:\d\d{_LEAP}\+{hour:02}:\d\d" for hour in range(24))
_MINUTES_EAST = "|".join(rf"\d\d:{minute - 1:02}{_LEAP}\+\d\d:{minute:02}" for minute in range(1, 60))
_HOURS_WEST = "|".join(rf"{23 - hour:02}:\d\d{_LEAP}-{hour:02}:\d\d" for hour in range(24))
_MINUTES_WEST = "|".join(rf"\d\d:{59 - minute:02}{_LEAP}-\d\d:{minute:02}" for minute in range(60))


def time(b: Builder) -> Expr:
    """`full-time`."""

    def parsed(source: str) -> Expr:
        return b.pattern(source, ECMA_FULL)

    east = b.intersect(parsed(_HOURS_EAST), parsed(_MINUTES_EAST))
    west = b.intersect(parsed(_HOURS_WEST), parsed(_MINUTES_WEST))
    return b.union(parsed(f"{_TIME}|23:59{_LEAP}[Zz]|{_WHOLE_HOURS_EAST}"), east, west)


def date_time(b: Builder) -> Expr:
    """`date-time`."""
    return b.concat(b.pattern(f"{DATE}[Tt]", ECMA_FULL), time(b))


_DURATION_TIME = r"T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)"
_DURATION_DATE = r"(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)"
DURATION = rf"P(?:{_DURATION_DATE}(?:{_DURATION_TIME})?|{_DURATION_TIME}|\d+W)"
