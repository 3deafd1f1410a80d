/* ep_predict: what comes after each lexeme of a row.
 *
 * 1. Closure. From each item of the set, and from each alternative of each nonterminal that is met, walk down the suffix: over symbols
 *    that may be empty, up to and including the first that may not. A lexeme on the way is *scanned*; a nonterminal gets a *waiter*: what
 *    comes after it, and where that returns to. The latter is a return point, or (in an alternative that was predicted here) the one of
 *    another nonterminal called in this row, not known yet. A walk stops at a node that was seen with the same source.
 * 2. Return points (see ep.c). X depends on Y if an alternative of Y waits for X. Strongly connected components in dependency order
 *    (Tarjan 1972, with an explicit stack); a component with a cycle is left recursion.
 * 3. The scanned items, now with return points, sorted by lexeme, are what goto takes from the row.
 *
 * Cost: linear in the items of the row, plus the sets that are copied into return points, plus sorting. */
#include "ep_parts.h"

enum { EP_FLAT = 32 /* see ep_complete.c */, EP_MERGE_TRIES = 4 /* see merge_cycle */ };

/* --- 1. closure ---------------------------------------------------------------------------------------------------------- */

/* p->stamp is the walk's source, row_stamp the row. */
static bool walk(ep_parser *p, u32 node, u32 source, u32 row_stamp) {
    for (; node != GR_END && p->node_stamp.at[node] != p->stamp; node = p->nodes.at[node].next) {
        p->node_stamp.at[node] = p->stamp;
        gr_node n = p->nodes.at[node];
        if ((u64)p->waiters.n + p->scanned.n >= p->b->limits.max_row_items) return ep_limit(p, LIMIT(max_row_items), n.owner);
        if (!(n.symbol & 1)) return vec_push(p->b, &p->scanned, ((ep_waiter){n.symbol >> 1, n.next, source}));
        u32 x = n.symbol >> 1;
        if (p->nonterminal_stamp.at[x] != row_stamp) {
            p->nonterminal_stamp.at[x] = row_stamp;
            p->call_of.at[x] = p->calls.n;
            if (!vec_push(p->b, &p->calls, ((ep_call){.nonterminal = x, .point = NONE}))) return false;
        }
        if (!vec_push(p->b, &p->waiters, ((ep_waiter){p->call_of.at[x], n.next, source}))) return false;
        if (!(n.flags & GR_STEP)) return true;
    }
    return true;
}

static bool close_row(ep_parser *p, u32 set) {
    u32 row_stamp = ep_next_stamp(p), last = NONE;
    p->calls.n = p->waiters.n = p->scanned.n = 0;
    for (u32 i = 0; i < ep_set_size(p, set); i++) { /* sorted by return point */
        ep_item item = ep_set_item(p, set, i);
        if (ep_item_point(item) != last) ep_next_stamp(p);
        last = ep_item_point(item);
        if (!walk(p, ep_item_node(item), last, row_stamp)) return false;
    }
    for (u32 call = 0; call < p->calls.n; call++) {
        u32 x = p->calls.at[call].nonterminal;
        if (p->nonterminals.at[x].first == NONE && !ep_expand(p, x)) return false;
        ep_next_stamp(p);
        for (u32 i = 0; i < p->nonterminals.at[x].n; i++)
            if (!walk(p, p->alternatives.at[p->nonterminals.at[x].first + i], EP_LOCAL + call, row_stamp)) return false;
    }
    return ep_work(p, (u64)p->waiters.n + p->scanned.n);
}

/* --- 2. return points ---------------------------------------------------------------------------------------------------- */

/* Orders waiters by call. The waiters of call c are then waiter_order[calls[c].first .. calls[c + 1].first); one call more ends it. */
static bool order_waiters(ep_parser *p) {
    p->waiter_order.n = 0;
    if (!vec_push(p->b, &p->calls, ((ep_call){.nonterminal = NONE, .point = NONE}))) return false;
    if (!vec_reserve(p->b, &p->waiter_order, p->waiters.n)) return false;
    for (u32 i = 0; i < p->waiters.n; i++) p->calls.at[p->waiters.at[i].symbol].first++;
    u32 sum = 0;
    for (u32 c = 0; c < p->calls.n; c++) sum += p->calls.at[c].first, p->calls.at[c].first = sum;
    for (u32 i = p->waiters.n; i-- > 0;) p->waiter_order.at[--p->calls.at[p->waiters.at[i].symbol].first] = i;
    p->waiter_order.n = p->waiters.n;
    return true;
}

static ep_waiter waiter_at(const ep_parser *p, u32 i) { return p->waiters.at[p->waiter_order.at[i]]; }

/* The return point that w's source stands for; EP_LOCAL + member within the component. */
static u32 source_point(const ep_parser *p, ep_waiter w) {
    if (w.source < EP_LOCAL) return w.source;
    const ep_call *c = &p->calls.at[w.source - EP_LOCAL];
    return c->point != NONE ? c->point : EP_LOCAL + c->next;
}

