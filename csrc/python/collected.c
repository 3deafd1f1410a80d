/* Collected: base of ir.Builder. What a builder has collected, in Python's dictionaries and
 * lists, and the methods that are called for each property of a schema and each symbol of a rule.
 *
 * A front end asks for some ten records for each property, and most of them are there: as methods in Python these were a fifth of all that
 * it did. What they mean, and the others, is in grammar_engine/ir.py.
 *
 * Invariant. A record is known by its tuple [operator, number of operands, operands], and a string
 * by its bytes. A call that fails leaves the grammar unfinished, and nobody goes on with that. */
#include "held.h"

#include <structmember.h>

enum { C_NEVER, C_EMPTY }; /* expressions that each builder begins with */
enum { C_BYTES = 2, C_CONCAT = 5 }; /* operators, as in ir.py */

typedef struct collected {
    PyObject_HEAD
    PyObject *ids;            /* record: expression */
    PyObject *latest;         /* words of the latest records */
    PyObject *fragments;      /* expressions that have no record */
    PyObject *spans, *data;   /* bytes: where they are in `data`, a bytearray */
    PyObject *lexemes, *lexeme_records, *lexeme_ids; /* names; expression and flags; (expression, flags, place): symbol */
    PyObject *nonterminals, *rule_records, *bag_records;
    PyObject *info;           /* the class of names */
} collected;

#define OF(self) ((collected *)(self))

static void *never_begun(void) {
    PyErr_SetString(PyExc_AttributeError, "a builder that was never begun");
    return NULL;
}

/* A new tuple of the numbers of expressions and others. */
static PyObject *numbers(Py_ssize_t n, const int64_t *at) {
    PyObject *tuple = PyTuple_New(n);
    for (Py_ssize_t i = 0; tuple && i < n; i++) {
        PyObject *number = PyLong_FromLongLong(at[i]);
        if (!number || PyTuple_SetItem(tuple, i, number) < 0) Py_CLEAR(tuple);
    }
    return tuple;
}

static bool extend(PyObject *list, PyObject *with) {
    Py_ssize_t end = PyList_Size(list);
    return end >= 0 && PyList_SetSlice(list, end, end, with) == 0;
}

/* The expression of a record, which is taken over; NULL: an exception. */
static PyObject *expression_of(collected *c, PyObject *record) {
    bool begun = c->ids && c->fragments && c->latest;
    PyObject *known = record && begun ? PyDict_GetItemWithError(c->ids, record) : NULL;
    Py_XINCREF(known);
    if (!known && record && begun && !PyErr_Occurred()) {
        Py_ssize_t n = PyDict_Size(c->ids), more = PyList_Size(c->fragments);
        known = n >= 0 && more >= 0 ? PyLong_FromSsize_t(n + more) : NULL;
        if (known && (PyDict_SetItem(c->ids, record, known) < 0 || !extend(c->latest, record))) Py_CLEAR(known);
    }
    Py_XDECREF(record);
    return record && !begun ? never_begun() : known;
}

/* _node(*record) */
static PyObject *collected_node(PyObject *self, PyObject *record) { return expression_of(OF(self), Py_NewRef(record)); }

/* Where bytes are in `data`; -1: an exception. */
static Py_ssize_t place_of(collected *c, PyObject *content) {
    PyObject *known = c->spans && PyBytes_Check(content) ? PyDict_GetItemWithError(c->spans, content) : NULL;
    if (known) return PyLong_AsSsize_t(known);
    if (PyErr_Occurred()) return -1;
    if (!c->spans || !c->data || !PyByteArray_Check(c->data) || !PyBytes_Check(content)) {
        PyErr_SetString(PyExc_TypeError, "a string of a grammar is bytes");
        return -1;
    }
    Py_ssize_t at = PyByteArray_Size(c->data), n = PyBytes_Size(content);
    PyObject *number = PyLong_FromSsize_t(at);
    bool ok = number && PyByteArray_Resize(c->data, at + n) == 0 && PyDict_SetItem(c->spans, content, number) == 0;
    if (ok && n) memcpy(PyByteArray_AsString(c->data) + at, PyBytes_AsString(content), (size_t)n);
    Py_XDECREF(number);
    return ok ? at : -1;
}

