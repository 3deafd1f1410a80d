/* Calls: the methods that are called for each token. See held.h.
 *
 * Each takes what the method in Python takes that it overrides. Where an argument is not of the usual
 * kind, or the core says no, nothing has changed, and that method is called, which does it or raises. */
#include "../match/mt.h"
#include "../match/tn.h"
#include "held.h"

enum {
    ALONE = 256, /* tokens that are appended at once where there is no choice */
    LISTED = 512 /* that are read from a list */
};

#define PARAMETERS PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names

enum { ADVANCE, GET_STATE, GET_TOKENS, IS_FINISHED, ROLLBACK_STATE, WRITE_MASK_INTO, N_GUIDE }; /* as in guide_methods */
enum { ACCEPT = N_GUIDE, ACCEPT_TOKENS, VALIDATE, FILL_MASK, N_MATCHER };                       /* as in matcher_methods */
enum { TEXT_ACCEPT = N_MATCHER, WRITE_ALONE, N_TEXT };                                          /* as in text_methods */
enum { MASKED = N_TEXT, N_CALLS };                                                              /* as in row_mask_methods */

static PyObject *overridden[N_CALLS];    /* the methods in Python */
static PyInterpreterState *interpreter; /* they are its objects, and end with it */

/* super().method(...) */
static PyObject *inherited(int call, PARAMETERS) {
    if (n <= 3 && !names)
        return PyObject_CallFunctionObjArgs(overridden[call], self, n > 0 ? args[0] : NULL, n > 1 ? args[1] : NULL, n > 2 ? args[2] : NULL,
                                            NULL);
    PyObject *given = PyTuple_New(n + 1), *named = PyDict_New(), *result = NULL;
    bool ok = given && named;
    for (Py_ssize_t i = 0; ok && i <= n; i++) ok = PyTuple_SetItem(given, i, Py_NewRef(i ? args[i - 1] : self)) == 0;
    for (Py_ssize_t i = 0; ok && names && i < PyTuple_Size(names); i++)
        ok = PyDict_SetItem(named, PyTuple_GetItem(names, i), args[n + i]) == 0;
    if (ok) result = PyObject_Call(overridden[call], given, named);
    Py_XDECREF(given);
    Py_XDECREF(named);
    return result;
}

#define INHERITED(call) inherited(call, self, args, n, names)

/* The object of the core that `self` holds, if there are so many arguments and none has a name; else NULL. */
static void *held_at(PyObject *self, Py_ssize_t n, Py_ssize_t least, Py_ssize_t most, PyObject *names) {
    return n >= least && n <= most && !names ? ((held *)self)->of.at : NULL;
}

/* --- guides ----------------------------------------------------------------------------------------------------------------- */

/* The memory of a mask, if it is one row of the guide's width; else NULL. */
static uint32_t *row_for(PyObject *self, PyObject *mask) {
    masks row;
    return masks_of(mask, &row) && row.rows == 1 && row.words == ((held *)self)->of.words ? row.at : NULL;
}

static bool is_only(PyObject *names, const char *name) {
    return names && PyTuple_Size(names) == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), name) == 0;
}

/* Usual: advance(token, mask), advance(token, return_tokens=False), advance(token, False). */
static PyObject *guide_advance(PARAMETERS) {
    bool without = (n == 2 ? !names : n == 1 && is_only(names, "return_tokens")) && args[1] == Py_False;
    uint32_t *row = n == 2 && !names && !without ? row_for(self, args[1]) : NULL;
    void *guide = ((held *)self)->of.at; /* last: who looks at an array calls foreign code */
    if (!guide || (!row && !without) || !PyLong_CheckExact(args[0]) || ge_guide_advance(guide, int_of(args[0]), row))
        return INHERITED(ADVANCE);
    Py_RETURN_NONE;
}

static PyObject *guide_get_state(PARAMETERS) {
    void *guide = held_at(self, n, 0, 0, names);
    return guide ? PyLong_FromUnsignedLong(ge_guide_state(guide)) : INHERITED(GET_STATE);
}

static PyObject *guide_get_tokens(PARAMETERS) {
    uint32_t *row = n == 1 && !names ? row_for(self, args[0]) : NULL;
    void *guide = ((held *)self)->of.at;
    if (!guide || !row) return INHERITED(GET_TOKENS);
    ge_guide_fill_mask(guide, row);
    Py_RETURN_NONE;
}

static PyObject *guide_is_finished(PARAMETERS) {
    void *guide = held_at(self, n, 0, 0, names);
    return guide ? PyBool_FromLong(ge_guide_accepts(guide)) : INHERITED(IS_FINISHED);
}