/* Collects into p->items what comes after `call`, which is member `self` of its component. *tail: if that is exactly the set of one
 * return point because one item waits and ends there, that point, else NONE. */
static bool collect_waiters(ep_parser *p, u32 call, u32 self, u32 *tail) {
    u32 first = p->calls.at[call].first, end = p->calls.at[call + 1].first, only = NONE;
    bool is_tail = true;
    ep_collect_begin(p);
    for (u32 i = first; i < end; i++) {
        ep_waiter w = waiter_at(p, i);
        u32 point = source_point(p, w);
        is_tail = is_tail && w.node == GR_END && point < EP_LOCAL && (only == NONE || only == point);
        only = point;
        if (!ep_collect(p, point, w.node)) return false;
    }
    *tail = is_tail ? only : NONE;
    if (is_tail) return true;
    if (!ep_collect_end(p, EP_FLAT)) return false;
    u32 kept = 0; /* X -> X, also over symbols that may be empty, adds nothing to X */
    for (u32 i = 0; i < p->items.n; i++)
        if (p->items.at[i] != ep_item_make(EP_LOCAL + self, GR_END)) p->items.at[kept++] = p->items.at[i];
    p->items.n = kept;
    return true;
}

/* Is p->items, with `point` for EP_LOCAL, the content of `point`? */
static bool is_content(ep_parser *p, u32 point, bool *answer) {
    u32 set = p->points.at[point], n = p->items.n;
    *answer = false;
    if (ep_set_size(p, set) > n || ep_set_accepts(p, set) != (p->accepts != 0)) return true;
    if (!vec_reserve(p->b, &p->merged, n)) return false;
    for (u32 i = 0; i < n; i++) {
        ep_item item = p->items.at[i];
        p->merged.at[i] = ep_item_point(item) == EP_LOCAL ? ep_item_make(point, ep_item_node(item)) : item;
    }
    if (!ep_sort(p, p->merged.at, &n)) return false;
    if (n != ep_set_size(p, set)) return true;
    for (u32 i = 0; i < n; i++)
        if (p->merged.at[i] != ep_set_item(p, set, i)) return true;
    *answer = true;
    return ep_work(p, n);
}

/* A return point that p->items, in which EP_LOCAL stands for itself, is equal to; NONE if none was found. See ep.c, "Cycles". */
static bool merge_cycle(ep_parser *p, u32 *found) {
    u32 node = NONE;
    *found = NONE;
    for (u32 i = p->items.n; i-- > 0 && ep_item_point(p->items.at[i]) == EP_LOCAL;) node = ep_item_node(p->items.at[i]);
    u32 tries = EP_MERGE_TRIES;
    for (u32 i = 0; i < p->items.n && tries; i++) {
        u32 point = ep_item_point(p->items.at[i]);
        if (ep_item_node(p->items.at[i]) != node || point == EP_LOCAL) continue;
        bool equal;
        if (!is_content(p, point, &equal)) return false;
        if (equal) return *found = point, true;
        tries--;
    }
    return true;
}

/* Gives the n members of a cyclic component, of which p->system is the content, their return points. */
static bool number_cycle(ep_parser *p, const u32 *members, u32 n) {
    bool fresh;
    if (!vec_reserve(p->b, &p->cycle_point, 1)) return false;
    u32 id = intern(p->b, &p->cycles, p->system.at, p->system.n, &fresh);
    if (id == NONE) return false;
    u32 base = fresh ? p->points.n : p->cycle_point.at[id];
    if (fresh) {
        p->cycle_point.at[p->cycle_point.n++] = base;
        if (!ep_may_add_points(p, n))
            return ep_limit(p, LIMIT(max_rows), p->nonterminals.at[p->calls.at[members[0]].nonterminal].owner);
        if (!ep_fit(p, &p->point_stamp, base + n)) return false;
        for (u32 k = 0, at = 0; k < n; k++) {
            u32 length = 1 + 2 * p->system.at[at];
            p->words.n = 0;
            if (!vec_reserve(p->b, &p->words, length)) return false;
            memcpy(p->words.at, p->system.at + at + 1, length * sizeof *p->words.at);
            p->words.n = length;
            for (u32 i = 1; i < length; i += 2)
                if (p->words.at[i] >= EP_LOCAL) p->words.at[i] = p->words.at[i] - EP_LOCAL + base; /* newest: still sorted */
            u32 set = ep_set_of_words(p);
            if (set == NONE || !vec_push(p->b, &p->points, set)) return false;
            if (p->set_point.at[set] == NONE) p->set_point.at[set] = base + k;
            at += 1 + length;
        }
        if (p->for_cut) p->n_cut_points += n;
    }
    for (u32 k = 0; k < n; k++) p->calls.at[members[k]].point = base + k;
    return true;
}