/* _span(content) */
static PyObject *collected_span(PyObject *self, PyObject *content) {
    Py_ssize_t at = place_of(OF(self), content);
    return at < 0 ? NULL : PyLong_FromSsize_t(at);
}

/* bytes(literal) */
static PyObject *collected_bytes(PyObject *self, PyObject *literal) {
    if (PyBytes_Check(literal) && PyBytes_Size(literal) == 0) return PyLong_FromLong(C_EMPTY);
    Py_ssize_t at = place_of(OF(self), literal);
    return at < 0 ? NULL : expression_of(OF(self), numbers(4, (int64_t[]){C_BYTES, 2, at, PyBytes_Size(literal)}));
}

/* string(literal) */
static PyObject *collected_string(PyObject *self, PyObject *literal) {
    PyObject *encoded = PyUnicode_AsUTF8String(literal), *expr = encoded ? collected_bytes(self, encoded) : NULL;
    Py_XDECREF(encoded);
    return expr;
}

/* concat(*parts) */
static PyObject *collected_concat(PyObject *self, PyObject *const *parts, Py_ssize_t n) {
    Py_ssize_t n_kept = 0, last = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        long part = PyLong_AsLong(parts[i]);
        if (part == -1 && PyErr_Occurred()) return NULL;
        if (part == C_NEVER) return PyLong_FromLong(C_NEVER);
        if (part != C_EMPTY) n_kept++, last = i;
    }
    if (n_kept < 2) return n_kept ? Py_NewRef(parts[last]) : PyLong_FromLong(C_EMPTY);
    PyObject *record = PyTuple_New(2 + n_kept), *op = PyLong_FromLong(C_CONCAT), *size = PyLong_FromSsize_t(n_kept);
    bool ok = record && op && size && PyTuple_SetItem(record, 0, Py_NewRef(op)) == 0 && PyTuple_SetItem(record, 1, Py_NewRef(size)) == 0;
    for (Py_ssize_t i = 0, at = 2; ok && i < n; i++)
        if (PyLong_AsLong(parts[i]) != C_EMPTY) ok = PyTuple_SetItem(record, at++, Py_NewRef(parts[i])) == 0;
    Py_XDECREF(op);
    Py_XDECREF(size);
    if (!ok) Py_CLEAR(record);
    return ok ? expression_of(OF(self), record) : NULL;
}

/* What explain() says of a symbol: a tuple of the class `info`. */
static PyObject *info_of(collected *c, PyObject *name, PyObject *where) {
    newfunc make = (newfunc)PyType_GetSlot(&PyTuple_Type, Py_tp_new); /* the class has one in Python, which does the same */
    bool is_class = c->info && PyType_Check(c->info) && PyType_IsSubtype((PyTypeObject *)c->info, &PyTuple_Type);
    if (!is_class) return PyErr_Format(PyExc_TypeError, "no class of names");
    PyObject *both = PyTuple_Pack(2, name, where), *given = both ? PyTuple_Pack(1, both) : NULL;
    PyObject *info = given ? make((PyTypeObject *)c->info, given, NULL) : NULL;
    Py_XDECREF(both);
    Py_XDECREF(given);
    return info;
}

/* The arguments behind the first n by their names; NULL where they were not given. Others than these names: an exception. */
static bool named(PyObject *const *args, Py_ssize_t n, PyObject *names, const char *const *known, PyObject **found, int n_known) {
    for (int k = 0; k < n_known; k++) found[k] = NULL;
    for (Py_ssize_t i = 0, n_names = names ? PyTuple_Size(names) : 0; i < n_names; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        int k = 0;
        while (k < n_known && PyUnicode_CompareWithASCIIString(name, known[k])) k++;
        if (k == n_known) return PyErr_Format(PyExc_TypeError, "an unexpected argument %R", name), false;
        found[k] = args[n + i];
    }
    return true;
}

