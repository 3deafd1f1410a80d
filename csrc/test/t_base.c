/* Tables and blocks against simple models, with every allocation failing in turn. */
#include "../base/intern.h"
#include "../base/stable.h"
#include "../base/wide.h"
#include "harness.h"

enum { MANY = 20000 }; /* several segments of an index */

static budget wide_budget(void) {
    budget b;
    ge_limits limits = wide_limits();
    budget_init(&b, &limits);
    return b;
}

/* The content of id i: short, and longer now and then. */
static u32 content(u32 i, u32 *words) {
    u32 n = i % 7 == 0 ? 3 : 1;
    for (u32 k = 0; k < n; k++) words[k] = i + k * 1000003;
    return n;
}

static void check_ids(budget *b, intern_table *t, u32 n) {
    u32 words[3];
    bool fresh, right = intern_count(t) == n;
    for (u32 i = 0; i < n; i++) {
        u32 length = content(i, words);
        right = right && intern(b, t, words, length, &fresh) == i && !fresh && intern_length(t, i) == length;
        right = right && memcmp(intern_words(t, i), words, length * sizeof *words) == 0;
    }
    CHECK(right);
}

static void test_intern(void) {
    budget b = wide_budget();
    intern_table t = {0}, copy;
    u32 words[3];
    for (u32 i = 0; i < MANY; i++) {
        bool fresh, right = intern(&b, &t, words, content(i, words), &fresh) == i && fresh;
        if (i % 97 == 0) { /* also across the splits */
            intern_undo(&t);
            right = right && intern_count(&t) == i && intern(&b, &t, words, content(i, words), &fresh) == i && fresh;
        }
        CHECK(right);
    }
    CHECK(t.index.depth > 2);
    check_ids(&b, &t, MANY);
    CHECK(intern_copy(&b, &copy, &t));
    for (u32 i = MANY; i > MANY / 3; i--) intern_undo(&t);
    check_ids(&b, &t, MANY / 3);
    for (u32 i = MANY / 3; i < MANY; i++) (void)intern(&b, &t, words, content(i, words), NULL);
    check_ids(&b, &t, MANY);
    intern_drop(&b, &t);
    check_ids(&b, &copy, MANY);
    intern_drop(&b, &copy);
    CHECK(b.bytes == 0);
}

/* Removes ids in any order, where hashes collide in slots, segments, or wholly. */
static void test_index(void) {
    budget b = wide_budget();
    hash_index x = {0};
    u64 seed = 7;
    static u32 hash[MANY];
    static bool in[MANY];
    for (u32 i = 0; i < MANY; i++) hash[i] = (u32)random_u64(&seed) & (i % 3 == 0 ? 0xff00001fu : UINT32_MAX);
    for (u32 round = 0; round < 3 * MANY; round++) {
        u32 id = random_below(&seed, MANY);
        if (in[id]) {
            index_remove(&x, hash[id], id);
        } else {
            if (!index_reserve(&b, &x, hash[id])) break;
            index_add(&x, hash[id], id);
        }
        in[id] = !in[id];
    }
    bool right = b.status == GE_OK;
    for (u32 i = 0; i < MANY; i++) {
        u32 id, at = hash[i], found = 0;
        while ((id = index_next(&x, hash[i], &at)) != NONE) {
            found += id == i;
            right = right && hash[id] == hash[i] && in[id];
        }
        right = right && found == in[i];
    }
    CHECK(right);
    index_drop(&b, &x);
    CHECK(b.bytes == 0);
}

/* Hashes that no bit tells apart: the directory stays within its bound. */
static void test_equal_hashes(void) {
    budget b = wide_budget();
    hash_index x = {0};
    for (u32 i = 0; i < INDEX_SLOTS && index_reserve(&b, &x, 5); i++) index_add(&x, 5, i);
    CHECK(x.depth == INDEX_DEPTH);
    u32 at = 5, n = 0;
    while (index_next(&x, 5, &at) != NONE) n++;
    CHECK(n == INDEX_SLOTS);
    index_drop(&b, &x);
    CHECK(b.bytes == 0);
}

