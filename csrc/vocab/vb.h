/* vb: a vocabulary. The trie of its tokens, which is never changed, its
 * slices, and a store of lexeme-internal masks, shared by all grammars.
 *
 * A slice is a set of tokens that are *plain*: whole characters in UTF-8 that a JSON string holds raw (no quote, no backslash, no control
 * character). Where an expression absorbs any plain text (regex/rx_absorb.c) all of them are allowed at once, and only the trie of the
 * rest, a few thousand tokens, is walked. Where it absorbs exactly n characters, the plain tokens of at most n are allowed.
 *
 * A lexeme-internal mask (`inner`) belongs to a lexer state and knows nothing of the parser:
 *
 *     bits    the tokens that stay inside: after all their bytes the state is not dead
 *     exits   the other tokens that are cut by the end of a lexeme: for each set of matched lexemes the *remaining* bytes, which the row
 *             after those lexemes must accept
 *
 * It is found again by the structure of the state's regexes (not by ids of one grammar): the body of a JSON string is analysed once per
 * vocabulary. The key is compared in full. The store has a ceiling in bytes; the least recently used entry that nobody reads goes. Entries
 * with equal bits have the same row of them (vb_rows.c). In the same store are the automata of lexemes that read little (mask/mk_lexeme.c),
 * marks of those that one grammar has had, and the outlines of their states.
 *
 * Folds (fd.h) are kept in the same way, for token automata. */
#ifndef GE_VB_H
#define GE_VB_H

#include "../base/intern.h"
#include "../base/lock.h"
#include "fd.h"
#include "tt.h"

typedef struct vb_tail { /* what a token has after its first bytes */
    u32 token, first;
} vb_tail;

enum { VB_MARKS, VB_WORDS, VB_MIXED, VB_BEYOND, VB_SORTS }; /* of tails, by how they begin; see vb_tails.c */

typedef struct vb_part { /* of the tails of a sort: those whose first bytes beyond ASCII, up to the next one of ASCII, are all in a set */
    byte_set beyond;
    u32 sort;
    tt_trie *tails; /* NULL: there are none */
    struct vb_part *next;
} vb_part;

typedef struct vb_exit {
    VEC(u32) places; /* which of the state's lexemes have matched: places in its list, ascending; NONE stands for any skip */
    VEC(vb_tail) tails[VB_SORTS];     /* remaining bytes of the tokens that go on after that */
    u64 kinds;                        /* of the bytes with which they begin */
    u32 room;                         /* characters that have begun before, if the mask has needs; else 0 */
    byte_set begins[VB_SORTS];        /* outside of which no tail of the sort begins */
    tt_trie *_Atomic tries[VB_SORTS]; /* of tails; NULL: nobody has asked for it */
    vb_part *_Atomic parts;           /* that were asked for */
} vb_exit;

typedef struct vb_lru { /* of what nobody reads, by when it was given back */
    struct vb_lru *older, *newer;
} vb_lru;

enum { VB_DEAD = UINT8_MAX, VB_MOST_NEED = VB_DEAD - 1, VB_NO_PLACE = UINT16_MAX };

typedef struct vb_row { /* of bits or needs, of all entries that have the same; see vb_rows.c */
    void *at;
    size_t size;
    u32 hash, id, users;
} vb_row;

enum { VB_BITS, VB_NEEDS, VB_ROWS };

/* The automaton of a lexeme over bytes, the start first; see mask/mk_lexeme.c. */
typedef struct vb_lexeme {
    u32 n_states, n_classes;
    u8 class_of[256];
    u16 next[]; /* by state and class; VB_NO_PLACE: it ends there */
} vb_lexeme;

