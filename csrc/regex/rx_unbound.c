/* Expressions with labels of any length: what stands for those with labels of at most 63 octets where the bound does no harm.
 *
 * What was read of a label is part of LABEL (rx_label.c), so such expressions do not recur. Let E' be E with L in place of each LABEL(L), but none
 * inside a complement: then E is a subset of E', which recurs. A text of E' is one of E if each label that it may go on with or begin fits:
 *
 *     it goes on with a label         the characters of labels with which it begins, behind what was read
 *     it begins a label somewhere     any run of characters of labels in it, if few enough to fit whatever they are
 *
 * So E is empty if E' is; and it is not, mostly, since a short string of E' fits. Such strings, *endings*, are found by a search as in rx_finish, and
 * kept as links: for each node on the way, the byte and the node that come next. */
#include "rx_unbound.h"
#include "utf8.h"

enum { ENDING_NODES = 4000, ENDING_BUCKETS = 256 };

static rx_id unbound_parts(rx_arena *x, rx_id id, rx_kind kind) {
    id_vec parts = {0};
    bool ok = true;
    for (u32 i = 1; ok && i < intern_length(&x->nodes, id); i++) {
        rx_id part = rx_unbound(x, intern_words(&x->nodes, id)[i]);
        ok = part != NONE && vec_push(x->b, &parts, part);
    }
    rx_id result = !ok ? NONE : kind == RX_AND ? rx_and(x, parts.at, parts.n) : rx_or(x, parts.at, parts.n);
    vec_drop(x->b, &parts);
    return result;
}

static rx_id unbound_concat(rx_arena *x, rx_id id) {
    id_vec heads = {0};
    bool ok = true;
    for (; ok && rx_kind_of(x, id) == RX_CONCAT && x->meta.at[id].flags & RX_LABELLED; id = intern_words(&x->nodes, id)[2])
        ok = vec_push(x->b, &heads, intern_words(&x->nodes, id)[1]);
    rx_id result = ok ? rx_unbound(x, id) : NONE;
    while (heads.n && result != NONE) result = rx_concat(x, rx_unbound(x, heads.at[--heads.n]), result);
    vec_drop(x->b, &heads);
    return result;
}

rx_id rx_unbound(rx_arena *x, rx_id id) {
    u32 node[5] = {0}; /* a copy: the pool may move below */
    if (id == NONE || !(x->meta.at[id].flags & RX_LABELLED)) return id;
    rx_id result = map_get(&x->unbound, id);
    if (result != NONE) return result;
    memcpy(node, intern_words(&x->nodes, id), min_u32(intern_length(&x->nodes, id), 5) * sizeof *node);
    if (!budget_work(x->b, 1)) return NONE;
    switch ((rx_kind)node[0]) {
    case RX_CONCAT: result = unbound_concat(x, id); break;
    case RX_QUOTE: result = rx_quote_again(x, rx_unbound(x, node[1]), node); break;
    case RX_REPEAT: result = rx_repeat(x, rx_unbound(x, node[1]), node[2], node[3]); break;
    case RX_TAG: result = rx_tag(x, rx_unbound(x, node[1]), node[2]); break;
    case RX_FORK: result = rx_unbound(x, node[1]), result = result == NONE ? NONE : rx_fork(x, result, rx_unbound(x, node[2])); break;
    case RX_LABEL: result = rx_unbound(x, node[1]); break;
    default: result = unbound_parts(x, id, node[0]); break; /* RX_OR, RX_AND */
    }
    return result == NONE || !map_put(x->b, &x->unbound, id, result) ? NONE : result;
}

/* --- endings --------------------------------------------------------------------------------------------------------------- */

typedef struct ending_node {
    rx_id id;
    u32 parent, byte, length, next; /* index; the last byte, and how many there are of the way to it; what else is in its bucket */
} ending_node;

static bool has_ending(const rx_arena *x, rx_id id) { return rx_nullable(x, id) || map_get(&x->ending_of, id) != NONE; }

static bool keep_ending(rx_arena *x, rx_id id, rx_ending link) {
    return map_put(x->b, &x->ending_of, id, x->endings.n) && vec_push(x->b, &x->endings, link);
}