/* Return points for the component that consists of the last n calls on p->component. */
static bool resolve(ep_parser *p, u32 n) {
    u32 *members = p->component.at + p->component.n - n;
    u32 tail;
    if (n == 1) {
        u32 call = members[0], point;
        p->calls.at[call].next = 0;
        if (!collect_waiters(p, call, 0, &tail)) return false;
        if (tail != NONE) return p->calls.at[call].point = tail, true;
        bool cyclic = p->items.n && ep_item_point(p->items.at[p->items.n - 1]) == EP_LOCAL;
        if (!cyclic) {
            u32 set = ep_set_of_items(p);
            point = set == NONE ? NONE : ep_point_of_set(p, set);
            p->calls.at[call].point = point;
            return point != NONE;
        }
        if (!merge_cycle(p, &point)) return false;
        if (point != NONE) return p->calls.at[call].point = point, true;
    } else { /* an order that does not depend on the row */
        if (!vec_reserve(p->b, &p->merged, n)) return false;
        for (u32 k = 0; k < n; k++) p->merged.at[k] = ep_item_make(p->calls.at[members[k]].nonterminal, members[k]);
        u32 same = n;
        if (!ep_sort(p, p->merged.at, &same)) return false;
        for (u32 k = 0; k < n; k++) members[k] = ep_item_node(p->merged.at[k]), p->calls.at[members[k]].next = k;
    }
    p->system.n = 0;
    for (u32 k = 0; k < n; k++) {
        if (n > 1 && !collect_waiters(p, members[k], k, &tail)) return false;
        if (n > 1 && tail != NONE && !ep_collect_end(p, EP_FLAT)) return false;
        if (!vec_reserve(p->b, &p->system, 2 + 2 * (u64)p->items.n)) return false;
        p->system.at[p->system.n++] = p->items.n;
        p->system.at[p->system.n++] = p->accepts;
        for (u32 i = 0; i < p->items.n; i++) {
            p->system.at[p->system.n++] = ep_item_point(p->items.at[i]);
            p->system.at[p->system.n++] = ep_item_node(p->items.at[i]);
        }
    }
    return number_cycle(p, members, n);
}

/* Tarjan's algorithm. A call has an index once visited, and a return point once its component is done: in between it is on the stack. */
static bool make_points(ep_parser *p) {
    u32 index = 0, n_calls = p->calls.n - 1;
    p->component.n = 0;
    for (u32 root = 0; root < n_calls; root++) {
        if (p->calls.at[root].index) continue;
        u32 call = root, caller = NONE;
        for (;;) {
            ep_call *c = &p->calls.at[call];
            if (!c->index) {
                c->index = c->low = ++index;
                c->next = c->first;
                c->caller = caller;
                if (!vec_push(p->b, &p->component, call)) return false;
            }
            u32 deeper = NONE;
            while (deeper == NONE && c->next < p->calls.at[call + 1].first) {
                ep_waiter w = waiter_at(p, c->next++);
                if (w.source < EP_LOCAL) continue;
                const ep_call *to = &p->calls.at[w.source - EP_LOCAL];
                if (!to->index)
                    deeper = w.source - EP_LOCAL;
                else if (to->point == NONE)
                    c->low = min_u32(c->low, to->index);
            }
            if (deeper != NONE) {
                caller = call;
                call = deeper;
                continue;
            }
            if (c->low == c->index) {
                u32 n = 1;
                while (p->component.at[p->component.n - n] != call) n++;
                if (!resolve(p, n)) return false;
                p->component.n -= n;
            }
            u32 low = c->low;
            call = c->caller;
            if (call == NONE) break;
            p->calls.at[call].low = min_u32(p->calls.at[call].low, low);
        }
    }
    return true;
}

/* --- 3. the row ---------------------------------------------------------------------------------------------------------- */

static bool write_scans(ep_parser *p, ep_row *row) {
    u32 n = p->scanned.n;
    if (!vec_reserve(p->b, &p->merged, n) || !vec_reserve(p->b, &p->scans, n) || !vec_reserve(p->b, &p->items, n)) return false;
    for (u32 i = 0; i < n; i++) p->merged.at[i] = (u64)p->scanned.at[i].symbol << 32 | i;
    if (!ep_sort(p, p->merged.at, &n)) return false;
    row->starts = p->starts.n;
    for (u32 i = 0; i < n;) {
        u32 lexeme = (u32)(p->merged.at[i] >> 32), count = 0;
        for (; i < n && p->merged.at[i] >> 32 == lexeme; i++) {
            ep_waiter w = p->scanned.at[(u32)p->merged.at[i]];
            p->items.at[count++] = ep_item_make(source_point(p, w), w.node);
        }
        assert(p->lexemes.at[row->first + p->starts.n - row->starts] == lexeme);
        if (!vec_push(p->b, &p->starts, p->scans.n)) return false;
        if (!ep_sort(p, p->items.at, &count)) return false;
        memcpy(p->scans.at + p->scans.n, p->items.at, count * sizeof *p->scans.at);
        p->scans.n += count;
    }
    return vec_push(p->b, &p->starts, p->scans.n);
}

bool ep_predict(ep_parser *p, u32 row) {
    ep_row made = p->rows.at[row];
    if (!close_row(p, made.set) || !order_waiters(p) || !make_points(p) || !write_scans(p, &made)) return false;
    made.items = p->waiters.n + p->scanned.n;
    p->rows.at[row] = made;
    return true;
}