static void test_map(void) {
    budget b = wide_budget();
    word_map m = {0}, copy;
    CHECK(map_get(&m, 1) == NONE);
    for (u32 i = 0; i < MANY; i++) CHECK(map_put(&b, &m, mix_u64(i), i));
    for (u32 i = 0; i < MANY; i += 2) CHECK(map_put(&b, &m, mix_u64(i), i + 1));
    CHECK(m.n == MANY && map_put(&b, &m, UINT64_MAX, 3) && map_get(&m, UINT64_MAX) == 3);
    CHECK(map_copy(&b, &copy, &m));
    map_drop(&b, &m);
    bool right = true;
    for (u32 i = 0; i < MANY; i++)
        right = right && map_get(&copy, mix_u64(i)) == i + (i % 2 == 0) && map_get(&copy, mix_u64(i + MANY)) == NONE;
    CHECK(right);
    map_drop(&b, &copy);
    CHECK(b.bytes == 0);
}

static void test_fit(void) {
    budget b = wide_budget();
    id_vec v = {0};
    CHECK(vec_fit(&b, &v) && b.bytes == 0);
    for (u32 i = 0; i < MANY; i++) CHECK(vec_push(&b, &v, i));
    CHECK(v.cap > MANY && vec_fit(&b, &v) && v.cap == MANY && b.bytes == vec_bytes(&v) && v.at[MANY - 1] == MANY - 1);
    vec_drop(&b, &v);
    CHECK(b.bytes == 0);
}

/* More elements than ids can count are refused, before anything is allocated. */
static void test_too_long(void) {
    budget b;
    byte_vec full = {.n = 0x90000000u, .cap = 0x90000000u}, empty = {0}; /* no block is looked at */
    budget_init_unlimited(&b);
    CHECK(!vec_reserve(&b, &full, 0x80000000u) && b.status == GE_E_LIMIT && full.cap == 0x90000000u);
    budget_begin(&b);
    full.n = full.cap = 0xb0000000u;
    CHECK(!vec_copy(&b, &empty, &full) && b.status == GE_E_LIMIT && empty.cap == 0 && b.bytes == 0);
}

/* Blocks keep their content from small to large and back; a refused block is untouched. */
static void test_blocks(void *(*resize)(budget *, void *, size_t, size_t)) {
    static const size_t sizes[] = {1, 100, 131071, 131072, 131073, 5000000, 200000, 131072, 100, 400000, 7};
    budget b = wide_budget();
    u8 *block = NULL;
    size_t size = 0;
    for (u32 i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        b.fail_after = 1;
        CHECK(!resize(&b, block, size, sizes[i]) && b.status == GE_E_MEMORY);
        budget_begin(&b);
        block = resize(&b, block, size, sizes[i]);
        if (!block) break;
        bool right = b.bytes == sizes[i];
        for (size_t k = 0; k < min_u32((u32)size, (u32)sizes[i]); k++) right = right && block[k] == (u8)(k * 7);
        CHECK(right);
        size = sizes[i];
        for (size_t k = 0; k < size; k++) block[k] = (u8)(k * 7);
    }
    CHECK(block);
    resize(&b, block, size, 0);
    CHECK(b.bytes == 0);
}

static void test_stable(void) {
    budget b = wide_budget();
    stable_array a = {.element = 3 * sizeof(u32)};
    const u32 *first = NULL;
    bool zeroed = true;
    for (u32 i = 0; i < MANY; i++) {
        u32 *at = stable_push(&b, &a);
        if (!at) break;
        zeroed = zeroed && at[0] == 0 && at[1] == 0 && at[2] == 0;
        memset(at, 0xff, a.element);
        at[0] = i;
        if (i == 0) first = at;
    }
    bool right = zeroed && a.n == MANY && first == stable_at(&a, 0);
    for (u32 i = 0; i < MANY; i++) right = right && *(const u32 *)stable_at(&a, i) == i;
    CHECK(right);
    stable_drop(&b, &a);
    CHECK(b.bytes == 0);
}

