/* Sets of code points for the parser: escapes, properties, complement and case folding. Stage 3 of 7: text -> expressions.
 *
 * Idea. A set is a vector of ranges that is filled in any order and then sorted. Unicode sets are unpacked from the generated tables
 * into it, so that a class costs in proportion to its ranges and nothing is kept between patterns.
 *
 * Case. ECMA-262 with the u flag compares characters after simple case folding. Python's `re` compares simple lower cases and adds
 * classes by hand; the outcome is the same partition but for one class, { I, i, U+0130, U+0131 } (make_unicode.py checks that on all
 * code points). With Python's ASCII flag only ASCII letters have two cases. A class matches a character if it contains one that is
 * equal to it but for case, so a class is closed under equality *before* it is complemented: [^k] does not match K. In Python that does
 * not hold of \d \w \s, also in [...]: U+0345 is equal to iota but for case, yet no word character. */
#include "rx_parse.h"
#include "rx_unicode.h"

#define LAST_CODE 0x10ffffu

bool rx_ranges_add(budget *b, rx_ranges *r, u32 low, u32 high) {
    char_range range = {low, high};
    return vec_push(b, r, range);
}

static int compare_ranges(const void *a, const void *b) {
    const char_range *p = a, *q = b;
    return p->low < q->low ? -1 : p->low > q->low;
}

void rx_ranges_sort(rx_ranges *r) {
    bool sorted = true;
    for (u32 i = 1; i < r->n && sorted; i++) sorted = r->at[i - 1].high + 1 < r->at[i].low;
    if (sorted) return;
    qsort(r->at, r->n, sizeof *r->at, compare_ranges);
    u32 n = 0;
    for (u32 i = 0; i < r->n; i++) {
        if (n && r->at[i].low <= r->at[n - 1].high + 1) r->at[n - 1].high = max_u32(r->at[n - 1].high, r->at[i].high);
        else r->at[n++] = r->at[i];
    }
    r->n = n;
}

bool rx_ranges_invert(budget *b, rx_ranges *r) {
    rx_ranges_sort(r);
    if (!vec_reserve(b, r, 1)) return false;
    u32 next = 0, n = 0; /* next: first code point that is in no range so far; n <= i, so nothing unread is overwritten */
    for (u32 i = 0; i < r->n; i++) {
        char_range range = r->at[i];
        if (next < range.low) {
            r->at[n].low = next;
            r->at[n++].high = range.low - 1;
        }
        next = range.high + 1;
    }
    if (next <= LAST_CODE) {
        r->at[n].low = next;
        r->at[n++].high = LAST_CODE;
    }
    r->n = n;
    return true;
}

/* --- case ------------------------------------------------------------------------------------------------------------- */

static u32 first_fold(u32 code) { /* index of the first entry that is not below code */
    u32 low = 0, high = rx_unicode_n_folds;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (rx_unicode_folds[middle].code < code) low = middle + 1;
        else high = middle;
    }
    return low;
}

static bool contains(const rx_ranges *r, u32 code) {
    for (u32 i = 0; i < r->n; i++)
        if (r->at[i].low <= code && code <= r->at[i].high) return true;
    return false;
}

static bool fold_ascii(budget *b, rx_ranges *r, u32 first, u32 last, u32 n) { /* of the first n ranges, [first, last] in the other case */
    for (u32 i = 0; i < n; i++) {
        u32 low = max_u32(r->at[i].low, first), high = min_u32(r->at[i].high, last);
        if (low <= high && !rx_ranges_add(b, r, low ^ 0x20, high ^ 0x20)) return false;
    }
    return true;
}

bool rx_ranges_fold(budget *b, rx_ranges *r, u32 dialect, u32 flags) {
    rx_ranges_sort(r);
    u32 n = r->n;
    if (!(flags & RX_IGNORE_CASE)) return true;
    if (dialect == RX_PYTHON_FULL && flags & RX_ASCII) {
        if (!fold_ascii(b, r, 'a', 'z', n) || !fold_ascii(b, r, 'A', 'Z', n)) return false;
        rx_ranges_sort(r);
        return true;
    }
    static const u32 dotless[] = {'I', 'i', 0x130, 0x131};
    bool python_i = false;
    for (u32 i = 0; i < 4 && dialect == RX_PYTHON_FULL && !python_i; i++) python_i = contains(r, dotless[i]);
    for (u32 i = 0; python_i && i < 4; i++)
        if (!rx_ranges_add(b, r, dotless[i], dotless[i])) return false;
    for (u32 i = 0; i < n; i++) {
        char_range range = r->at[i];
        for (u32 f = first_fold(range.low); f < rx_unicode_n_folds && rx_unicode_folds[f].code <= range.high; f++) {
            u32 code = rx_unicode_folds[f].code, other = rx_unicode_folds[f].next;
            while (other != code) {
                if ((other < range.low || other > range.high) && !rx_ranges_add(b, r, other, other)) return false;
                other = rx_unicode_folds[first_fold(other)].next;
            }
        }
    }
    rx_ranges_sort(r);
    return true;
}

/* --- tables ----------------------------------------------------------------------------------------------------------- */

static u32 read_distance(u32 *at) {
    u32 value = 0, shift = 0;
    u8 byte;
    do {
        byte = rx_unicode_data[(*at)++];
        value |= (u32)(byte & 127) << shift;
        shift += 7;
    } while (byte & 128);
    return value;
}

static bool add_tables(budget *b, rx_ranges *r, u32 first, u32 count) {
    for (u32 t = first; t < first + count; t++) {
        u32 at = rx_unicode_starts[t], code = 0;
        while (at < rx_unicode_starts[t + 1]) {
            u32 low = code + read_distance(&at), high = low + read_distance(&at);
            if (!rx_ranges_add(b, r, low, high)) return false;
            code = high + 1;
        }
    }
    return true;
}