typedef struct vb_inner {
    vb_lru lru; /* if nobody reads it */
    VEC(u32) key; /* structure of the regexes: see mask/mk_inner.c */
    u64 hash;
    u32 *bits;
    /* of a string without its bound, by token: characters for which there must be room, VB_DEAD: it does not stay inside; else NULL */
    u8 *needs;
    vb_row *rows[VB_ROWS]; /* where bits and needs lie, if they are not the entry's own: in the store none is */
    u32 most;  /* of the needs */
    u32 n_words;
    u32 finish; /* bytes with which what a token has led to can be ended, at most; known of clamped units */
    VEC(vb_exit) exits;
    id_vec outline; /* of one that is an outline and has no exits: see mask/mk_share.c. Then bits may be NULL */
    vb_lexeme *lexeme; /* of one that is the automaton of a lexeme, and nothing else; or NULL */
    u64 serial; /* in the order in which they came to the store: no two have the same */
    size_t bytes; /* of all this, without rows */
    bool kept;    /* in the store */
    u32 users;    /* readers at this moment */
    struct vb_inner *next; /* in its chain of the store */
} vb_inner;

typedef struct vb_store { /* see vb_store.c */
    VEC(vb_inner *) chains; /* a power of two */
    u32 n;
    VEC(vb_row *) rows;
    hash_index row_index;
    u64 serial; /* of the last one */
    vb_lru unread;
    size_t bytes, max_bytes;
} vb_store;

enum { VB_PLAIN, VB_PLAIN_SHORT, VB_N_SLICES }; /* plain tokens of any length; of at most VB_SHORT characters */
enum { VB_SHORT = 16 };

typedef struct vb_slice {
    u32 max_chars; /* NONE: any number */
    u32 *bits;
    tt_trie rest; /* the tokens that are not in the slice */
} vb_slice;

enum { VB_HUBS = 4 };

/* A node of the trie below which much of the vocabulary lies: the root, and perhaps a space. weight: nodes below each of its children by
 * their byte, 0 for those that are hubs themselves. */
typedef struct vb_hub {
    u32 node, byte;
    u32 weight[256];
} vb_hub;

enum { VB_BLANKS = 4 };
static const u8 vb_blanks[VB_BLANKS] = {'\r', '\t', '\n', ' '}; /* white space of JSON; what a grammar tells apart comes early */

enum { VB_OPENINGS = VB_HUBS * (1 + VB_BLANKS) };

/* A quotation mark or a blank below a hub, and what may stand behind it in a token; see vb_open.c. */
typedef struct vb_opening {
    u32 node;
    bool blank;
    id_vec plain; /* tokens below it whose rests plain text begins with; or only blanks */
    u32 chars;    /* of a plain rest, at most */
    tt_trie rest; /* the rests of the other tokens below it; without the blanks that they begin with */
} vb_opening;

enum { VB_TIERS = 4 };

/* The tokens that are longer than some number of bytes; see mask/mk_unit.c. */
typedef struct vb_tier {
    u32 bytes;
    tt_trie longer;
} vb_tier;

/* A mask begun: `bits` are allowed, the tokens of `rest` are to be looked at, all others are not allowed. */
typedef struct vb_cut {
    const u32 *bits; /* NULL: none */
    const tt_trie *rest;
} vb_cut;

enum { VB_MOST_OWN = 16, VB_OWN_STATES = 1000, VB_OWN_DEAD = 0, VB_OWN_START = 1 };

typedef struct vb_own_part {
    VEC(u32) bits; /* the tokens below a hub with which, behind it, some text of the slice begins */
    u32 n_tokens;
    tt_trie rest; /* the others that begin there with the same bytes; below the byte of the hub, which is node 1 */
} vb_own_part;

/* A slice that a user lists; see vb_own.c. */
typedef struct vb_own {
    u8 class_of[256];
    u32 n_classes;
    VEC(u16) next; /* by state and class */
    byte_set first; /* exactly the bytes with which it begins */
    vb_own_part parts[VB_HUBS];
} vb_own;

static inline size_t vb_lexeme_bytes(u32 n_states, u32 n_classes) { return sizeof(vb_lexeme) + (size_t)n_states * n_classes * sizeof(u16); }

#define VB_NOT_PLAIN ((u64)1 << 63) /* beyond all kinds of bytes: there are fewer */

