/* The public surface of the core, read by the C compiler (through ge.h) and by cffi: typedefs, plain structs, enums, prototypes.
 *
 * Words used for ownership: *borrows* = reads during the call only; *copies*; *takes* = frees it later; *returns owned* = the caller
 * frees it; *keeps alive* = shares ownership, so that objects may be freed in any order. Every function that can fail returns a ge_status
 * (or an int32_t, which is one where it is negative) and fills *err (never allocates to report). No function prints, aborts
 * or keeps global state, but for a list of locks, which a fork waits for (base/lock.h). `..._free_at` frees what is at a place, if there is
 * anything, and leaves NULL: for who owns the place from before the object is made.
 *
 * Threads: ge_vocab and ge_grammar are immutable after creation. A ge_engine may be used by any number of threads at once: warm
 * states are read without a lock, growing takes the engine's lock. A ge_matcher belongs to one thread at a time; a call
 * during another one gives GE_E_BUSY. */

typedef enum ge_status {
    GE_OK = 0,
    GE_E_MEMORY = -1,      /* the system is out of memory */
    GE_E_LIMIT = -2,       /* err.limit tells which field of ge_limits, err.value its value */
    GE_E_SYNTAX = -3,      /* malformed regular expression: err.expr, err.offset (bytes into the pattern) */
    GE_E_UNSUPPORTED = -4, /* regular expression with a refused construct: as above, err.text names it */
    GE_E_NOTHING = -5,     /* the grammar produces no text at all */
    GE_E_IR = -6,          /* malformed IR: a bug of the front end */
    GE_E_ARGUMENT = -7,    /* an argument is out of range */
    GE_E_SPELLING = -8,    /* no token spells what the grammar needs next: err.text names the bytes */
    GE_E_BUSY = -9         /* the matcher is at work in another thread */
} ge_status;

typedef struct ge_err {
    int32_t status;
    uint32_t limit;   /* GE_E_LIMIT: index of the field in ge_limits */
    uint64_t value;   /* GE_E_LIMIT: value of that field */
    uint32_t symbol;  /* GE_E_LIMIT: of the IR (ir.py), that was worked on; UINT32_MAX: none in particular */
    uint32_t ceiling; /* GE_E_LIMIT: what was reached is this, which is fixed, however high the limit is; 0: the limit itself */
    uint32_t expr;    /* GE_E_SYNTAX, GE_E_UNSUPPORTED: id of the expression */
    uint32_t offset;  /* byte offset into its pattern */
    char text[200];   /* what is wrong, NUL-terminated ASCII; GE_E_UNSUPPORTED: "construct: reason" */
} ge_err;

/* Same fields, order and meaning as grammar_engine.Limits. */
typedef struct ge_limits {
    uint64_t max_expressions;
    uint64_t max_regex_nesting;
    uint64_t max_lexer_states;
    uint64_t max_rules;
    uint64_t max_row_items;
    uint64_t max_rows;
    uint64_t max_configurations;
    uint64_t max_alternatives;
    uint64_t max_step_work;
    uint64_t max_generation_bytes;
    uint64_t max_memory_bytes;
    uint64_t max_mask_bytes;
} ge_limits;

/* Fast paths and caches that can be switched off; masks are equal either
 * way. What each turns off is in the table *Switches* of ARCHITECTURE.md. */
typedef enum ge_switch {
    GE_NO_MASK_CACHE = 1,    /* compute each mask anew */
    GE_NO_INNER_MASKS = 2,   /* no lexeme-internal masks; slices still shorten the walk */
    GE_NO_SHARED_INNER = 4,  /* do not keep lexeme-internal masks, automata and outlines with the vocabulary */
    GE_NO_GOTO_CACHE = 8,    /* compute each Earley step anew */
    GE_NO_STATE_CACHE = 16,  /* compute each transition of lexer and configurations anew */
    GE_NO_SLICES = 32,       /* walk what is otherwise taken as a whole: plain tokens, and the like */
    GE_NO_HEIRS = 64,        /* no masks by their difference from that of the configuration that most bytes lead to */
    GE_NO_CLAMPING = 128,    /* tell all bounds of repeats apart, however far away */
    GE_NO_TABLE = 256,       /* make no token automaton of a grammar that has few states */
    GE_NO_SHAPES = 512,      /* do not analyse lexemes by the shapes of tokens */
    GE_NO_OUTLINES = 1024,   /* walk for each row by itself (but for outlines that go with the vocabulary) */
    GE_NO_AHEAD = 2048       /* make no mask before it is asked for */
} ge_switch;