/* lexeme(expr, name, *, where=None, lazy=False, skip=False, unique=False, repeated=False) */
static PyObject *collected_lexeme(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    static const char *const known[] = {"where", "lazy", "skip", "unique", "repeated"};
    static const long marks_of[] = {0, 1, 2, 4, 64}; /* grammar_engine/ir.py */
    collected *c = OF(self);
    PyObject *of[5];
    if (n != 2) return PyErr_Format(PyExc_TypeError, "a lexeme has an expression and a name");
    if (!named(args, n, names, known, of, 5)) return NULL;
    if (!c->lexemes || !c->lexeme_records || !c->lexeme_ids) return never_begun();
    long marks = 0;
    for (int i = 1; i < 5; i++) {
        int is_set = of[i] ? PyObject_IsTrue(of[i]) : 0;
        if (is_set < 0) return NULL;
        marks |= is_set ? marks_of[i] : 0;
    }
    PyObject *where = of[0] ? of[0] : Py_None, *flags = PyLong_FromLong(marks),
             *key = flags ? PyTuple_Pack(3, args[0], flags, where) : NULL;
    PyObject *symbol = key ? PyDict_GetItemWithError(c->lexeme_ids, key) : NULL;
    Py_XINCREF(symbol);
    if (!symbol && key && !PyErr_Occurred()) {
        PyObject *info = info_of(c, args[1], where), *record = PyTuple_Pack(2, args[0], flags);
        Py_ssize_t n_lexemes = info && record ? PyList_Size(c->lexemes) : -1;
        symbol = n_lexemes >= 0 ? PyLong_FromSsize_t(2 * n_lexemes) : NULL;
        bool ok = symbol && PyDict_SetItem(c->lexeme_ids, key, symbol) == 0 && PyList_Append(c->lexemes, info) == 0 &&
                  extend(c->lexeme_records, record);
        if (!ok) Py_CLEAR(symbol);
        Py_XDECREF(info);
        Py_XDECREF(record);
    }
    Py_XDECREF(flags);
    Py_XDECREF(key);
    return symbol;
}

/* nonterminal(name, *, where=None) */
static PyObject *collected_nonterminal(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    static const char *const known[] = {"where"};
    collected *c = OF(self);
    PyObject *where;
    if (n != 1) return PyErr_Format(PyExc_TypeError, "a nonterminal has a name");
    if (!named(args, n, names, known, &where, 1)) return NULL;
    if (!c->nonterminals) return never_begun();
    PyObject *info = info_of(c, args[0], where ? where : Py_None);
    Py_ssize_t n_nonterminals = info ? PyList_Size(c->nonterminals) : -1;
    bool ok = n_nonterminals >= 0 && PyList_Append(c->nonterminals, info) == 0;
    Py_XDECREF(info);
    return ok ? PyLong_FromSsize_t(2 * n_nonterminals + 1) : NULL;
}

