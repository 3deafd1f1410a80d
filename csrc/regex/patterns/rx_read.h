/* Reading the text of a pattern: its characters, escapes and classes. */
#ifndef GE_RX_READ_H
#define GE_RX_READ_H

#include "rx_parse.h"

enum { RX_PATTERN_END = 256 }; /* what rx_peek says at the end of the pattern */

typedef struct rx_reader {
    const u8 *text;
    size_t n, at; /* the cursor */
    u32 dialect, flags;
    rx_ranges set;   /* the class at hand ... */
    rx_ranges fixed; /* ... and what is to be added after case folding */
    budget *b;
    ge_err *err;
} rx_reader;

/* What an escape stands for. */
typedef enum rx_escape {
    RX_E_FAILED,
    RX_E_CODE,  /* a code point */
    RX_E_CLASS, /* ranges were appended to `set`, or `fixed` if they are not to be folded */
    RX_E_WORD_BOUNDARY,
    RX_E_NO_WORD_BOUNDARY,
    RX_E_START,
    RX_E_END,
    RX_E_OTHER /* none that is known */
} rx_escape;

/* --- errors: all return false ------------------------------------------------------------------------------------------- */

bool rx_malformed(rx_reader *r, size_t offset, const char *text);
bool rx_refused(rx_reader *r, size_t offset, const char *text);
/* before + name (made printable) + after */
bool rx_fail_at(rx_reader *r, ge_status status, size_t offset, const char *before, const u8 *name, size_t n, const char *after);

/* --- characters ------------------------------------------------------------------------------------------------------- */

static inline u32 rx_peek(const rx_reader *r, size_t ahead) { return r->at + ahead < r->n ? r->text[r->at + ahead] : RX_PATTERN_END; }

static inline bool rx_take(rx_reader *r, u32 byte) {
    if (rx_peek(r, 0) != byte) return false;
    r->at++;
    return true;
}

static inline bool rx_starts_with(const rx_reader *r, const char *s) {
    for (size_t i = 0; s[i]; i++)
        if (rx_peek(r, i) != (u8)s[i]) return false;
    return true;
}

static inline bool rx_is_python(const rx_reader *r) { return r->dialect == RX_PYTHON_FULL; }

static inline bool rx_is_digit(u32 c) { return c >= '0' && c <= '9'; }

static inline bool rx_is_letter(u32 c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

bool rx_check_utf8(rx_reader *r);
/* One code point at the cursor; the pattern is known to be valid UTF-8 and not to end here. */
u32 rx_next_code(rx_reader *r);
/* Decimal digits at the cursor; false if there are none. A number that is too large becomes UINT64_MAX. */
bool rx_read_number(rx_reader *r, u64 *number);

/* --- escapes and classes ---------------------------------------------------------------------------------------------- */

static inline void rx_begin_class(rx_reader *r) { r->set.n = r->fixed.n = 0; }
/* What stands behind the "\" that the cursor is behind of. */
rx_escape rx_read_escape(rx_reader *r, bool in_class, u32 *code);
/* [...] at the cursor: its members are in `set` and `fixed`, not yet folded and negated. */
bool rx_read_class(rx_reader *r, bool *negated);
/* Where the class ends that begins at the cursor, [...] or \d or \p{...}; 0 if there is none. Agrees with what reads
 * them on all that it accepts. */
size_t rx_class_end(const rx_reader *r);

#endif