typedef struct ge_ir ge_ir;           /* expressions under construction; then frozen into a grammar */
typedef struct ge_grammar ge_grammar; /* compiled rules and expressions, immutable */
typedef struct ge_vocab ge_vocab;     /* token trie, immutable, and masks shared by all grammars over it */
typedef struct ge_engine ge_engine;   /* the lazily grown automata of one (grammar, vocabulary) */
typedef struct ge_matcher ge_matcher; /* one text: a history of configurations */
typedef struct ge_plan ge_plan;       /* the byte automaton of a grammar with finitely many states */
typedef struct ge_dfa ge_dfa;         /* its token automaton: a table with a mask per state; immutable */

/* --- expressions ------------------------------------------------------------------------------------------------------------ */

ge_status ge_ir_new(const ge_limits *limits, ge_ir **out, ge_err *err); /* copies limits; returns owned */

/* A copy of `from` with its first n_exprs expressions. Fragments that it
 * has read are known to the copy. Any number of threads may copy one. */
ge_status ge_ir_copy(const ge_ir *from, size_t n_exprs, ge_ir **out, ge_err *err); /* returns owned */
void ge_ir_free(ge_ir *ir);
void ge_ir_free_at(ge_ir **at);

/* Appends expression records (ir.py): `words` (borrowed) holds n_words words that point into `data` (borrowed, n_data bytes). Stops at a
 * record that cannot be read, which then stands for the empty set; *n_done = words read, that record included. */
ge_status ge_ir_add(ge_ir *ir, const uint32_t *words, size_t n_words, const uint8_t *data, size_t n_data, size_t *n_done, ge_err *err);

/* *answer = 1 if the expression denotes no byte string at all, else 0. Exact. */
ge_status ge_ir_is_empty(ge_ir *ir, uint32_t expr, int32_t *answer, ge_err *err);

/* The same, but 0 also where a part of the work that compiling may take does not tell. */
ge_status ge_ir_is_surely_empty(ge_ir *ir, uint32_t expr, int32_t *answer, ge_err *err);

/* *answer = how many byte strings the expression denotes; `limit` if there are at least so many. */
ge_status ge_ir_count(ge_ir *ir, uint32_t expr, uint64_t limit, uint64_t *answer, ge_err *err);

/* *answer = 1 if the expression contains the byte string (borrowed), else 0. */
ge_status ge_ir_matches(ge_ir *ir, uint32_t expr, const uint8_t *text, size_t n_text, int32_t *answer, ge_err *err);

/* No string of the expression has fewer than bounds[0] or more than bounds[1] characters;
 * UINT32_MAX for any number. By structure: not always the tightest ones. Not for the empty set. */
ge_status ge_ir_lengths(ge_ir *ir, uint32_t expr, uint32_t bounds[2], ge_err *err);

/* bytes (256 bits) = the bytes c for which some w of `match` and c are a prefix of a string of `whole`. */
ge_status ge_ir_continuations(ge_ir *ir, uint32_t match, uint32_t whole, uint32_t bytes[8], ge_err *err);

/* --- grammars --------------------------------------------------------------------------------------------------------------- */

