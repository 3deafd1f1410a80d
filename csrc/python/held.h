/* held: the border to CPython beside that of cffi.
 *
 * Idea. A call through cffi takes longer than a warm mask: a method in Python looks at its arguments, a tuple is made of them, and the GIL
 * is given away and taken back. So the few methods that are called for each token are done here, where their arguments are the usual ones
 * and their work is known to be short, or gives the GIL away. Everything else goes on to the method in Python, which is complete by itself.
 *
 *     Held          held.c    what the core made, by its address, and the Python object that owns it; record.c: one of these
 *       ^
 *     Guide         Python    all methods, arguments, errors; the documentation
 *       ^
 *     Guide         calls.c   the same, with some methods overridden; masks.c: where they may write to
 *
 * Invariants. What is done here with the GIL waits for no lock, and takes no longer than to write a mask. A mask that is not kept is
 * computed without the GIL, into a MaskBuffer only; and a text of a decoding loop lets go of it where it needs the lock. An address is that
 * of a living object, since it changes together with its owner, and with what that refers to.
 *
 * In the limited API of Python 3.10. Like cffi's modules these types are made once for
 * a process: where it has several interpreters, the others keep the classes in Python. */
#ifndef GE_HELD_H
#define GE_HELD_H

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030a0000
#endif
#include <Python.h>
#include <stdbool.h>

#include "../ge.h"

typedef struct masks { /* rows of words, side by side */
    void *at;
    uint32_t words; /* of each */
    uint32_t rows;  /* 0: no masks, or not known without another look */
} masks;

typedef struct held {
    PyObject_HEAD
    PyObject *owner; /* a cdata, or a Record */
    PyObject *keeps; /* what the owner refers to and does not own; or NULL */
    masks of;        /* what it points to. Masks, or an object of the core; and then `words` are those of its masks. at == NULL: nothing */
} held;

PyObject *held_make(void); /* the type */
bool held_is(PyObject *object);
bool held_is_base_of(PyObject *class);
void *held_address(PyObject *cdata); /* what a cdata points to. NULL: that, or an exception */
PyObject *held_pointer(void *address); /* a cdata that points there, and owns nothing */

PyObject *record_make(void);             /* the type */
void *record_address(PyObject *object); /* the memory of a Record; NULL: it is none */

PyObject *collected_make(void); /* the type */

/* The value of an int; -1 if it is negative or beyond int64_t, or no int. */
static inline int64_t int_of(PyObject *object) {
    int overflow;
    return PyLong_CheckExact(object) ? PyLong_AsLongLongAndOverflow(object, &overflow) : -1;
}

/* The memory for masks that an object is or holds; false: the method in Python has to look at it. Valid as long as the GIL is held. */
bool masks_of(PyObject *object, masks *out);
PyObject *know_arrays(PyObject *module, PyObject *type); /* know_arrays(numpy.ndarray): from now on these, too */

/* Whether an object is a row of float32 in memory, and may be written to; as for masks_of. */
typedef struct scores {
    float *at;
    size_t width;
} scores;
bool scores_of(PyObject *object, scores *out);

/* fast_guide(class), fast_matcher(class), ...: a class like that one, in which the methods of calls.c are overridden. */
PyObject *fast_guide(PyObject *module, PyObject *base);
PyObject *fast_matcher(PyObject *module, PyObject *base);
PyObject *fast_text(PyObject *module, PyObject *base);
PyObject *fast_row_mask(PyObject *module, PyObject *base);
bool matcher_is_fast(PyObject *object); /* of the class that fast_matcher made last */

/* run_batch(matchers, tokens or None, words, n_words, n_rows, rows or None): (accepted, needed, changed, failed or None), lists of bool.
 * None: something in it is not of the usual kind, and nothing was done. */
PyObject *run_batch(PyObject *module, PyObject *const *args, Py_ssize_t n);

#endif
