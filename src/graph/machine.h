/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - one run of a program: frames of functions that have been called, and gradients being taken. */
#ifndef SPORE_MACHINE_H
#define SPORE_MACHINE_H

#include "graph/program.h"

/* A gradient being taken: made by a GRAD node, finished when the function it called returns. */
typedef struct sp_tape sp_tape;

typedef struct sp_frame {
    const sp_code *code;
    int at;             /* next instruction */
    int base;           /* its first slot on the stack of items */
    const sp_instr *to; /* instruction of the frame below that receives the results; NULL: the program's own */
    sp_tape *tape;      /* differentiate the results before they are handed on */
} sp_frame;

typedef struct sp_machine {
    sp_program *program;
    sp_frame *frames;
    int n_frames, frames_capacity;
    sp_slot_value *items;
    int n_items, items_capacity;
    sp_slot_value *results; /* of the program, once it has returned */
    int n_results;
    sp_tape *tape;  /* innermost */
    unsigned turns; /* since the machine last asked whether to stop */
} sp_machine;

sp_slot_value sp__item_retain(sp_slot_value x);
void sp__item_release(sp_slot_value x);

/* GRAD: start recording, take copies of the arguments to differentiate by. args are changed in place; the tape is pushed. */
sp_status sp__tape_begin(sp_machine *m, const sp_node *node, int n_args, sp_slot_value *args, int n_seeds,
                         const sp_slot_value *seeds, sp_tape **out);
/* The function has returned: out receives its results and the gradients (n_out of the node), all owned. */
sp_status sp__tape_end(sp_machine *m, sp_tape *tape, int n_results, const sp_slot_value *results, sp_slot_value *out);
/* Stop recording and free it; for error paths too. */
void sp__tape_drop(sp_machine *m, sp_tape *tape);
/* The handle that stands for a variable while gradients are taken with respect to it, else the variable's own. Borrowed. */
sp_tensor *sp__tape_variable(const sp_machine *m, const sp_variable *v);

#endif