static bool add_digits(budget *b, rx_ranges *r, bool unicode) {
    return unicode ? add_tables(b, r, RX_TABLE_DIGITS, 1) : rx_ranges_add(b, r, '0', '9');
}

static bool add_word(budget *b, rx_ranges *r, bool unicode) {
    if (!rx_ranges_add(b, r, '_', '_')) return false;
    if (unicode) return add_tables(b, r, RX_TABLE_LETTERS, RX_N_LETTERS) && add_tables(b, r, RX_TABLE_NUMBERS, RX_N_NUMBERS);
    return rx_ranges_add(b, r, '0', '9') && rx_ranges_add(b, r, 'A', 'Z') && rx_ranges_add(b, r, 'a', 'z');
}

static bool add_spaces(budget *b, rx_ranges *r, u32 dialect, u32 flags) {
    bool ok = rx_ranges_add(b, r, '\t', '\r') && rx_ranges_add(b, r, ' ', ' ');
    if (flags & RX_ASCII) return ok;
    ok = ok && add_tables(b, r, RX_TABLE_SPACES, 1) && rx_ranges_add(b, r, 0x2028, 0x2029);
    if (dialect != RX_PYTHON_FULL) return ok && rx_ranges_add(b, r, 0xfeff, 0xfeff); /* WhiteSpace and LineTerminator */
    return ok && rx_ranges_add(b, r, 0x1c, 0x1f) && rx_ranges_add(b, r, 0x85, 0x85);  /* str.isspace */
}

bool rx_ranges_escape(budget *b, rx_ranges *r, u32 letter, u32 dialect, u32 flags) {
    bool unicode = dialect == RX_PYTHON_FULL && !(flags & RX_ASCII);
    rx_ranges set = {0};
    bool ok = false;
    switch (letter | 0x20) {
    case 'd': ok = add_digits(b, &set, unicode); break;
    case 'w': ok = add_word(b, &set, unicode); break;
    case 's': ok = add_spaces(b, &set, dialect, flags); break;
    default: assert(false);
    }
    /* ECMA-262 WordCharacters: with u and i, \w also has U+017F and U+212A, and \W is the complement of that. */
    if (ok && dialect != RX_PYTHON_FULL) ok = rx_ranges_fold(b, &set, dialect, flags);
    else rx_ranges_sort(&set);
    if (ok && !(letter & 0x20)) ok = rx_ranges_invert(b, &set);
    for (u32 i = 0; ok && i < set.n; i++) ok = rx_ranges_add(b, r, set.at[i].low, set.at[i].high);
    vec_drop(b, &set);
    return ok;
}

bool rx_ranges_line_ends(budget *b, rx_ranges *r, u32 dialect) {
    if (!rx_ranges_add(b, r, '\n', '\n')) return false;
    return dialect == RX_PYTHON_FULL || (rx_ranges_add(b, r, '\r', '\r') && rx_ranges_add(b, r, 0x2028, 0x2029));
}

/* --- properties by name ----------------------------------------------------------------------------------------------- */

typedef struct plain_name {
    char at[48];
    size_t n;
} plain_name;

/* Capitals and digits only: "Old_Italic", "old italic" and "OldItalic" are one name (UAX #44, LM3). */
static bool simplify(plain_name *to, const u8 *name, size_t n) {
    to->n = 0;
    for (size_t i = 0; i < n; i++) {
        u8 c = name[i];
        if (c == '_' || c == '-' || c == ' ') continue;
        if (c >= 'a' && c <= 'z') c = (u8)(c - 0x20);
        if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) || to->n + 1 >= sizeof to->at) return false;
        to->at[to->n++] = (char)c;
    }
    to->at[to->n] = 0;
    return true;
}

static bool is_one_of(const plain_name *name, const char *first, const char *second) {
    return strcmp(name->at, first) == 0 || strcmp(name->at, second) == 0;
}

static const rx_unicode_name *find_name(u32 space, const plain_name *name) {
    u32 low = 0, high = rx_unicode_n_names;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        const rx_unicode_name *entry = &rx_unicode_names[middle];
        int order = entry->space != space ? (entry->space < space ? -1 : 1) : strcmp(entry->name, name->at);
        if (order == 0) return entry;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return NULL;
}

bool rx_ranges_property(budget *b, rx_ranges *r, const u8 *name, size_t n, bool *known) {
    *known = false;
    plain_name key = {0}, value;
    size_t equals = 0;
    while (equals < n && name[equals] != '=') equals++;
    const rx_unicode_name *found = NULL;
    bool extensions = false;
    if (equals < n) {
        if (!simplify(&key, name, equals) || !simplify(&value, name + equals + 1, n - equals - 1)) return true;
        extensions = is_one_of(&key, "SCX", "SCRIPTEXTENSIONS");
        if (is_one_of(&key, "GC", "GENERALCATEGORY")) found = find_name(RX_NAME_CATEGORY, &value);
        else if (extensions || is_one_of(&key, "SC", "SCRIPT")) found = find_name(RX_NAME_SCRIPT, &value);
    } else {
        if (!simplify(&value, name, n)) return true;
        found = find_name(RX_NAME_CATEGORY, &value);
        if (!found) found = find_name(RX_NAME_BINARY, &value);
        if (!found) found = find_name(RX_NAME_SCRIPT, &value); /* not ECMA-262, but what other dialects mean by it */
    }
    if (!found) return true;
    *known = true;
    if (found->space != RX_NAME_SCRIPT) return add_tables(b, r, found->first, found->count);
    return add_tables(b, r, extensions ? found->count : found->first, 1);
}
