/* Masks: what memory of the caller a mask may be written to, or applied to, here.
 *
 * A MaskBuffer was checked when it was made. An array of numpy is looked at each time, by the fields that each extension compiled against
 * numpy reads as well. That they are where they are said to be is seen once, on arrays that are made for it, by the array interface. What
 * they do not tell beyond doubt to be rows of words is not taken, and the method in Python then says why. */
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

typedef struct array_fields { /* the beginning of an array, in numpy's C ABI */
    PyObject_HEAD
    void *data;
    int n_dimensions;
    Py_ssize_t *shape, *strides;
    PyObject *base, *descr;
    int flags;
} array_fields;

enum { CONTIGUOUS = 0x1, ALIGNED = 0x100, WRITEABLE = 0x400, USUAL = CONTIGUOUS | ALIGNED | WRITEABLE };
enum { FLOAT32, INT32, UINT32, N_KINDS };

static PyObject *array_type;        /* numpy.ndarray, from when one was first met */
/* numpy's own, of which there is one each; of other byte orders there are others. NULL: not as expected */
static PyObject *descr_of[N_KINDS];

static bool fits(Py_ssize_t n) { return n > 0 && (uint64_t)n <= UINT32_MAX; }

/* An array of one of the kinds, in order; else NULL. */
static inline const array_fields *look_at(PyObject *array, int first, int last) {
    const array_fields *a = (const array_fields *)array;
    if ((PyObject *)Py_TYPE(array) != array_type || (a->flags & USUAL) != USUAL) return NULL;
    return a->descr == descr_of[first] || a->descr == descr_of[last] ? a : NULL;
}

static bool of_array(PyObject *array, masks *out) {
    const array_fields *a = look_at(array, INT32, UINT32);
    bool ok = a && (a->n_dimensions == 1 || (a->n_dimensions == 2 && fits(a->shape[0]))) && fits(a->shape[a->n_dimensions - 1]);
    if (ok) *out = (masks){a->data, (uint32_t)a->shape[a->n_dimensions - 1], a->n_dimensions == 2 ? (uint32_t)a->shape[0] : 1};
    return ok;
}

GE_HOT bool scores_of(PyObject *object, scores *out) {
    const array_fields *a = look_at(object, FLOAT32, FLOAT32);
    bool ok = a && a->n_dimensions == 1 && a->shape[0] > 0;
    if (ok) *out = (scores){a->data, (size_t)a->shape[0]};
    return ok;
}

bool masks_of(PyObject *object, masks *out) {
    if ((PyObject *)Py_TYPE(object) == array_type) return of_array(object, out);
    if (!held_is(object)) return false;
    *out = ((const held *)object)->of;
    return out->rows > 0;
}

/* The descr of a new array of a kind, if its fields say what its interface says; else NULL. */
static PyObject *descr_by_probe(PyObject *type, const char *kind) {
    PyObject *array = PyObject_CallFunction(type, "(ii)s", 3, 5, kind), *descr = array ? PyObject_GetAttrString(array, "dtype") : NULL;
    PyObject *capsule = descr ? PyObject_GetAttrString(array, "__array_struct__") : NULL;
    const array_interface *told = capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
    const array_fields *a = (const array_fields *)array;
    bool ok = told && told->two == 2 && told->item_size == 4 && told->kind == kind[0] && (told->flags & USUAL) == USUAL &&
              a->data == told->data && a->n_dimensions == 2 && a->shape[0] == 3 && a->shape[1] == 5 && a->strides[0] == 20 &&
              a->strides[1] == 4 && a->descr == descr && (a->flags & USUAL) == USUAL;
    Py_XDECREF(capsule);
    if (!ok) Py_CLEAR(descr);
    Py_XDECREF(array);
    return descr;
}

PyObject *know_arrays(PyObject *module, PyObject *type) {
    static const char *const kinds[] = {"f4", "i4", "u4"};
    (void)module;
    if (array_type == type) Py_RETURN_NONE;
    array_type = NULL;
    for (int i = 0; i < N_KINDS; i++) {
        PyObject *before = descr_of[i];
        descr_of[i] = descr_by_probe(type, kinds[i]);
        PyErr_Clear();
        Py_XDECREF(before);
    }
    array_type = Py_NewRef(type); /* for good: `Py_TYPE` of an array is compared with it at any time */
    Py_RETURN_NONE;
}
