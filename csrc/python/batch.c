/* Batches: what is asked of many matchers at once, if all of it is of the usual kind. See held.h.
 *
 * What the matchers hold is kept while the core does its work, which is without
 * the GIL. The list of matchers is the caller's own, and so stays as it is. */
#include "held.h"

typedef struct batch {
    ge_batch of; /* its arrays are what follows */
    PyObject **owners;
} batch;

/* Memory for n items: first what is largest. NULL: there is none. */
static void *batch_memory(batch *b, size_t n) {
    char *at = PyMem_Malloc(n * (2 * sizeof(void *) + sizeof(int64_t) + sizeof(uint32_t) + 4 * sizeof(bool)) + 1);
    if (!at) return NULL;
    b->owners = (PyObject **)(void *)at;
    b->of.matchers = (ge_matcher *const *)(void *)(b->owners + n);
    b->of.tokens = (const int64_t *)(const void *)(b->of.matchers + n);
    b->of.rows = (const uint32_t *)(const void *)(b->of.tokens + n);
    b->of.accepted = (bool *)(uintptr_t)(b->of.rows + n);
    b->of.needed = b->of.accepted + n;
    b->of.changed = b->of.needed + n;
    b->of.failed = b->of.changed + n;
    b->of.n = n;
    memset(b->of.accepted, 0, 4 * n * sizeof(bool));
    return at;
}

/* Are they matchers of the usual class, with masks of that width? */
static bool take_matchers(batch *b, PyObject *list) {
    ge_matcher **to = (ge_matcher **)(uintptr_t)b->of.matchers;
    for (size_t i = 0; i < b->of.n; i++) {
        PyObject *matcher = PyList_GetItem(list, (Py_ssize_t)i);
        const held *h = (const held *)matcher;
        if (!matcher_is_fast(matcher) || !h->of.at || h->of.words != b->of.n_words) return false;
        to[i] = h->of.at;
        b->owners[i] = h->owner;
    }
    return true;
}

/* Ints that are no less than 0 and fit, or None. */
static bool take_tokens(batch *b, PyObject *list) {
    int64_t *to = (int64_t *)(uintptr_t)b->of.tokens;
    if (list == Py_None) return b->of.tokens = NULL, true;
    if (!PyList_CheckExact(list) || (size_t)PyList_Size(list) != b->of.n) return false;
    for (size_t i = 0; i < b->of.n; i++) {
        PyObject *token = PyList_GetItem(list, (Py_ssize_t)i);
        to[i] = token == Py_None ? INT64_MIN : int_of(token);
        if (to[i] < 0 && token != Py_None) return false;
    }
    return true;
}

static bool take_rows(batch *b, PyObject *list, uint32_t n_rows) {
    uint32_t *to = (uint32_t *)(uintptr_t)b->of.rows;
    if (list != Py_None && (!PyList_CheckExact(list) || (size_t)PyList_Size(list) != b->of.n)) return false;
    for (size_t i = 0; i < b->of.n; i++) {
        int64_t row = list == Py_None ? (int64_t)i : int_of(PyList_GetItem(list, (Py_ssize_t)i));
        if (row < 0 || row >= n_rows) return false;
        to[i] = (uint32_t)row;
    }
    return true;
}

static PyObject *list_of_flags(const bool *flags, size_t n) {
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list && i < n; i++)
        if (PyList_SetItem(list, (Py_ssize_t)i, PyBool_FromLong(flags[i])) < 0) Py_CLEAR(list);
    return list;
}

static PyObject *run_kept(batch *b) {
    for (size_t i = 0; i < b->of.n; i++) Py_INCREF(b->owners[i]);
    PyThreadState *state = PyEval_SaveThread();
    size_t n_failed = ge_batch_run(&b->of);
    PyEval_RestoreThread(state);
    for (size_t i = 0; i < b->of.n; i++) Py_DECREF(b->owners[i]);
    PyObject *lists[4] = {NULL, NULL, NULL, NULL};
    const bool *flags[4] = {b->of.accepted, b->of.needed, b->of.changed, b->of.failed};
    bool ok = true;
    for (int i = 0; ok && i < 4; i++) ok = (lists[i] = i < 3 || n_failed ? list_of_flags(flags[i], b->of.n) : Py_NewRef(Py_None)) != NULL;
    PyObject *result = ok ? PyTuple_Pack(4, lists[0], lists[1], lists[2], lists[3]) : NULL;
    for (int i = 0; i < 4; i++) Py_XDECREF(lists[i]);
    return result;
}

PyObject *run_batch(PyObject *module, PyObject *const *args, Py_ssize_t n) {
    (void)module;
    if (n != 6 || !PyList_CheckExact(args[0]))
        return PyErr_Format(PyExc_TypeError, "run_batch takes lists of matchers, tokens, rows, and their masks");
    int64_t n_words = int_of(args[3]), n_rows = int_of(args[4]);
    batch b = {.of = {.masks = held_address(args[2]), .n_words = (size_t)n_words, .n_threads = 1}};
    if (PyErr_Occurred()) return NULL;
    void *memory = batch_memory(&b, (size_t)PyList_Size(args[0]));
    if (!memory) return PyErr_NoMemory();
    bool usual = b.of.masks && n_words > 0 && n_rows > 0 && n_rows <= UINT32_MAX && take_matchers(&b, args[0]) &&
                 take_tokens(&b, args[1]) && take_rows(&b, args[5], (uint32_t)n_rows);
    PyObject *result = usual ? run_kept(&b) : PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    PyMem_Free(memory);
    return result;
}