/* Lexemes, rules, lists and bags as in ir.py. Borrows everything but ir, of which it takes the expressions (ir is empty afterwards). */
typedef struct ge_rules {
    const uint32_t *lexemes; /* (expression, flags) per lexeme */
    uint32_t n_lexemes;
    uint32_t n_nonterminals;
    const uint32_t *rules; /* left, length, symbols per rule */
    uint32_t n_rule_words;
    const uint32_t *lists; /* nonterminal, item, separator, minimum, maximum per list */
    uint32_t n_lists;
    const uint32_t *bags; /* records of Builder.bag */
    uint32_t n_bag_words;
    uint32_t start;   /* symbol */
    int32_t longest; /* lexing discipline: 0 every split, 1 longest match */
} ge_rules;

ge_status ge_grammar_new(ge_ir *ir, const ge_rules *rules, ge_grammar **out, ge_err *err); /* returns owned */
void ge_grammar_free(ge_grammar *grammar);
void ge_grammar_free_at(ge_grammar **at);
size_t ge_grammar_bytes(const ge_grammar *grammar);

/* --- vocabularies ----------------------------------------------------------------------------------------------------------- */

/* Token i is bytes[offsets[i] .. offsets[i + 1]); empty = never text. width >= n_tokens: ids of the logits. Copies all. */
ge_status ge_vocab_new(const uint8_t *bytes, const uint32_t *offsets, uint32_t n_tokens, uint32_t width, const uint32_t *eos,
                       uint32_t n_eos, ge_vocab **out, ge_err *err);
void ge_vocab_free(ge_vocab *vocab);
void ge_vocab_free_at(ge_vocab **at);
size_t ge_vocab_bytes(ge_vocab *vocab); /* the pages of a loaded file are not counted */
/* How many bytes of the masks that its grammars share it keeps (64 MiB, unless this says otherwise). What is too much is dropped at
 * once. */
void ge_vocab_bound(ge_vocab *vocab, size_t max_bytes);

/* What ge_vocab_new was given, and the note of ge_vocab_save if it was loaded. All pointers lie in the vocabulary. */
typedef struct ge_vocab_content {
    const uint8_t *bytes;
    const uint32_t *offsets; /* n_tokens + 1 */
    const uint32_t *eos;
    const uint8_t *note;
    uint32_t n_tokens, width, n_eos, n_note;
} ge_vocab_content;

void ge_vocab_read(const ge_vocab *vocab, ge_vocab_content *out);

/* Writes the content of a file to `out`: the vocabulary with all its tables, and a note (borrowed). Returns its size; NULL: no more. */
size_t ge_vocab_save(const ge_vocab *vocab, const uint8_t *note, uint32_t n_note, uint8_t *out);

/* Maps such a file, which must not change until the vocabulary is freed; fd may be closed. GE_E_ARGUMENT: err.text tells why it cannot be
 * used. Returns owned. */
ge_status ge_vocab_load(int32_t fd, ge_vocab **out, ge_err *err);

/* Greedy longest-match spelling of the beginning of a text, which goes on: it ends before a token that a longer one could replace if more
 * of the text were known. Where no token fits behind the longest one, a shorter one is taken; none, if the text cannot be spelt. Writes ids
 * to out (capacity n_text), and returns their number. */
size_t ge_vocab_encode(const ge_vocab *vocab, const uint8_t *text, size_t n_text, uint32_t *out);

/* The fewest tokens that spell `text`; of such spellings, the one whose tokens are longest from the left. Writes ids to out (capacity
 * n_text) and their number to *n_out: 0 where there are none. */
ge_status ge_vocab_spell(const ge_vocab *vocab, const uint8_t *text, size_t n_text, uint32_t *out, size_t *n_out, ge_err *err);

/* --- engines ---------------------------------------------------------------------------------------------------------------- */