/* Follows first those derivatives for which the way there and a guess at the rest are shortest. */
static bool find_ending(rx_arena *x, rx_id start) {
    VEC(ending_node) nodes = {0};
    u32 bucket[ENDING_BUCKETS], lowest = 0, found = NONE;
    word_map seen = {0};
    rx_refresh_classes(x);
    memset(bucket, 0xff, sizeof bucket);
    bucket[0] = 0;
    bool ok = vec_push(x->b, &nodes, ((ending_node){start, NONE, 0, 0, NONE})) && map_put(x->b, &seen, start, 0);
    while (ok && found == NONE && nodes.n < ENDING_NODES) {
        while (lowest < ENDING_BUCKETS && bucket[lowest] == NONE) lowest++;
        if (lowest == ENDING_BUCKETS) break;
        u32 index = bucket[lowest];
        ending_node at = nodes.at[index];
        bucket[lowest] = at.next;
        u8 same[256];
        ok = rx_told_apart(x, at.id, same);
        for (u32 c = 0; ok && found == NONE && at.length < RX_ENDING && c < x->n_classes; c++) {
            if (same[c] != c) continue;
            rx_id id = rx_derive(x, at.id, x->class_byte[c]);
            ok = id != NONE && budget_work(x->b, 1);
            if (!ok || id == RX_ID_NEVER || map_get(&seen, id) != NONE) continue;
            u32 length = at.length + 1, to = min_u32(length + x->meta.at[id].distance, ENDING_BUCKETS - 1);
            ok = map_put(x->b, &seen, id, 0) && vec_push(x->b, &nodes, ((ending_node){id, index, x->class_byte[c], length, bucket[to]}));
            if (!ok) break;
            bucket[to] = nodes.n - 1;
            lowest = min_u32(lowest, to);
            if (has_ending(x, id)) found = nodes.n - 1;
        }
    }
    if (ok && found == NONE) ok = keep_ending(x, start, (rx_ending){NONE, 0});
    for (u32 i = found; ok && i != NONE && nodes.at[i].parent != NONE; i = nodes.at[i].parent)
        ok = keep_ending(x, nodes.at[nodes.at[i].parent].id, (rx_ending){nodes.at[i].id, nodes.at[i].byte});
    vec_drop(x->b, &nodes);
    map_drop(x->b, &seen);
    return ok;
}

bool rx_ending_text(rx_arena *x, rx_id id, byte_vec *out, bool *found) {
    u32 n = 0;
    *found = true;
    if (!has_ending(x, id) && !find_ending(x, id)) return false;
    for (; *found && !rx_nullable(x, id); n++) {
        rx_ending link = x->endings.at[map_get(&x->ending_of, id)];
        *found = link.next != NONE && n < RX_ENDING;
        if (*found && !vec_push(x->b, out, (u8)link.byte)) return false;
        id = link.next;
    }
    return true;
}

/* --- labels ---------------------------------------------------------------------------------------------------------------- */

static bool add_label(rx_arena *x, u32 text, u32 begun, rx_labels *out) {
    label_state label = {.text = text, .begun = begun};
    for (u32 i = 0; i < out->n; i++)
        if (out->at[i].text == text && out->at[i].begun == begun) return true;
    rx_label_text(x, text, &label.read);
    if (label.read.n == 0 && begun == 0) return true; /* it begins: see rx_keeps_labels */
    for (label_text longer = label.read; longer.n < LABEL_LONGEST; label.most_plain++) {
        label_append(&longer, 'a');
        if (!label_fits(&longer)) break;
    }
    return vec_push(x->b, out, label);
}

bool rx_add_labels(rx_arena *x, rx_id id, rx_labels *out, bool *raw) {
    for (bool last = false; !last && x->meta.at[id].flags & RX_LABELLED;) {
        const u32 *node = intern_words(&x->nodes, id); /* no node is made below, so it stays */
        u32 n = node[0] == RX_OR || node[0] == RX_AND || node[0] == RX_FORK ? intern_length(&x->nodes, id) : 2;
        if (node[0] == RX_LABEL && !add_label(x, node[2], node[3], out)) return false;
        if (node[0] == RX_QUOTE && node[3]) *raw = false;
        for (u32 i = 1; i < n; i++)
            if (!rx_add_labels(x, node[i], out, raw)) return false;
        last = node[0] != RX_CONCAT || !rx_nullable(x, node[1]); /* of a sequence the first, and those that may be skipped */
        if (!last) id = node[2];
    }
    return true;
}

bool rx_begins_with_punycode(const rx_arena *x, rx_id id) {
    for (bool last = false; !last;) {
        const u32 *node = intern_words(&x->nodes, id);
        u32 n = intern_length(&x->nodes, id);
        last = true;
        switch ((rx_kind)node[0]) {
        case RX_PUNYCODE: return true;
        case RX_OR: case RX_AND: case RX_FORK:
            for (u32 i = 1; i < n; i++)
                if (rx_begins_with_punycode(x, node[i])) return true;
            break;
        case RX_NOT: case RX_REPEAT: case RX_QUOTE: case RX_TAG: id = node[1], last = false; break;
        case RX_CONCAT: /* the first, and those that may be skipped */
            if (rx_begins_with_punycode(x, node[1])) return true;
            if (rx_nullable(x, node[1])) id = node[2], last = false;
            break;
        default: break;
        }
    }
    return false;
}