static PyObject *guide_rollback_state(PARAMETERS) {
    void *guide = held_at(self, n, 1, 1, names);
    int64_t steps = guide ? int_of(args[0]) : -1;
    if (steps < 0 || steps > UINT32_MAX || ge_guide_rollback(guide, (uint32_t)steps)) return INHERITED(ROLLBACK_STATE);
    Py_RETURN_NONE;
}

static PyObject *guide_write_mask_into(PARAMETERS) {
    void *guide = held_at(self, n, 2, 3, names);
    bool fits = guide && (n == 2 || int_of(args[2]) == sizeof(uint32_t));
    int64_t address = fits ? int_of(args[0]) : -1, words = fits ? int_of(args[1]) : -1;
    if (address < 0 || words < 0 || (uint64_t)address > UINTPTR_MAX || (uint64_t)words > SIZE_MAX) return INHERITED(WRITE_MASK_INTO);
    if (ge_guide_fill_mask_at(guide, (uintptr_t)address, (size_t)words)) return INHERITED(WRITE_MASK_INTO);
    Py_RETURN_NONE;
}

#define METHOD(name, function, parameters) \
    {name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL | METH_KEYWORDS, name "($self" parameters ")\n--\n\n"}

static PyMethodDef guide_methods[] = {METHOD("advance", guide_advance, ", token_id, mask=None, *, return_tokens=None"),
                                      METHOD("get_state", guide_get_state, ""),
                                      METHOD("get_tokens", guide_get_tokens, ", mask=None"),
                                      METHOD("is_finished", guide_is_finished, ""),
                                      METHOD("rollback_state", guide_rollback_state, ", n"),
                                      METHOD("write_mask_into", guide_write_mask_into, ", data_ptr, numel, element_size=4"),
                                      {NULL, NULL, 0, NULL}};

/* --- matchers --------------------------------------------------------------------------------------------------------------- */

static PyObject *matcher_accept(PARAMETERS) {
    void *matcher = held_at(self, n, 1, 1, names);
    if (!matcher || !PyLong_CheckExact(args[0])) return INHERITED(ACCEPT);
    ge_err err;
    int32_t result = mt_accept_token(matcher, int_of(args[0]), true, &err);
    return result < 0 || result == EN_COLD ? INHERITED(ACCEPT) : PyBool_FromLong(result);
}

/* Usual: a list of ints. What is not known without the lock, and what comes behind it, goes the way through Python. */
static PyObject *read_tokens(int call, PARAMETERS) {
    void *matcher = held_at(self, n, 1, 1, names);
    Py_ssize_t n_tokens = matcher && PyList_CheckExact(args[0]) ? PyList_Size(args[0]) : LISTED + 1;
    int64_t tokens[LISTED];
    bool usual = n_tokens <= LISTED, commit = call == ACCEPT_TOKENS;
    for (Py_ssize_t i = 0; usual && i < n_tokens; i++) {
        PyObject *token = PyList_GetItem(args[0], i);
        usual = PyLong_CheckExact(token);
        tokens[i] = int_of(token);
    }
    if (!usual) return inherited(call, self, args, n, names);
    ge_err err;
    size_t n_done = 0;
    int32_t status = mt_accept(matcher, tokens, (size_t)n_tokens, commit, &n_done, true, &err);
    if (status == GE_OK) return PyLong_FromSize_t(n_done);
    if (!commit || !n_done) return inherited(call, self, args, n, names);
    PyObject *rest = PyList_GetSlice(args[0], (Py_ssize_t)n_done, n_tokens), *done = rest ? inherited(call, self, &rest, 1, NULL) : NULL;
    Py_XDECREF(rest);
    if (!done) return NULL;
    n_done += PyLong_AsSize_t(done);
    Py_DECREF(done);
    return PyLong_FromSize_t(n_done);
}

static PyObject *matcher_accept_tokens(PARAMETERS) { return read_tokens(ACCEPT_TOKENS, self, args, n, names); }
static PyObject *matcher_validate(PARAMETERS) { return read_tokens(VALIDATE, self, args, n, names); }

/* Computes a mask, without the GIL. What the two hold is kept meanwhile: the owner of the buffer, or what it keeps, has the memory
 * exported, so that stays where it is. (An array may be moved by other threads, so it goes the way through Python, which has it
 * exported.) */
static int32_t fill_cold(held *matcher, held *buffer, size_t row) {
    masks to = buffer->of;
    void *at = matcher->of.at;
    PyObject *used[] = {matcher->owner, buffer->owner, buffer->keeps};
    for (int i = 0; i < 3; i++) Py_XINCREF(used[i]);
    ge_err err;
    PyThreadState *state = PyEval_SaveThread();
    int32_t flags = mt_fill_mask(at, to.at, row, to.words, false, &err);
    PyEval_RestoreThread(state);
    for (int i = 0; i < 3; i++) Py_XDECREF(used[i]);
    return flags;
}