/* Counters since creation; none depends on the machine. */
typedef struct ge_stats {
    uint64_t bytes;          /* of automata */
    uint64_t mask_bytes;     /* of kept masks */
    uint64_t expressions;    /* nodes */
    uint64_t lexer_states;
    uint64_t rows;           /* interned Earley rows */
    uint64_t cut_rows;       /* of these, made only to look ahead of a text, without what is around an expression */
    uint64_t return_points;  /* interned */
    uint64_t rules;          /* symbols of all rules, those made on demand included */
    uint64_t configurations;
    uint64_t masks;          /* kept now */
    uint64_t mask_hits;      /* cold calls that found their mask by content */
    uint64_t mask_builds;    /* computed */
    uint64_t mask_evictions;
    uint64_t trie_nodes;     /* visited */
    /* to compute masks, to keep and to write them; one that is found by its configuration is a copy more, and not counted */
    uint64_t bytes_copied;
    uint64_t derivatives;    /* computed */
    uint64_t inner_builds;   /* lexeme-internal masks computed */
    uint64_t inner_hits;     /* found with the vocabulary; outlines, too */
    uint64_t slice_hits;     /* walks that a slice made short */
    uint64_t heirs;          /* masks made by their difference from another one */
    uint64_t outlines;       /* walks made for all rows with the same lexemes */
    uint64_t outline_hits;   /* ... and found again */
    uint64_t tables;         /* token automata made */
    uint64_t max_row_items;  /* of any row */
    uint64_t max_alternatives; /* of any configuration */
} ge_stats;

/* Keeps grammar and vocab alive. switches: or of ge_switch. Returns owned. */
ge_status ge_engine_new(ge_grammar *grammar, ge_vocab *vocab, uint32_t switches, ge_engine **out, ge_err *err);
void ge_engine_free(ge_engine *engine);
void ge_engine_free_at(ge_engine **at);
void ge_engine_stats(ge_engine *engine, ge_stats *out);

/* Slices of the vocabulary of an engine: the first n lexemes of its grammar. Once, and before there is another engine over the vocabulary.
 * GE_E_ARGUMENT: the lexeme *faulty is none (borrowed), err.text tells why. */
ge_status ge_vocab_slice(ge_engine *engine, uint32_t n, uint32_t *faulty, ge_err *err);
/* Makes what the vocabulary keeps of the lexemes of the engine's grammar, ahead of any text. */
ge_status ge_vocab_prepare(ge_engine *engine, ge_err *err);
void ge_engine_use(ge_engine *engine, ge_dfa *dfa); /* an exact automaton of its grammar and vocabulary, for masks; keeps it alive */
int32_t ge_engine_is_full(ge_engine *engine); /* 1: holds max_generation_bytes or more, or has met a ceiling on states */

/* --- matchers --------------------------------------------------------------------------------------------------------------- */

ge_status ge_matcher_new(ge_engine *engine, ge_matcher **out, ge_err *err); /* keeps engine alive; returns owned */
/* The tokens that end its text, once, before it has begun; else they are those of the vocabulary. They are copied. */
ge_status ge_matcher_end_with(ge_matcher *m, const uint32_t *ends, size_t n, ge_err *err);
ge_status ge_matcher_fork(ge_matcher *m, ge_matcher **out, ge_err *err);
void ge_matcher_free(ge_matcher *m);
void ge_matcher_free_at(ge_matcher **at);

/* Reads the text of m again in another engine of the same grammar and vocabulary, which it then uses. On failure m is unchanged. */
ge_status ge_matcher_move(ge_matcher *m, ge_engine *engine, ge_err *err);

/* 1: accepted, 0: refused, or a ge_status. */
int32_t ge_matcher_accept_token(ge_matcher *m, int64_t token, ge_err *err);

/* *n_done = how many of the tokens were accepted, in order, before one was refused. commit = 0: the state does not change. */
ge_status ge_matcher_accept(ge_matcher *m, const int64_t *tokens, size_t n, int32_t commit, size_t *n_done, ge_err *err);

/* *n_done = number of bytes accepted; only if it is n does the state change (one step of history), and only with commit. */
ge_status ge_matcher_accept_bytes(ge_matcher *m, const uint8_t *text, size_t n, int32_t commit, size_t *n_done, ge_err *err);

