/* Masks: what memory of the caller a mask may be written to, or applied to, here.
 *
 * A MaskBuffer was checked when it was made. An array of numpy is looked at each time, by its `__array_struct__`: the array interface, which tells all in
 * one capsule. What it does not tell beyond doubt to be rows of words is not taken, and the method in Python then says why. */
#include "held.h"

typedef struct array_interface { /* of numpy's array interface protocol, version 3 */
    int two;
    int n_dimensions;
    char kind;
    int item_size;
    int flags;
    Py_ssize_t *shape, *strides;
    void *data;
    PyObject *descr;
} array_interface;

enum { CONTIGUOUS = 0x1, ALIGNED = 0x100, NATIVE = 0x200, WRITEABLE = 0x400, USUAL = CONTIGUOUS | ALIGNED | NATIVE | WRITEABLE };

static PyObject *array_type; /* numpy.ndarray, from when one was first met */
static PyObject *interface;  /* "__array_struct__" */

static bool fits(Py_ssize_t n) { return n > 0 && (uint64_t)n <= UINT32_MAX; }

/* What is known of an array of numpy, if its items are such, of four bytes, in order. The capsule is to be let go. */
GE_HOT static const array_interface *look_at(PyObject *array, const char *kinds, PyObject **capsule) {
    *capsule = PyObject_GetAttr(array, interface);
    const array_interface *a = *capsule ? PyCapsule_GetPointer(*capsule, NULL) : NULL;
    PyErr_Clear();
    return a && a->two == 2 && a->kind && strchr(kinds, a->kind) && a->item_size == 4 && (a->flags & USUAL) == USUAL ? a : NULL;
}

static bool of_array(PyObject *array, masks *out) {
    PyObject *capsule;
    const array_interface *a = look_at(array, "iu", &capsule);
    bool ok = a && (a->n_dimensions == 1 || (a->n_dimensions == 2 && fits(a->shape[0]))) && fits(a->shape[a->n_dimensions - 1]);
    if (ok) *out = (masks){a->data, (uint32_t)a->shape[a->n_dimensions - 1], a->n_dimensions == 2 ? (uint32_t)a->shape[0] : 1};
    Py_XDECREF(capsule);
    return ok;
}

GE_HOT bool scores_of(PyObject *object, scores *out) {
    if ((PyObject *)Py_TYPE(object) != array_type) return false;
    PyObject *capsule;
    const array_interface *a = look_at(object, "f", &capsule);
    bool ok = a && a->n_dimensions == 1 && a->shape[0] > 0;
    if (ok) *out = (scores){a->data, (size_t)a->shape[0]};
    Py_XDECREF(capsule);
    return ok;
}

bool masks_of(PyObject *object, masks *out) {
    if ((PyObject *)Py_TYPE(object) == array_type) return of_array(object, out);
    if (!held_is(object)) return false;
    *out = ((const held *)object)->of;
    return out->rows > 0;
}

PyObject *know_arrays(PyObject *module, PyObject *type) {
    PyObject *before = array_type;
    (void)module;
    if (!interface) interface = PyUnicode_InternFromString("__array_struct__");
    if (!interface) return NULL;
    array_type = Py_NewRef(type);
    Py_XDECREF(before);
    Py_RETURN_NONE;
}
