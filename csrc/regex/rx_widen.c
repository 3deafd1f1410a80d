/* Widening: a superset of an expression that has few derivatives, where bounds are enough and the language itself is not needed.
 *
 *     PUNYCODE(S), some text of it read     any letters, digits and hyphens; "" only if that is in it
 *
 * Each text that was read of PUNYCODE is an expression of its own (rx_punycode.c).
 * None inside a complement is replaced, so each string of E is one of the widened E. */
#include "rx.h"

static rx_id widen_part(rx_arena *x, rx_id part, u32 how) { return (void)how, rx_widen(x, part); }

static rx_id widen_concat(rx_arena *x, rx_id id) {
    id_vec heads = {0};
    bool ok = true;
    for (; ok && rx_kind_of(x, id) == RX_CONCAT; id = intern_words(&x->nodes, id)[2])
        ok = vec_push(x->b, &heads, intern_words(&x->nodes, id)[1]);
    rx_id result = ok ? rx_widen(x, id) : NONE;
    while (heads.n && result != NONE) result = rx_concat(x, rx_widen(x, heads.at[--heads.n]), result);
    vec_drop(x->b, &heads);
    return result;
}

static rx_id widen_punycode(rx_arena *x, rx_id id) {
    byte_set set;
    return rx_first(x, id, &set) ? rx_repeat(x, rx_set(x, &set), rx_nullable(x, id) ? 0 : 1, NONE) : NONE;
}

rx_id rx_widen(rx_arena *x, rx_id id) {
    u32 node[5];
    if (id == NONE || !x->has_punycode) return id;
    rx_copy_node(x, id, node);
    rx_kind kind = (rx_kind)node[0];
    if (kind == RX_PUNYCODE) return widen_punycode(x, id);
    if (kind != RX_CONCAT && kind != RX_OR && kind != RX_AND && kind != RX_FORK && kind != RX_REPEAT && kind != RX_QUOTE && kind != RX_TAG)
        return id;
    rx_id result = map_get(&x->widened, id);
    if (result != NONE) return result;
    if (!budget_work(x->b, 1)) return NONE;
    switch (kind) {
    case RX_CONCAT: result = widen_concat(x, id); break;
    case RX_QUOTE: result = rx_quote_again(x, rx_widen(x, node[1]), node); break;
    case RX_REPEAT: result = rx_repeat(x, rx_widen(x, node[1]), node[2], node[3]); break;
    case RX_TAG: result = rx_tag(x, rx_widen(x, node[1]), node[2]); break;
    case RX_FORK: result = rx_widen(x, node[1]), result = result == NONE ? NONE : rx_fork(x, result, rx_widen(x, node[2])); break;
    default: result = rx_change_parts(x, id, widen_part, 0); break; /* RX_OR, RX_AND */
    }
    return result == NONE || !map_put(x->b, &x->widened, id, result) ? NONE : result;
}