ge_status ge_matcher_rollback(ge_matcher *m, size_t n, ge_err *err); /* n steps; GE_E_ARGUMENT past the start, nothing changed */
ge_status ge_matcher_reset(ge_matcher *m, ge_err *err);
size_t ge_matcher_length(const ge_matcher *m);                          /* steps since the start; any, while another call moves m */
/* The token of each step, at most `capacity` of them (*n_out); -1 for accept_bytes. */
ge_status ge_matcher_history(ge_matcher *m, int64_t *out, size_t capacity, size_t *n_out, ge_err *err);

typedef enum ge_matcher_flag {
    GE_COMPLETE = 1, /* the text is a sentence */
    GE_ENDED = 2,    /* by a token that ends it */
    GE_SAME = 4      /* the last mask was GE_MASK_SAME */
} ge_matcher_flag;

int32_t ge_matcher_flags(ge_matcher *m, ge_err *err); /* an or of ge_matcher_flag, or a ge_status */

typedef enum ge_mask_flag {
    GE_MASK_ALL = 1, /* all `width` bits are set */
    GE_MASK_SAME = 2 /* the matcher wrote this mask to this place the last time, too; where it is not set, it may have */
} ge_mask_flag;

/* Writes row `row` of masks, whose rows are n_words = ceil(width / 32) words. Returns an or of ge_mask_flag, or a ge_status. */
int32_t ge_matcher_fill_mask(ge_matcher *m, uint32_t *masks, size_t row, size_t n_words, ge_err *err);

/* For each of n matchers: a token is accepted, then the mask is written. All of it is borrowed. */
typedef struct ge_batch {
    ge_matcher *const *matchers;
    const int64_t *tokens;   /* NULL: none is accepted; INT64_MIN: none by this matcher */
    const uint32_t *rows;
    size_t n;                /* of each of the arrays above and below */
    uint32_t *masks;         /* as for ge_matcher_fill_mask */
    size_t n_words;
    uint32_t n_threads;      /* at most so many at once; then no matcher occurs twice. 0 is 1 */
    _Bool *accepted;         /* false: refused, or none was given; or accepting failed */
    _Bool *needed;           /* not GE_MASK_ALL */
    _Bool *changed;          /* not GE_MASK_SAME */
    _Bool *failed;           /* the rest is not done for this one; why, its own call tells */
} ge_batch;

/* Returns how many have failed. Those do not keep the others from being done. */
size_t ge_batch_run(const ge_batch *batch);

/* The bytes that must come next, at most `capacity` of them. */
ge_status ge_matcher_forced_bytes(ge_matcher *m, uint8_t *out, size_t capacity, size_t *n_out, ge_err *err);

/* The first of the shortest byte strings that make the text a sentence. *n_out = its length; nothing is written if that is above
 * capacity. */
ge_status ge_matcher_closing(ge_matcher *m, uint8_t *out, size_t capacity, size_t *n_out, ge_err *err);

/* The same as the fewest tokens that spell it, and the first of the tokens that end the text, if there are any. If no tokens spell it, the
 * first of the shortest that some do. GE_E_SPELLING: none, or none that is not much longer. */
ge_status ge_matcher_closing_tokens(ge_matcher *m, uint32_t *out, size_t capacity, size_t *n_out, ge_err *err);

/* The same for any text that takes at most `most` tokens, for which `out` has room. *n_out = SIZE_MAX: there is none. */
ge_status ge_matcher_closing_within(ge_matcher *m, uint32_t most, uint32_t *out, size_t *n_out, ge_err *err);

typedef enum ge_turn_result {
    GE_TURN_NONE,   /* nothing has changed: the calls above tell why, or whether `left` is enough */
    GE_TURN_CHOICE, /* accepted */
    GE_TURN_ALONE,  /* accepted; all tokens that may come next begin with the same byte, or end the text */
    GE_TURN_REFUSED /* nothing has changed: after them, `left` is not enough */
} ge_turn_result;