/* The vocabulary by shapes of tokens: a trie of strings of kinds, flat in breadth-first order as in tt.h; see vb_shapes.c. */
typedef struct vb_shapes {
    u8 kind_of[256];     /* of bytes; a kind is a run of them */
    VEC(u8) kind;        /* by node */
    VEC(u32) first;      /* children of i: first[i] .. first[i + 1] */
    id_vec token_from;   /* tokens of i: tokens[token_from[i] .. token_from[i + 1]), ascending */
    id_vec tokens;
    id_vec member_from;  /* nodes of the main trie that have the shape i: members[member_from[i] .. member_from[i + 1]), ascending */
    id_vec members;
    /* by node of the main trie: the kinds of the bytes below it, bit by bit; and VB_NOT_PLAIN, if some token below is not plain */
    VEC(u64) below;
    VEC(u64) under;      /* the same by node of this one; VB_NOT_PLAIN also for the tokens at it */
    VEC(u8) height;      /* by node of the main trie: bytes of the longest way down from it, at most 255 */
} vb_shapes;

typedef struct vb_beyond { /* of a token: its first byte beyond ASCII, and where that is; NOWHERE: it has none, or further back */
    u8 at, byte;
} vb_beyond;

enum { VB_NOWHERE = UINT8_MAX };

struct ge_vocab {
    ge_shares shares; /* engines own their vocabulary too */
    u32 n_tokens, width, n_words; /* these, and what a token is: side by side, since a turn of a decoding loop looks at them */
    u32 n_eos;
    u32 *eos;
    u32 *offsets; /* token -> its bytes */
    u8 *text;
    u32 n_text;
    budget b; /* of the store; guarded by lock */
    ge_lock lock;
    tt_trie trie;
    vb_hub hubs[VB_HUBS]; /* the root comes first */
    u32 n_hubs;
    u32 *hub_bits[VB_HUBS]; /* the tokens at a hub and below; of the root: none */
    vb_opening openings[VB_OPENINGS];
    u32 n_openings;
    vb_slice slices[VB_N_SLICES];
    u32 *up_to[VB_SHORT]; /* plain tokens of at most so many characters */
    vb_own *own; /* slices that the user lists; there before any engine but the one that makes them */
    u32 n_own;
    vb_tier tiers[VB_TIERS]; /* from the longest down */
    vb_beyond *beyond;   /* by token */
    /* by token, for all ids of the logits: bytes with which a character may begin; VB_DEAD: it has no bytes (mask/mk_room.c) */
    u8 *chars;
    u32 *plain_nodes;    /* by token: its node of the trie if it is plain, else the number of nodes (mask/mk_dense.c) */
    const u8 *note; /* of whoever saved the file */
    u32 n_note;
    void *map; /* the file that all tables above lie in, read only; NULL: they are blocks of their own */
    size_t map_size;
    vb_shapes shapes;
    struct name_reach *_Atomic reach; /* by node of the trie; NULL: not asked for yet */
    vb_store store;
    VEC(fd_fold *) folds;
    size_t fold_bytes;
    u64 clock; /* of the folds */
};

#define VB_STORE_BYTES ((size_t)64 << 20) /* ceiling of the store, unless ge_vocab_bound gives another */

/* The token of which a byte of the text is. */
static inline u32 vb_token_at(const ge_vocab *v, size_t at) {
    u32 low = 0, high = v->n_tokens;
    while (high - low > 1) {
        u32 middle = low + (high - low) / 2;
        if (v->offsets[middle] <= at) low = middle;
        else high = middle;
    }
    return low;
}

ge_vocab *vb_new(void); /* empty; NULL: out of memory */
void vb_unmap(ge_vocab *v);
bool vb_make_shapes(ge_vocab *v);
void vb_drop_shapes(ge_vocab *v);
/* By node of the trie what the tokens below it may add to host names, and that at it if a character has begun there. NULL: out of
 * memory. */
const struct name_reach *vb_reach(ge_vocab *v);
void vb_drop_reach(ge_vocab *v);

bool vb_make_openings(ge_vocab *v);
void vb_drop_openings(ge_vocab *v);