static PyObject *matcher_fill_mask(PARAMETERS) {
    masks to = {NULL, 0, 0};
    bool usual = (n == 1 || n == 2) && !names && masks_of(args[0], &to);
    int64_t row = n == 2 ? int_of(args[1]) : 0;
    void *matcher = ((held *)self)->of.at;
    if (!matcher || !usual || row < 0 || row >= to.rows) return INHERITED(FILL_MASK);
    ge_err err;
    int32_t flags = mt_fill_mask(matcher, to.at, (size_t)row, to.words, true, &err);
    if (flags == EN_COLD && held_is(args[0])) flags = fill_cold((held *)self, (held *)args[0], (size_t)row);
    return flags < 0 || flags == EN_COLD ? INHERITED(FILL_MASK) : PyBool_FromLong(!(flags & GE_MASK_ALL));
}

static PyMethodDef matcher_methods[] = {METHOD("accept", matcher_accept, ", token, *, strict=False"),
                                        METHOD("accept_tokens", matcher_accept_tokens, ", tokens"),
                                        METHOD("validate", matcher_validate, ", tokens"),
                                        METHOD("fill_mask", matcher_fill_mask, ", buffer, row=0"),
                                        {NULL, NULL, 0, NULL}};

/* --- decoding loops --------------------------------------------------------------------------------------------------------- */

static PyObject *matcher_type; /* the usual one */

bool matcher_is_fast(PyObject *object) { return (PyObject *)Py_TYPE(object) == matcher_type; }

/* The matcher of a text, which it keeps; it may hold nothing. */
static void *matcher_of(PyObject *self) {
    PyObject *matcher = ((held *)self)->keeps;
    return matcher && (matcher_is_fast(matcher) || held_is(matcher)) ? ((held *)matcher)->of.at : NULL;
}

/* tn_write with the engine's lock, and without the GIL, which others may need to let go of that. The turn, the matcher, the mask and the
 * closing are kept meanwhile. A text belongs to one thread at a time; where another one has set a closing all the same, that stays. */
static int32_t write_cold(PyObject *text, ge_turn *turn, int64_t token) {
    PyObject *matcher = ((held *)text)->keeps, *mask = PyObject_GetAttrString(text, "_memory"),
             *closing = PyObject_GetAttrString(text, "_closing_ids");
    PyObject *used[] = {Py_XNewRef(((held *)text)->owner), Py_NewRef(matcher), Py_XNewRef(((held *)matcher)->owner), mask, closing};
    ge_err err;
    ge_turn copy = *turn;
    void *m = ((held *)matcher)->of.at;
    int32_t result = GE_TURN_NONE;
    if (mask && closing) {
        const int64_t *before = copy.closing;
        PyThreadState *thread = PyEval_SaveThread();
        result = tn_write(m, &copy, &token, 1, false, &err);
        PyEval_RestoreThread(thread);
        if (result == GE_TURN_CHOICE || result == GE_TURN_ALONE) {
            turn->left = copy.left;
            turn->steps = copy.steps;
            turn->next = copy.next;
            if (turn->closing == before) turn->closing = copy.closing, turn->n_closing = copy.n_closing;
        }
    }
    PyErr_Clear();
    for (int i = 0; i < 5; i++) Py_XDECREF(used[i]);
    return result;
}

/* Usual: accept(token). */
GE_HOT static PyObject *text_accept(PARAMETERS) {
    ge_turn *turn = held_at(self, n, 1, 1, names);
    void *matcher = matcher_of(self);
    if (!turn || !matcher || !PyLong_CheckExact(args[0])) return INHERITED(TEXT_ACCEPT);
    ge_err err;
    int64_t token = int_of(args[0]);
    int32_t result = tn_write(matcher, turn, &token, 1, true, &err);
    if (result == EN_COLD) result = write_cold(self, turn, token);
    return result == GE_TURN_NONE ? INHERITED(TEXT_ACCEPT) : PyBool_FromLong(result != GE_TURN_REFUSED);
}