/* A text in a decoding loop, from one forward pass to the next. Borrows all. */
typedef struct ge_turn {
    uint32_t *mask;         /* ceil(width / 32) words: of the next token, if `next` says so */
    const int64_t *closing; /* tokens that may complete the text; without those of its beginning that were accepted */
    size_t n_closing;
    size_t left;      /* tokens that may still be written */
    _Bool must_close; /* in these the text is to be completed */
    int32_t next;     /* the last ge_turn_result; GE_TURN_NONE: nothing is known of the next token */
    size_t steps;     /* of the matcher, as the last turn left it: where it has more or less it was moved meanwhile, and nothing is done */
} ge_turn;

/* Accepts tokens, if the text can be completed after them. */
int32_t ge_matcher_turn(ge_matcher *m, ge_turn *turn, const int64_t *tokens, size_t n, ge_err *err);

/* The same for what must come, whatever a model prefers: tokens that spell forced text, or the only token that may come, at most
 * `capacity`. turn->mask is that of the next token. *n_out tokens were appended; with GE_TURN_NONE they were not, but must come (0: nothing
 * must). */
int32_t ge_matcher_turn_alone(ge_matcher *m, ge_turn *turn, int64_t *out, size_t capacity, size_t *n_out, ge_err *err);

/* What may come after `text` has been added: the bytes (256 bits), and the lexemes and nonterminals that are under way or may begin.
 * Writes at most capacity ids each, the full numbers to *n_lexemes and *n_nonterminals. Fails with GE_E_ARGUMENT if text is refused. */
ge_status ge_matcher_expected(ge_matcher *m, const uint8_t *text, size_t n_text, uint32_t live_bytes[8], uint32_t *lexemes,
                              size_t *n_lexemes, uint32_t *nonterminals, size_t *n_nonterminals, size_t capacity, ge_err *err);

/* --- scores ----------------------------------------------------------------------------------------------------------------- */

typedef enum ge_float { GE_FLOAT16, GE_BFLOAT16, GE_FLOAT32, GE_FLOAT64 } ge_float;

/* Rows of scores in memory. Those of a row lie side by side, each aligned to its size. */
typedef struct ge_scores {
    void *first;    /* row 0 */
    int64_t stride; /* bytes from a row to the next; any */
    size_t width;   /* of a row */
    ge_float kind;
} ge_scores;

/* Scores that a mask does not allow, or that lie beyond it, become -inf. Mask
 * i, of n_words words, is for row rows[i], or i if rows is NULL. Borrows all. */
void ge_scores_apply(const ge_scores *scores, const uint32_t *masks, size_t n_words, const uint32_t *rows, size_t n);
void ge_row_apply(float *row, size_t width, const uint32_t *mask, size_t n_words); /* the same for a single row */

/* Room for what a mask allows of a row. Borrows all. */
typedef struct ge_gathered {
    const uint32_t *mask;
    size_t n_words;
    float *scores;
    int32_t *tokens;
    size_t capacity; /* of each */
} ge_gathered;

/* The scores of one row that the mask allows, and whose they are, ascending; the row stays as it
 * is. Returns how many, or capacity + 1 if they are more: then `scores` and `tokens` mean nothing. */
size_t ge_row_gather(const float *row, size_t width, const ge_gathered *to);

/* --- token automata ---------------------------------------------------------------------------------------------------------- */

/* All states of a grammar; find_runs: and its literals. More than max_states: GE_E_LIMIT, max_configurations = max_states + 1; err.text may
 * say why they are many. Keeps vocab alive. Returns owned. */
ge_status ge_plan_new(ge_grammar *grammar, ge_vocab *vocab, uint32_t max_states, int32_t find_runs, ge_plan **out, ge_err *err);
void ge_plan_free(ge_plan *plan);
void ge_plan_free_at(ge_plan **at);

/* Run r, a literal that can be coalesced: run_bytes[run_at[r] .. run_at[r + 1]). All pointers lie in the plan. */
typedef struct ge_plan_content {
    uint32_t n_states, n_classes, n_runs;
    const uint8_t *run_bytes;
    const uint32_t *run_at; /* n_runs + 1 */
} ge_plan_content;

void ge_plan_read(const ge_plan *plan, ge_plan_content *out);

