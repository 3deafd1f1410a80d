/* Record: memory for an object of the core that is made many times, and its Python object in one piece.
 *
 * A cdata of cffi costs 56 bytes beside what it holds; this one 16, and is cut to size by Python's own allocator. Whoever gives its address
 * to a call that lets go of the GIL keeps a reference to it meanwhile: the object that holds it may be given another one. */
#include "held.h"

typedef struct record {
    PyObject_HEAD
    uint64_t words[];
} record;

static PyTypeObject *record_type;

/* Record(n): n words, all 0. */
static PyObject *record_new(PyTypeObject *type, PyObject *args, PyObject *names) {
    Py_ssize_t n;
    if (names || !PyArg_ParseTuple(args, "n:Record", &n))
        return names ? PyErr_Format(PyExc_TypeError, "a Record takes a number of words") : NULL;
    if (n < 0 || (size_t)n > (PY_SSIZE_T_MAX - sizeof(record)) / sizeof(uint64_t)) return PyErr_NoMemory();
    void *memory = PyObject_Calloc(1, sizeof(record) + (size_t)n * sizeof(uint64_t));
    return memory ? PyObject_Init(memory, type) : PyErr_NoMemory();
}

static void record_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* Its address, as cffi passes it on. It keeps nothing. */
static PyObject *record_pointer(PyObject *self, void *unused) {
    (void)unused;
    return held_pointer(((record *)self)->words);
}

static PyGetSetDef record_questions[] = {{"pointer", record_pointer, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot record_slots[] = {{Py_tp_doc, (void *)"Memory for an object of the core."},
                                     {Py_tp_new, (void *)record_new},
                                     {Py_tp_dealloc, (void *)record_dealloc},
                                     {Py_tp_getset, record_questions},
                                     {0, NULL}};
static PyType_Spec record_spec = {"grammar_engine._core.Record", sizeof(record), 0, Py_TPFLAGS_DEFAULT, record_slots};

void *record_address(PyObject *object) { return Py_TYPE(object) == record_type ? ((record *)object)->words : NULL; }

PyObject *record_make(void) {
    PyObject *type = PyType_FromSpec(&record_spec);
    record_type = (PyTypeObject *)type;
    return type;
}
