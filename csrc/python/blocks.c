/* Blocks: what a prefix cache does for each block of tokens, for many at a time. Both functions say None or False where something is not of the usual
 * kind, and the caller does it in Python; blocks may be written in part then. */
#include "held.h"

enum { LARGEST_BLOCK = 4096, OF_THE_INTERPRETER = 8 }; /* bytes of the tokens of a block; of a hash */

/* --- keys ------------------------------------------------------------------------------------------------------------------- */

/* The interpreter's hash of `n` bytes, its `digest_size` lower bytes, the least first; NULL: an exception. */
static PyObject *key_of(const char *text, Py_ssize_t n, Py_ssize_t digest_size) {
    PyObject *bytes = PyBytes_FromStringAndSize(text, n);
    if (!bytes) return NULL;
    uint64_t hash = (uint64_t)PyObject_Hash(bytes);
    Py_DECREF(bytes);
    char key[OF_THE_INTERPRETER];
    for (Py_ssize_t i = 0; i < OF_THE_INTERPRETER; i++) key[i] = (char)(hash >> 8 * i);
    return PyBytes_FromStringAndSize(key, digest_size);
}

PyObject *chain_keys(PyObject *module, PyObject *const *args, Py_ssize_t n_args) {
    (void)module;
    char *before, *ids;
    Py_ssize_t n_before, n_ids;
    if (n_args != 4 || PyBytes_AsStringAndSize(args[0], &before, &n_before) < 0 || PyBytes_AsStringAndSize(args[1], &ids, &n_ids) < 0)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "chain_keys takes a key, ids, the bytes of a block, and those of a key");
    Py_ssize_t size = PyLong_AsSsize_t(args[2]), digest_size = PyLong_AsSsize_t(args[3]);
    if (PyErr_Occurred()) return NULL;
    if (n_before > OF_THE_INTERPRETER || size < 1 || size > LARGEST_BLOCK || digest_size < 1 || digest_size > OF_THE_INTERPRETER)
        Py_RETURN_NONE;
    char text[OF_THE_INTERPRETER + LARGEST_BLOCK];
    memcpy(text, before, (size_t)n_before);
    PyObject *keys = PyList_New(0);
    for (Py_ssize_t start = 0; keys && start < n_ids; start += size) {
        Py_ssize_t length = n_ids - start < size ? n_ids - start : size;
        memcpy(text + n_before, ids + start, (size_t)length);
        PyObject *key = key_of(text, n_before + length, digest_size);
        if (!key || PyList_Append(keys, key) < 0) Py_CLEAR(keys);
        else memcpy(text, PyBytes_AsString(key), (size_t)(n_before = digest_size));
        Py_XDECREF(key);
    }
    return keys;
}

/* --- keys and values -------------------------------------------------------------------------------------------------------- */

/* Copies those of `block`, (n_arrays, batch, heads, positions, dim) in order, out of the array of that place, (batch, heads, length, dim). */
static bool cut_one(const array_interface *array, const array_interface *block, Py_ssize_t place, Py_ssize_t first) {
    if (array->n_dimensions != 4 || array->item_size != block->item_size || !(array->flags & ALIGNED) || array->strides[3] != array->item_size) return false;
    const Py_ssize_t *to = block->shape + 1, *from = array->shape;
    if (to[0] != from[0] || to[1] != from[1] || to[3] != from[3] || to[2] > from[2] || first > from[2] - to[2]) return false;
    size_t position = (size_t)(to[3] * block->item_size), row = position * (size_t)to[2];
    char *out = (char *)block->data + (size_t)(place * to[0] * to[1]) * row;
    for (Py_ssize_t batch = 0; batch < to[0]; batch++)
        for (Py_ssize_t head = 0; head < to[1]; head++, out += row) {
            const char *in = (const char *)array->data + batch * array->strides[0] + head * array->strides[1] + first * array->strides[2];
            if (array->strides[2] == (Py_ssize_t)position) memcpy(out, in, row);
            else
                for (Py_ssize_t i = 0; i < to[2]; i++) memcpy(out + (size_t)i * position, in + i * array->strides[2], position);
        }
    return true;
}

/* All blocks out of one array: the positions from `first` on. */
static bool cut_array(PyObject *array, PyObject *blocks, Py_ssize_t place, Py_ssize_t n_arrays, Py_ssize_t first) {
    PyObject *capsule, *to_capsule;
    const array_interface *from = interface_of(array, &capsule);
    bool ok = from != NULL;
    for (Py_ssize_t i = 0; ok && i < PyList_Size(blocks); i++) {
        const array_interface *to = interface_of(PyList_GetItem(blocks, i), &to_capsule);
        int needed = CONTIGUOUS | ALIGNED | WRITEABLE;
        ok = to && to->n_dimensions == 5 && (to->flags & needed) == needed && to->shape[0] == n_arrays && cut_one(from, to, place, first);
        if (ok) first += to->shape[3];
        Py_XDECREF(to_capsule);
    }
    Py_XDECREF(capsule);
    return ok;
}

PyObject *cut_positions(PyObject *module, PyObject *const *args, Py_ssize_t n_args) {
    (void)module;
    if (n_args != 3 || !PyList_CheckExact(args[0]) || !PyList_CheckExact(args[1]))
        return PyErr_Format(PyExc_TypeError, "cut_positions takes a list of arrays, a list of blocks, and the first position");
    Py_ssize_t first = PyLong_AsSsize_t(args[2]), n_arrays = PyList_Size(args[0]);
    if (PyErr_Occurred()) return NULL;
    bool ok = first >= 0;
    for (Py_ssize_t i = 0; ok && i < n_arrays; i++) ok = cut_array(PyList_GetItem(args[0], i), args[1], i, n_arrays, first);
    return PyBool_FromLong(ok);
}