static bool is_of_label(u32 code) {
    return code >= 0x80 || code == '-' || (code >= '0' && code <= '9') || (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
}

/* The code point at *at, of which some bytes came before; NONE: there is none. */
static u32 read_code(const u8 *text, u32 n, u32 begun, u32 *at) {
    u32 low = 0, high = 1;
    while (*at < n && low < high) {
        begun = begun << 8 | text[(*at)++];
        if (begun < 0x80) return begun;
        if (!utf8_range(begun, &low, &high)) return NONE;
    }
    return low == high ? low : NONE;
}

/* A run of characters of labels. */
typedef struct label_run {
    u32 n, n_far, sort; /* as in label_text */
    u32 code[LABEL_LONGEST];
} label_run;

static bool add_to_run(label_run *run, u32 code) {
    if (run->n == LABEL_LONGEST) return false;
    run->code[run->n++] = code;
    run->n_far += code >= 0x80;
    run->sort = max_u32(run->sort, label_sort(code));
    return true;
}

/* Does a label fit that goes on with the run, and does each beginning of it? */
static bool fits_with(const label_state *label, const label_run *run) {
    const label_text *read = &label->read;
    if (run->n_far == 0) return run->n <= label->most_plain;
    if (label_is_sure(read->n - read->n_far + run->n - run->n_far, read->n_far + run->n_far, max_u32(read->sort, run->sort))) return true;
    label_text longer = *read;
    for (u32 i = 0; i < run->n; i++) {
        if (longer.n == LABEL_LONGEST) return false;
        label_append(&longer, run->code[i]);
        if (!label_fits(&longer)) return false;
    }
    return true;
}

bool rx_keeps_labels(const rx_labels *labels, const u8 *text, u32 n) {
    u32 begun = 0, at = 0;
    for (u32 i = 0; i < labels->n; i++) {
        if (begun && labels->at[i].begun && labels->at[i].begun != begun) return false;
        begun |= labels->at[i].begun;
    }
    for (bool first = true; at < n || first; first = false) {
        label_run run;
        run.n = run.n_far = run.sort = 0;
        for (u32 code; at < n; begun = 0) {
            if ((code = read_code(text, n, begun, &at)) == NONE || code == '\\') return false;
            if (!is_of_label(code)) break;
            if (!add_to_run(&run, code)) return false;
        }
        if (!label_is_sure(run.n - run.n_far, run.n_far, run.sort)) return false; /* a label may begin anywhere in it */
        for (u32 i = 0; first && i < labels->n; i++)
            if (!fits_with(&labels->at[i], &run)) return false;
    }
    return true;
}

/* Do all characters that n bytes can be fit behind so many, whatever they are? */
static bool is_sure_of_bytes(u32 n, u32 n_plain, u32 n_far, u32 sort) {
    if (!label_is_sure(n_plain + n, n_far, sort)) return false;
    for (u32 highest = 0; highest < 3; highest++)
        for (u32 k = 1, bytes = highest + 2; bytes <= n; k++, bytes += 2) /* one so high, and others of two bytes */
            if (!label_is_sure(n_plain + n - bytes, n_far + k, max_u32(sort, highest))) return false;
    return true;
}

u32 rx_sure_bytes(const rx_labels *labels) {
    u32 n = 0;
    while (is_sure_of_bytes(n + 1, 0, 0, 0)) n++;
    for (u32 i = 0; i < labels->n; i++) {
        const label_text *read = &labels->at[i].read;
        bool begun = labels->at[i].begun != 0; /* its rest is taken for characters, too */
        while (n && !is_sure_of_bytes(n, read->n - read->n_far, read->n_far + begun, begun ? 2 : read->sort)) n--;
    }
    return n;
}

/* Do all strings of `id` go on with a label? Not => maybe. */
static bool goes_on_with_label(const rx_arena *x, rx_id id) {
    const u32 *node = intern_words(&x->nodes, id);
    u32 n = intern_length(&x->nodes, id);
    bool is_or = node[0] == RX_OR;
    switch ((rx_kind)node[0]) {
    case RX_LABEL: return true;
    case RX_CONCAT: case RX_QUOTE: case RX_TAG: return goes_on_with_label(x, node[1]);
    case RX_OR: case RX_AND: /* all of them; one of them */
        for (u32 i = 1; i < n; i++)
            if (goes_on_with_label(x, node[i]) != is_or) return !is_or;
        return is_or;
    default: return false;
    }
}

/* The last byte of a character is missing, and with none does a label fit. Not => maybe. */
static bool are_at_end(const rx_arena *x, rx_id id, const rx_labels *labels) {
    u32 low, high;
    for (u32 i = 0; i < labels->n; i++) {
        const label_state *label = &labels->at[i];
        if (!label->begun || !utf8_range(label->begun, &low, &high) || high - low >= 64) return false;
        if (label_fits_with_one(&label->read, low, high)) return false;
    }
    return labels->n && goes_on_with_label(x, id);
}

rx_verdict rx_label_verdict(rx_arena *x, rx_id id) {
    rx_id unbound = rx_unbound(x, id);
    if (unbound == NONE) return RX_UNKNOWN;
    if (rx_is_empty(x, unbound)) return RX_IS_EMPTY;
    byte_vec ending = {0};
    rx_labels labels = {0};
    bool raw = true, found = false;
    bool ok = x->b->status == GE_OK && rx_ending_text(x, unbound, &ending, &found) && rx_add_labels(x, id, &labels, &raw);
    bool keeps = ok && found && raw && rx_keeps_labels(&labels, ending.at, ending.n);
    bool fails = ok && !keeps && are_at_end(x, id, &labels);
    vec_drop(x->b, &ending);
    vec_drop(x->b, &labels);
    return keeps ? RX_IS_INHABITED : fails ? RX_IS_EMPTY : RX_UNKNOWN;
}
