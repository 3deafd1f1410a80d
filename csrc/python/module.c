/* The extension module grammar_engine._core: `ffi` and `lib` of the glue that cffi generates, and the types of this folder. */
#include "held.h"

#define PyInit__core PyInit__core_glue
#include "../_core.c"
#undef PyInit__core

#include "held.c"
#include "record.c"
#include "masks.c"
#include "calls.c"
#include "batch.c"
#include "collected.c"

static PyObject *any_pointer; /* the ctype void * */

void *held_address(PyObject *cdata) { return _cffi_to_c_pointer(cdata, (struct _cffi_ctypedescr *)any_pointer); }

PyObject *held_pointer(void *address) { return _cffi_from_c_pointer(address, (struct _cffi_ctypedescr *)any_pointer); }

static PyMethodDef functions[] = {{"fast_guide", fast_guide, METH_O, NULL},
                                  {"fast_matcher", fast_matcher, METH_O, NULL},
                                  {"fast_row_mask", fast_row_mask, METH_O, NULL},
                                  {"fast_text", fast_text, METH_O, NULL},
                                  {"know_arrays", know_arrays, METH_O, NULL},
                                  {"run_batch", (PyCFunction)(void (*)(void))run_batch, METH_FASTCALL, NULL},
                                  {NULL, NULL, 0, NULL}};

static bool add_types(PyObject *module) {
    PyObject *ffi = PyObject_GetAttrString(module, "ffi"), *held_class = held_make(), *record_class = record_make();
    PyObject *collected_class = collected_make();
    if (ffi) any_pointer = PyObject_CallMethod(ffi, "typeof", "s", "void *");
    bool ok = any_pointer && held_class && record_class && PyModule_AddObjectRef(module, "Held", held_class) == 0;
    ok = ok && collected_class && PyModule_AddObjectRef(module, "Record", record_class) == 0;
    ok = ok && PyModule_AddObjectRef(module, "Collected", collected_class) == 0;
    Py_XDECREF(ffi);
    Py_XDECREF(held_class);
    Py_XDECREF(record_class);
    Py_XDECREF(collected_class);
    return ok && PyModule_AddFunctions(module, functions) == 0;
}

PyMODINIT_FUNC PyInit__core(void) {
    PyObject *module = PyInit__core_glue();
    if (module && !add_types(module)) Py_CLEAR(module);
    return module;
}