/* rule(left, right) */
static PyObject *collected_rule(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    PyObject *to = OF(self)->rule_records;
    if (n != 2) return PyErr_Format(PyExc_TypeError, "a rule has a left side and a right side");
    if (!to) return never_begun();
    int64_t left = PyLong_AsLongLong(args[0]);
    Py_ssize_t size = left == -1 && PyErr_Occurred() ? -1 : PySequence_Size(args[1]);
    PyObject *head = size < 0 ? NULL : numbers(2, (int64_t[]){left >> 1, size});
    bool ok = head && extend(to, head) && extend(to, args[1]);
    Py_XDECREF(head);
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* A number in 0 .. 2**32 - 2 or, for None, 2**32 - 1; -1: neither, or an exception. */
static int64_t bound_of(PyObject *number) {
    if (number == Py_None) return UINT32_MAX;
    int64_t bound = PyLong_Check(number) ? PyLong_AsLongLong(number) : -1;
    if (bound == -1 && PyErr_Occurred()) PyErr_Clear(); /* it is far too large */
    return bound < UINT32_MAX ? bound : -1;
}

/* [low, high, how many slots it asks for, these] */
static bool put_slot(PyObject *to, PyObject *slot, PyObject *asks, Py_ssize_t number) {
    PyObject *low = PyTuple_Check(slot) && PyTuple_Size(slot) == 2 ? PyTuple_GetItem(slot, 0) : NULL,
             *high = low ? PyTuple_GetItem(slot, 1) : NULL;
    int64_t least = low && low != Py_None ? bound_of(low) : -1, most = high ? bound_of(high) : -1;
    if (!low) return PyErr_Format(PyExc_TypeError, "a slot of a bag has two bounds, not %R", slot), false;
    if (least < 0 || most < least || most == 0)
        return PyErr_Format(PyExc_ValueError, "a slot that is raised %R to %R times", low, high), false;
    PyObject *key = asks == Py_None ? NULL : PyLong_FromSsize_t(number), *asked = key ? PyDict_GetItemWithError(asks, key) : NULL;
    Py_XDECREF(key);
    Py_ssize_t n_asked = asked ? PySequence_Size(asked) : PyErr_Occurred() ? -1 : 0;
    PyObject *head = n_asked < 0 ? NULL : numbers(3, (int64_t[]){least, most, n_asked});
    bool ok = head && extend(to, head) && (!asked || extend(to, asked));
    Py_XDECREF(head);
    return ok;
}

/* [distinct, rank, how many symbols, how many slots, the symbols, the slots] */
static bool put_way(PyObject *to, PyObject *way) {
    PyObject *of[4] = {NULL};
    for (int i = 0; i < 4 && PyTuple_Check(way) && PyTuple_Size(way) == 4; i++) of[i] = PyTuple_GetItem(way, i);
    if (!of[3]) return PyErr_Format(PyExc_TypeError, "a way of a bag is a Way, not %R", way), false;
    Py_ssize_t n_symbols = PySequence_Size(of[0]), n_slots = PySequence_Size(of[1]);
    int64_t rank = PyLong_AsLongLong(of[2]), distinct = PyObject_IsTrue(of[3]);
    PyObject *head = n_symbols < 0 || n_slots < 0 || PyErr_Occurred() ? NULL : numbers(4, (int64_t[]){distinct, rank, n_symbols, n_slots});
    bool ok = head && extend(to, head) && extend(to, of[0]) && extend(to, of[1]);
    Py_XDECREF(head);
    return ok;
}

/* [slot, how many sets, for each: how many slots, these] */
static bool put_choice(PyObject *to, PyObject *choice) {
    PyObject *slot = PyTuple_Check(choice) && PyTuple_Size(choice) == 2 ? PyTuple_GetItem(choice, 0) : NULL,
             *sets = slot ? PyTuple_GetItem(choice, 1) : NULL;
    Py_ssize_t n_sets = sets && PyList_Check(sets) ? PyList_Size(sets) : -1;
    if (n_sets < 0) return PyErr_Format(PyExc_TypeError, "a choice of a bag is a slot or None, and a list of sets, not %R", choice), false;
    int64_t number = bound_of(slot);
    if (number < 0) return PyErr_Format(PyExc_ValueError, "a choice of slot %R", slot), false;
    PyObject *head = numbers(2, (int64_t[]){number, n_sets});
    bool ok = head && extend(to, head);
    Py_XDECREF(head);
    for (Py_ssize_t i = 0; ok && i < n_sets; i++) {
        PyObject *set = PyList_GetItem(sets, i);
        Py_ssize_t n = PySequence_Size(set);
        head = n < 0 ? NULL : numbers(1, (int64_t[]){n});
        ok = head && extend(to, head) && extend(to, set);
        Py_XDECREF(head);
    }
    return ok;
}

/* _put_bag(nonterminal, separator, ranked, slots, ways, asks or None, choices): lists, and a dict */
static PyObject *collected_put_bag(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    PyObject *to = OF(self)->bag_records;
    if (n == 7 && !to) return never_begun();
    Py_ssize_t n_slots = n == 7 ? PyList_Size(args[3]) : -1, n_ways = n_slots < 0 ? -1 : PyList_Size(args[4]),
               n_choices = n_ways < 0 ? -1 : PyList_Size(args[6]);
    if (n != 7)
        return PyErr_Format(PyExc_TypeError, "_put_bag takes a nonterminal, a separator, ranked, slots, ways, what they ask for, choices");
    int64_t left = n_choices < 0 ? -1 : PyLong_AsLongLong(args[0]), separator = PyErr_Occurred() ? -1 : PyLong_AsLongLong(args[1]);
    int ranked = PyErr_Occurred() ? -1 : PyObject_IsTrue(args[2]);
    PyObject *head = ranked < 0 ? NULL : numbers(6, (int64_t[]){left, separator, ranked, n_slots, n_ways, n_choices});
    bool ok = head && extend(to, head);
    for (Py_ssize_t i = 0; ok && i < n_slots; i++) ok = put_slot(to, PyList_GetItem(args[3], i), args[5], i);
    for (Py_ssize_t i = 0; ok && i < n_ways; i++) ok = put_way(to, PyList_GetItem(args[4], i));
    for (Py_ssize_t i = 0; ok && i < n_choices; i++) ok = put_choice(to, PyList_GetItem(args[6], i));
    Py_XDECREF(head);
    return ok ? Py_NewRef(Py_None) : NULL;
}

#define COLLECTED(name, function, flags, parameters)                                                                                       \
    {name, (PyCFunction)(void (*)(void))function, flags, name "($self" parameters ")\n--\n\n"}

static PyMethodDef collected_methods[] = {
    COLLECTED("_node", collected_node, METH_VARARGS, ", *record"),
    COLLECTED("_span", collected_span, METH_O, ", content, /"),
    COLLECTED("bytes", collected_bytes, METH_O, ", literal, /"),
    COLLECTED("string", collected_string, METH_O, ", literal, /"),
    COLLECTED("concat", collected_concat, METH_FASTCALL, ", *parts"),
    COLLECTED("lexeme", collected_lexeme, METH_FASTCALL | METH_KEYWORDS,
              ", expr, name, /, *, where=None, lazy=False, skip=False, unique=False, repeated=False"),
    COLLECTED("nonterminal", collected_nonterminal, METH_FASTCALL | METH_KEYWORDS, ", name, /, *, where=None"),
    COLLECTED("rule", collected_rule, METH_FASTCALL, ", left, right, /"),
    COLLECTED("_put_bag", collected_put_bag, METH_FASTCALL, ", left, separator, ranked, slots, ways, asks, choices, /"),
    {NULL, NULL, 0, NULL},
};

#undef COLLECTED

#define MEMBER(name, field) {name, T_OBJECT_EX, offsetof(collected, field), 0, NULL}

static PyMemberDef collected_members[] = {
    MEMBER("_ids", ids),
    MEMBER("_latest", latest),
    MEMBER("fragments", fragments),
    MEMBER("_spans", spans),
    MEMBER("data", data),
    MEMBER("lexemes", lexemes),
    MEMBER("lexeme_records", lexeme_records),
    MEMBER("_lexeme_ids", lexeme_ids),
    MEMBER("nonterminals", nonterminals),
    MEMBER("rule_records", rule_records),
    MEMBER("bag_records", bag_records),
    MEMBER("_info", info),
    {NULL, 0, 0, 0, NULL},
};

#undef MEMBER

/* The i-th member that refers to an object; NULL: there are no more. */
static PyObject **member_at(PyObject *self, int i) {
    collected *c = OF(self);
    PyObject **all[] = {&c->ids,     &c->latest,         &c->fragments,  &c->spans,        &c->data,         &c->lexemes,
                        &c->info,    &c->lexeme_records, &c->lexeme_ids, &c->nonterminals, &c->rule_records,
                        &c->bag_records};
    return i < (int)(sizeof all / sizeof *all) ? all[i] : NULL;
}

static int collected_clear(PyObject *self) {
    PyObject **member;
    for (int i = 0; (member = member_at(self, i)); i++) Py_CLEAR(*member);
    return 0;
}

static int collected_traverse(PyObject *self, visitproc visit, void *arg) {
    PyObject **member;
    for (int i = 0; (member = member_at(self, i)); i++) Py_VISIT(*member);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static void collected_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    (void)collected_clear(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyType_Slot collected_slots[] = {{Py_tp_doc, (void *)"What a builder has collected, and the methods that add to it most often."},
                                        {Py_tp_methods, collected_methods},
                                        {Py_tp_members, collected_members},
                                        {Py_tp_traverse, (void *)collected_traverse},
                                        {Py_tp_clear, (void *)collected_clear},
                                        {Py_tp_dealloc, (void *)collected_dealloc},
                                        {0, NULL}};
static PyType_Spec collected_spec = {"grammar_engine._core.Collected", sizeof(collected), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, collected_slots};

PyObject *collected_make(void) { return PyType_FromSpec(&collected_spec); }