/* The tables of a slice from its automaton: class_of, n_classes, next. False: failure of the budget. */
bool vb_own_build(const ge_vocab *v, budget *b, vb_own *s);
void vb_own_drop(vb_own *s, budget *b);

void vb_drop_store(ge_vocab *v);

/* Looks an entry up by the hash of its key, which is for the caller to compare, and marks it as read; or NULL. All of these take the
 * lock. */
const vb_inner *vb_find(ge_vocab *v, u64 hash);
/* Takes `entry` (whose bytes were counted elsewhere) into the store and marks
 * it as read. NULL: there is one of its hash, or no memory; it is freed. */
const vb_inner *vb_add(ge_vocab *v, vb_inner *entry);
void vb_hold(ge_vocab *v, const vb_inner *entry); /* one more reader of an entry that is marked as read */
void vb_release(ge_vocab *v, const vb_inner *entry);
void vb_inner_free(budget *b, vb_inner *entry);

/* The row with this content, which it takes over, and one more user of it.
 * NULL: no memory; the content is then untouched. All of these under the lock. */
vb_row *vb_take_row(ge_vocab *v, void *content, size_t size);
void vb_release_row(ge_vocab *v, vb_row *row);
void vb_drop_rows(ge_vocab *v); /* which have no users */

u32 vb_sort(u32 byte); /* of the tails that begin with it, never VB_MIXED: the same for all bytes of a kind */
bool vb_add_tails(budget *b, vb_exit *exit, u32 sort, u32 first, const u32 *tokens, u32 n);
bool vb_finish_tails(const ge_vocab *v, budget *b, vb_exit *exit); /* all have been added, and exit->kinds is known */
/* The tails of a sort as a trie, which lives as long as the entry. NULL: out of memory. Takes the lock. */
const tt_trie *vb_tails(ge_vocab *v, const vb_inner *entry, u32 exit, u32 sort);
/* The same of those that have no bytes beyond ASCII but these, or of more;
 * *tails = NULL: there are none. False: out of memory. Takes the lock. */
bool vb_tails_within(ge_vocab *v, const vb_inner *entry, u32 exit, u32 sort, const byte_set *beyond, const tt_trie **tails);
void vb_drop_tails(budget *b, vb_exit *exit);
void vb_trim(ge_vocab *v); /* drops entries until the store is below its ceiling; under the lock */

#define VB_FOLD_BYTES ((size_t)8 << 20) /* ceiling of the folds */

/* The vocabulary folded by classes of bytes, marked as read; made if it is not known. NULL: out of memory. Takes the lock. */
const fd_fold *vb_fold(ge_vocab *v, const u16 class_of[256]);
void vb_fold_release(ge_vocab *v, const fd_fold *f);
void vb_drop_folds(ge_vocab *v);

u32 vb_weight(const ge_vocab *v, u32 hub, u32 byte); /* nodes below a hub behind a byte, also those behind another hub */
u32 vb_child(const tt_trie *t, u32 node, u32 byte); /* or NONE */
/* fewest[i] = tokens that spell text[i .. n], or NONE, for each i < known; those of known to n are given. False: failure of the budget. */
bool vb_fewest(const ge_vocab *v, budget *b, const u8 *text, u32 n, u32 known, u32 *fewest);
/* Appends the fewest tokens that spell a text; *spelt: there are some. False: failure of the budget. */
bool vb_spell(const ge_vocab *v, budget *b, const u8 *text, u32 n, id_vec *out, bool *spelt);

/* Is a byte the only one of its kind? */
static inline bool vb_is_kind(const ge_vocab *v, u32 byte) {
    const u8 *kind_of = v->shapes.kind_of;
    return (byte == 0 || kind_of[byte - 1] != kind_of[byte]) && (byte == 255 || kind_of[byte + 1] != kind_of[byte]);
}

static inline bool vb_is_plain(const ge_vocab *v, u64 token) { return v->slices[VB_PLAIN].bits[token >> 5] >> (token & 31) & 1; }
#endif
