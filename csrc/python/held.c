/* Held: base of the Python classes that own an object of the core and whose calls are worth the trouble. */
#include "held.h"

#include <structmember.h>

static PyTypeObject *held_type;

/* _hold(cdata or Record, words, rows=0, keeps=None): from now on; what was held before is let go. */
static PyObject *held_hold(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    held *h = (held *)self;
    if (n < 2 || n > 4) return PyErr_Format(PyExc_TypeError, "_hold takes a cdata, words, rows, and what else to keep");
    PyObject *before = h->owner, *kept_before = h->keeps;
    void *own = record_address(args[0]);
    masks of = {own ? own : held_address(args[0]), (uint32_t)PyLong_AsUnsignedLong(args[1]),
                n > 2 ? (uint32_t)PyLong_AsUnsignedLong(args[2]) : 0};
    if (PyErr_Occurred()) return NULL;
    h->of = of;
    h->owner = Py_NewRef(args[0]);
    h->keeps = n > 3 ? Py_NewRef(args[3]) : NULL;
    Py_XDECREF(before);
    Py_XDECREF(kept_before);
    Py_RETURN_NONE;
}

static int held_clear(PyObject *self) {
    held *h = (held *)self;
    h->of = (masks){NULL, 0, 0};
    Py_CLEAR(h->owner);
    Py_CLEAR(h->keeps);
    return 0;
}

static int held_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((held *)self)->owner);
    Py_VISIT(((held *)self)->keeps);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static void held_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    (void)held_clear(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMethodDef held_methods[] = {{"_hold", (PyCFunction)(void (*)(void))held_hold, METH_FASTCALL, NULL}, {NULL, NULL, 0, NULL}};
static PyMemberDef held_members[] = {{"_handle", T_OBJECT_EX, offsetof(held, owner), READONLY, NULL},
                                     {"_keeps", T_OBJECT_EX, offsetof(held, keeps), READONLY, NULL},
                                     {NULL, 0, 0, 0, NULL}};
static PyType_Slot held_slots[] = {{Py_tp_doc, (void *)"What the core made, by its address, and the object that owns it."},
                                   {Py_tp_methods, held_methods},
                                   {Py_tp_members, held_members},
                                   {Py_tp_traverse, (void *)held_traverse},
                                   {Py_tp_clear, (void *)held_clear},
                                   {Py_tp_dealloc, (void *)held_dealloc},
                                   {0, NULL}};
static PyType_Spec held_spec = {"grammar_engine._core.Held", sizeof(held), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, held_slots};

bool held_is(PyObject *object) { return PyObject_TypeCheck(object, held_type); }

bool held_is_base_of(PyObject *class) { return PyType_Check(class) && PyType_IsSubtype((PyTypeObject *)class, held_type); }

PyObject *held_make(void) {
    PyObject *type = PyType_FromSpec(&held_spec);
    held_type = (PyTypeObject *)type;
    return type;
}