GE_HOT static PyObject *text_write_alone(PARAMETERS) {
    int64_t tokens[ALONE];
    size_t n_tokens = 0;
    ge_err err;
    ge_turn *turn = held_at(self, n, 0, 0, names);
    void *matcher = matcher_of(self);
    if (turn && turn->next == GE_TURN_CHOICE) return PyList_New(0);
    if (!turn || !matcher || turn->next == GE_TURN_NONE) return INHERITED(WRITE_ALONE);
    int32_t result = tn_write_alone(matcher, turn, tokens, ALONE, &n_tokens, true, &err);
    if (result != GE_TURN_CHOICE && result != GE_TURN_ALONE && (result != GE_TURN_NONE || n_tokens)) return INHERITED(WRITE_ALONE);
    PyObject *list = PyList_New((Py_ssize_t)n_tokens);
    for (size_t i = 0; list && i < n_tokens; i++) {
        PyObject *token = PyLong_FromLongLong(tokens[i]);
        if (!token || PyList_SetItem(list, (Py_ssize_t)i, token) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyMethodDef text_methods[] = {
    METHOD("accept", text_accept, ", *tokens"), METHOD("write_alone", text_write_alone, ""), {NULL, NULL, 0, NULL}};

static PyObject *text_has_choice(PyObject *self, void *unused) {
    const ge_turn *turn = ((held *)self)->of.at;
    (void)unused;
    return PyBool_FromLong(turn && turn->next == GE_TURN_CHOICE);
}

static PyGetSetDef text_questions[] = {{"has_choice", text_has_choice, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};

/* Usual: one row of float32. Where few tokens are allowed: of the two arrays that it keeps the first,
 * and the beginning of the second, which is kept by its length as well: the same lengths come again. */
GE_HOT static PyObject *row_mask_masked(PARAMETERS) {
    scores row;
    bool usual = n == 1 && !names && scores_of(args[0], &row);
    const ge_gathered *to = ((held *)self)->of.at;
    PyObject *arrays = ((held *)self)->keeps;
    if (!usual || !to || !arrays || !PyTuple_CheckExact(arrays) || to->n_words > (row.width + 31) / 32) return INHERITED(MASKED);
    size_t n_allowed = ge_row_gather(row.at, row.width, to);
    if (n_allowed > to->capacity) {
        ge_row_apply(row.at, row.width, to->mask, to->n_words);
        return PyTuple_Pack(2, Py_None, args[0]);
    }
    PyObject *beginnings = PyTuple_GetItem(arrays, 2), *gathered = PyList_GetItem(beginnings, (Py_ssize_t)n_allowed);
    if (gathered == Py_None) {
        gathered = PySequence_GetSlice(PyTuple_GetItem(arrays, 1), 0, (Py_ssize_t)n_allowed);
        if (!gathered || PyList_SetItem(beginnings, (Py_ssize_t)n_allowed, gathered) < 0) return NULL;
    }
    return gathered ? PyTuple_Pack(2, PyTuple_GetItem(arrays, 0), gathered) : NULL;
}

static PyMethodDef row_mask_methods[] = {METHOD("masked", row_mask_masked, ", logits"), {NULL, NULL, 0, NULL}};

/* --- classes ---------------------------------------------------------------------------------------------------------------- */

/* A class like `base`, which has the name, where methods are overridden; those of base are `inherited` from `first` on; and properties,
 * where there are `questions`. In another interpreter than the first: `base`. */
static PyObject *derive(PyObject *base, const char *name, PyMethodDef *methods, int first, PyGetSetDef *questions) {
    if (!held_is_base_of(base)) return PyErr_Format(PyExc_TypeError, "%R is no class that is derived from Held", base);
    if (interpreter && interpreter != PyInterpreterState_Get()) return Py_NewRef(base);
    interpreter = PyInterpreterState_Get();
    PyType_Slot slots[] = {{Py_tp_methods, methods}, {questions ? Py_tp_getset : 0, questions}, {0, NULL}};
    PyType_Spec spec = {name, 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    for (int i = 0; methods[i].ml_name; i++) {
        PyObject *method = PyObject_GetAttrString(base, methods[i].ml_name), *before = overridden[first + i];
        if (!method) return NULL;
        overridden[first + i] = method;
        Py_XDECREF(before);
    }
    PyObject *text = PyObject_GetAttrString(base, "__doc__"), *bases = PyTuple_Pack(1, base), *class = NULL;
    if (text && bases) class = PyType_FromSpecWithBases(&spec, bases);
    if (class && PyObject_SetAttrString(class, "__doc__", text) < 0) Py_CLEAR(class);
    Py_XDECREF(text);
    Py_XDECREF(bases);
    return class;
}

PyObject *fast_guide(PyObject *module, PyObject *base) {
    (void)module;
    return derive(base, "grammar_engine.automata.guide.Guide", guide_methods, 0, NULL);
}

PyObject *fast_matcher(PyObject *module, PyObject *base) {
    (void)module;
    PyObject *type = derive(base, "grammar_engine.matcher.Matcher", matcher_methods, N_GUIDE, NULL), *before = matcher_type;
    if (!type) return NULL;
    matcher_type = Py_NewRef(type);
    Py_XDECREF(before);
    return type;
}

PyObject *fast_text(PyObject *module, PyObject *base) {
    (void)module;
    return derive(base, "grammar_engine.decoding.budget.BudgetedText", text_methods, N_MATCHER, text_questions);
}

PyObject *fast_row_mask(PyObject *module, PyObject *base) {
    (void)module;
    return derive(base, "grammar_engine.decoding.apply.RowMask", row_mask_methods, N_TEXT, NULL);
}
