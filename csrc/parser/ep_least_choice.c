/* ep_least_choice: the least length of keys that meet all choices of a bag.
 *
 * A search in depth: the first choice that is not met, by each of its sets in turn, and so on; what costs no less than what was found is
 * given up. Sets of one choice mostly meet the others, so there are few ways. Where there are many, the prices of choices that have no key
 * in common are together a lower bound, which is exact if all are such. */
#include "../grammar/gr_bag.h"
#include "ep_parts.h"

enum {
    MOST_LEVELS = 512, /* that are looked at */
    LEVEL_WORK = 512    /* words of sets that are looked at for one unit of work */
};

typedef struct choice_level { /* its keys are n_bit_words words of `keys` */
    u32 length; /* of the keys that were added */
    u32 choice; /* the one that is being met; NONE: not looked for yet */
    u32 n_sets; /* of it that are left */
    u32 set;    /* the next one, in bag_words */
} choice_level;

/* The keys of a set that are not there. */
static u32 price_of_set(const u32 *set, const u32 *keys, const u32 *prices) {
    u32 sum = 0;
    for (u32 i = 1; i <= *set; i++)
        if (!gr_has_key(keys, set[i])) sum = rx_add_lengths(sum, prices[set[i]]);
    return sum;
}

/* The first choice from `first` on that these keys do not meet. NONE: there is none. */
static u32 choice_to_meet(const ep_parser *p, const gr_bag *bag, const u32 *keys, u32 first) {
    while (first < bag->n_choices && !gr_bag_must_choose(p->g, &p->g->choices.at[bag->choices + first], keys)) first++;
    return first < bag->n_choices ? first : NONE;
}

/* The cheapest sets of choices that are not met and have no key in common with those before, in *sum. */
static bool price_of_separate(ep_parser *p, const gr_bag *bag, const u32 *keys, const u32 *prices, u32 *sum) {
    id_vec used = {0};
    *sum = 0;
    if (!vec_reserve(p->b, &used, bag->n_bit_words + 1)) return false;
    memset(used.at, 0, (bag->n_bit_words + 1u) * sizeof *used.at);
    for (u32 i = 0; (i = choice_to_meet(p, bag, keys, i)) != NONE; i++) {
        const gr_choice *choice = &p->g->choices.at[bag->choices + i];
        const u32 *first = p->g->bag_words.at + choice->sets, *set = first;
        u32 least = RX_NO_LENGTH;
        bool separate = true;
        for (u32 k = 0; k < choice->n_sets && separate; k++, set += 1 + *set) {
            for (u32 n = 1; n <= *set; n++) separate &= gr_has_key(keys, set[n]) || !gr_has_key(used.at, set[n]);
            least = min_u32(least, price_of_set(set, keys, prices));
        }
        if (!separate) continue;
        set = first;
        for (u32 k = 0; k < choice->n_sets; k++, set += 1 + *set)
            for (u32 n = 1; n <= *set; n++) used.at[set[n] / 32] |= (u32)1 << set[n] % 32;
        *sum = rx_add_lengths(*sum, least);
    }
    vec_drop(p->b, &used);
    return true;
}

bool ep_least_choice(ep_parser *p, const gr_bag *bag, const u32 *keys, const u32 *prices, u32 *least) {
    VEC(choice_level) levels = {0};
    id_vec all = {0};
    u32 n = bag->n_bit_words, n_looked = 0;
    *least = RX_NO_LENGTH;
    bool ok = vec_push(p->b, &levels, ((choice_level){0, NONE, 0, 0})) && vec_reserve(p->b, &all, n + 1);
    if (ok) memcpy(all.at, keys, n * sizeof *keys), all.n = n;
    while (ok && levels.n) {
        choice_level *level = &levels.at[levels.n - 1];
        u32 *here = all.at + (levels.n - 1) * n;
        if (level->choice == NONE) {
            level->choice = choice_to_meet(p, bag, here, 0);
            const gr_choice *choice = level->choice == NONE ? NULL : &p->g->choices.at[bag->choices + level->choice];
            if (choice) level->n_sets = choice->n_sets, level->set = choice->sets;
            else *least = level->length; /* all are met, for less than before */
        }
        if (!level->n_sets) {
            levels.n--, all.n -= n;
            continue;
        }
        const u32 *set = p->g->bag_words.at + level->set;
        level->n_sets--, level->set += 1 + *set;
        u32 length = rx_add_lengths(level->length, price_of_set(set, here, prices));
        if (length >= *least) continue;
        if (++n_looked > MOST_LEVELS) {
            ok = price_of_separate(p, bag, keys, prices, least);
            p->least_is_bound = true;
            break;
        }
        ok = budget_work(p->b, 1 + bag->n_set_words / LEVEL_WORK) && vec_reserve(p->b, &all, n + 1);
        ok = ok && vec_push(p->b, &levels, ((choice_level){length, NONE, 0, 0}));
        if (!ok) break;
        here = all.at + (levels.n - 2) * n;
        memcpy(all.at + all.n, here, n * sizeof *here);
        for (u32 i = 1; i <= *set; i++) all.at[all.n + set[i] / 32] |= (u32)1 << set[i] % 32;
        all.n += n;
    }
    vec_drop(p->b, &levels);
    vec_drop(p->b, &all);
    return ok;
}