/* Whatever allocation fails, what was there stays, and all is given back. */
static void test_failures(void) {
    u32 words[3], done = 0;
    for (u64 fail = 1; done < 6000; fail++) {
        budget b = wide_budget();
        intern_table t = {0}, table_copy = {0};
        word_map m = {0}, map_copied = {0};
        b.fail_after = fail;
        for (done = 0; done < 6000; done++) {
            if (intern(&b, &t, words, content(done, words), NULL) == NONE) break;
            if (!map_put(&b, &m, done, done)) break;
        }
        CHECK(done == 6000 || b.status == GE_E_MEMORY);
        budget_begin(&b);
        b.fail_after = 0;
        u32 n = intern_count(&t);
        CHECK(n == done || n == done + 1);
        check_ids(&b, &t, n);
        CHECK(m.n == done && map_get(&m, done) == NONE && (done == 0 || map_get(&m, done - 1) == done - 1));
        b.fail_after = fail % 16 + 1;
        (void)(intern_copy(&b, &table_copy, &t) && map_copy(&b, &map_copied, &m));
        intern_drop(&b, &t);
        intern_drop(&b, &table_copy);
        map_drop(&b, &m);
        map_drop(&b, &map_copied);
        CHECK(b.bytes == 0);
    }
}

/* --- rows of words ------------------------------------------------------------------------------------------------------- */

enum { ROW_WORDS = 300, ROW_PLACES = 20 };

/* Of any length, at any place: what is before and behind stays as it is. */
static void test_clear(void) {
    static u32 to[ROW_WORDS + ROW_PLACES + 2], all_ones = UINT32_MAX;
    for (size_t n = 0; n <= ROW_WORDS; n++)
        for (u32 place = 0; place < ROW_PLACES; place++) {
            u32 *row = to + 1 + place, others = 0;
            memset(to, 0xff, sizeof to);
            wide_clear(row, n);
            for (size_t i = 0; i < n; i++) others |= row[i];
            CHECK(others == 0 && row[-1] == all_ones && row[n] == all_ones);
            for (size_t lone = place; lone < n; lone += ROW_PLACES) { /* blocks that are clear but for a bit */
                row[lone] = (u32)1 << lone % 32;
                wide_clear(row, n);
                CHECK(row[lone] == 0);
            }
        }
}

static void test_copy(void) {
    static u32 to[ROW_WORDS + ROW_PLACES + 2], from[ROW_WORDS + ROW_PLACES], all_ones = UINT32_MAX;
    for (u32 i = 0; i < ROW_WORDS + ROW_PLACES; i++) from[i] = i;
    for (size_t n = 0; n <= ROW_WORDS; n++)
        for (u32 place = 0; place < ROW_PLACES; place++) {
            u32 *row = to + 1 + place, *other = from + place * 7 % ROW_PLACES;
            memset(to, 0xff, sizeof to);
            wide_copy(row, other, n);
            CHECK(n == 0 || memcmp(row, other, n * sizeof *row) == 0);
            CHECK(row[-1] == all_ones && row[n] == all_ones);
        }
}

static u32 drawn(u32 *seed) { return (*seed = *seed * 1664525 + 1013904223) >> 8; }

/* Word by word, of any length, at any place; what is behind stays as it is. */
static void test_or(void) {
    static u32 to[ROW_WORDS + ROW_PLACES + 1], before[ROW_WORDS + ROW_PLACES + 1], from[ROW_WORDS + ROW_PLACES];
    u32 seed = 3;
    for (size_t n = 0; n <= ROW_WORDS; n++)
        for (u32 place = 0; place < ROW_PLACES; place++) {
            u32 *row = to + place, *other = from + place * 7 % ROW_PLACES;
            bool right = true;
            for (u32 i = 0; i < ROW_WORDS + ROW_PLACES; i++) to[i] = before[i] = drawn(&seed), from[i] = drawn(&seed);
            wide_or(row, other, n);
            for (size_t i = 0; i < n; i++) right &= row[i] == (before[place + i] | other[i]);
            CHECK(right && to[place + n] == before[place + n]);
        }
}

/* Of any number of bits, at any place: all that are asked for are set, or all but one. */
static void test_is_full(void) {
    static u32 at[ROW_WORDS + ROW_PLACES];
    for (size_t n = 0; n <= 32 * ROW_WORDS; n += n < 1100 ? 1 : 95)
        for (u32 place = 0; place < ROW_PLACES; place += 3) {
            u32 *row = at + place;
            memset(at, 0, sizeof at);
            for (size_t i = 0; i < n; i++) row[i / 32] |= (u32)1 << i % 32;
            bool right = wide_is_full(row, n);
            for (size_t i = place; i < n; i += 37) {
                row[i / 32] ^= (u32)1 << i % 32;
                right &= !wide_is_full(row, n) && wide_is_full(row, i);
                row[i / 32] ^= (u32)1 << i % 32;
            }
            CHECK(right);
        }
}