/* The token automaton. spelling_at NULL: exact. Else run r is spelt by spelling[spelling_at[r] .. spelling_at[r + 1]) and not otherwise; if
 * there are none it is not coalesced. GE_E_SPELLING: err.text = "hex|hex": bytes that some state asks for and no token spells, and a text
 * that leads there. Returns owned. */
ge_status ge_dfa_new(ge_plan *plan, const uint32_t *spelling, const uint32_t *spelling_at, uint32_t n_threads, ge_dfa **out, ge_err *err);
void ge_dfa_free(ge_dfa *dfa);
void ge_dfa_free_at(ge_dfa **at);
size_t ge_dfa_bytes(const ge_dfa *dfa);

/* All pointers lie in the automaton. */
typedef struct ge_dfa_content {
    uint32_t n_states, n_classes, n_transitions, n_masks, n_listed_masks;
    uint32_t n_tokens, width, n_words, exact;
    uint32_t n_byte_states, n_byte_classes, n_note;
    const _Bool *byte_accepts;
    const uint8_t *note; /* of ge_dfa_save */
} ge_dfa_content;

void ge_dfa_read(const ge_dfa *dfa, ge_dfa_content *out);

/* The byte automaton: the state after a byte, or UINT32_MAX. State 0 is the start. */
uint32_t ge_dfa_byte_next(const ge_dfa *dfa, uint32_t state, uint8_t byte);

/* As for vocabularies. */
size_t ge_dfa_save(const ge_dfa *dfa, const uint8_t *note, uint32_t n_note, uint8_t *out);
ge_status ge_dfa_load(int32_t fd, ge_dfa **out, ge_err *err);

/* State 0 is the start, n_states that of a text that an end-of-text token has ended. */
int64_t ge_dfa_next(const ge_dfa *dfa, uint32_t state, int64_t token); /* the state after a token, or -1 */
int32_t ge_dfa_accepts(const ge_dfa *dfa, uint32_t state);             /* 1: the text is a sentence, or ended */
int32_t ge_dfa_fill_mask(const ge_dfa *dfa, uint32_t state, uint32_t *mask); /* an or of ge_mask_flag, or GE_E_ARGUMENT */
size_t ge_dfa_tokens(const ge_dfa *dfa, uint32_t state, uint32_t *out); /* the allowed ids, ascending; out: room for n_tokens */

/* --- guides ------------------------------------------------------------------------------------------------------------------- */

/* A text under an automaton (borrowed), in ge_guide_words(dfa, capacity) words of the caller: its state, and the last ones before it, at
 * most `capacity` and `most`. from (may be NULL): a guide of the same automaton that this one goes on from. */
size_t ge_guide_words(const ge_dfa *dfa, uint32_t capacity);
void ge_guide_init(uint64_t *guide, const ge_dfa *dfa, uint32_t capacity, uint32_t most, const uint64_t *from);

uint32_t ge_guide_state(const uint64_t *guide);
int32_t ge_guide_accepts(const uint64_t *guide); /* 1: the text is a sentence, or ended */
uint32_t ge_guide_before(const uint64_t *guide); /* how many states before it are kept */
uint32_t ge_guide_most(const uint64_t *guide);   /* ... and will be at most */

/* Nothing has changed: the token may not come next, the steps cannot be taken back, the address is none or
 * has no room; or capacity < most is to be raised. */
#define GE_GUIDE_REFUSED 1
#define GE_GUIDE_FULL 2

/* 0: appended, and the mask after it written, unless that is NULL */
int32_t ge_guide_advance(uint64_t *guide, int64_t token, uint32_t *mask);
int32_t ge_guide_rollback(uint64_t *guide, uint32_t n);
void ge_guide_fill_mask(const uint64_t *guide, uint32_t *mask);
/* n words, aligned; beyond those of the mask all are 0 */
int32_t ge_guide_fill_mask_at(const uint64_t *guide, uintptr_t address, size_t n);

const char *ge_version(void);
const char *ge_build(void); /* compiler and options that matter, for people */