/* Rows that differ not at all, in one word, or in a bit of every third word, where the list ends early. */
static void test_list_differing(void) {
    static u32 a[ROW_WORDS + ROW_PLACES], b[ROW_WORDS + ROW_PLACES], list[ROW_WORDS + 512];
    u32 seed = 4;
    for (size_t n = 0; n <= ROW_WORDS; n++)
        for (u32 place = 0; place < ROW_PLACES; place++) {
            u32 *row = a + place, *other = b + place * 7 % ROW_PLACES, n_apart = 0;
            bool right = true;
            for (size_t i = 0; i < n; i++) row[i] = other[i] = drawn(&seed);
            CHECK(wide_list_differing(row, other, n, ROW_WORDS, list) == 0);
            for (size_t lone = place; lone < n; lone += ROW_PLACES) {
                other[lone] ^= (u32)1 << lone % 32 | (u32)1 << 31;
                right &= wide_list_differing(row, other, n, ROW_WORDS, list) == (lone % 32 == 31 ? 1 : 2);
                right &= list[0] == 32 * lone + lone % 32 && (lone % 32 == 31 || list[1] == 32 * lone + 31);
                other[lone] = row[lone];
            }
            for (size_t i = 0; i < n; i += 3) other[i] ^= 1, n_apart++;
            for (u32 most = 0; most <= n_apart; most += 5) {
                u32 listed = wide_list_differing(row, other, n, most, list);
                right &= most < n_apart ? listed > most && listed <= most + 512 : listed == n_apart;
                for (u32 i = 0; i < listed; i++) right &= list[i] == 96 * i;
            }
            CHECK(right);
        }
}

/* Against a look at each byte, with sets of few, many and all bytes, of any length, at any place. */
static void test_span(void) {
    static u8 text[400];
    u32 seed = 2;
    for (u32 round = 0; round < 4000; round++) {
        wide_set set = {{0}, {0}};
        bool in[256] = {false};
        u32 members = drawn(&seed) % 4 ? drawn(&seed) % 257 : 256, place = drawn(&seed) % 64, n = drawn(&seed) % 300, span = 0;
        for (u32 i = 0; i < members; i++) {
            u8 byte = (u8)(members == 256 ? i : drawn(&seed));
            in[byte] = true;
            wide_add(&set, byte);
        }
        for (u32 byte = 0; byte < 256; byte++) CHECK(wide_has(&set, (u8)byte) == in[byte]);
        for (u32 i = 0; i < sizeof text; i++)
            do text[i] = (u8)drawn(&seed);
            while (members && !in[text[i]] && drawn(&seed) % 100);
        while (span < n && in[text[place + span]]) span++;
        CHECK(wide_span(&set, text + place, n) == span);
    }
}

/* 32 bytes at a time, at any place; what stands around them does not count. */
static void test_at_most(void) {
    static u8 text[96];
    u32 seed = 5;
    for (u32 round = 0; round < 4000; round++) {
        u32 place = drawn(&seed) % 64, bits = 0;
        u8 most = (u8)(round < 256 ? round : drawn(&seed));
        for (u32 i = 0; i < sizeof text; i++) text[i] = (u8)(drawn(&seed) % 4 ? drawn(&seed) : most + drawn(&seed) % 3 - 1u);
        for (u32 i = 0; i < 32; i++) bits |= (u32)(text[place + i] <= most) << i;
        CHECK(wide_at_most(text + place, most) == bits);
    }
}

int main(void) {
    test_intern();
    test_index();
    test_equal_hashes();
    test_map();
    test_fit();
    test_too_long();
    test_blocks(mem_resize);
    test_blocks(mem_move);
    test_stable();
    test_failures();
    test_clear();
    test_copy();
    test_or();
    test_is_full();
    test_list_differing();
    test_span();
    test_at_most();
    return harness_result("base");
}
