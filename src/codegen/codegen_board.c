/* SPDX-License-Identifier: Apache-2.0 */
/* codegen_board.c - what surrounds the generated functions: targets, the test program, start-up code, linker script, Makefile.
 *
 * The test program runs each model on its vector and compares; its exit code is the number of results that differ. Boards have no operating
 * system to return to: the start-up code hands the code to the debugger (semihosting), which qemu plays. */
#include <stdio.h>

#include "base/plain.h"
#include "codegen/codegen.h"

#define ARM_TOOLS "arm-none-eabi-gcc"
#define MPS2(name) "qemu-system-arm -machine " name
const sp_codegen_machine sp__codegen_targets[] = {
    {"host", "this machine, or any with a C compiler and an operating system", "cc", "", NULL, NULL, 0, 0, 0, 0},
    {"cortex-m0", "ARMv6-M, no divide instruction, no floats", ARM_TOOLS, "-mcpu=cortex-m0 -mthumb -mfloat-abi=soft",
     MPS2("mps2-an385"), "arm", 0, 0x400000, 0x20000000, 0x400000},
    {"cortex-m3", "ARMv7-M, no floats", ARM_TOOLS, "-mcpu=cortex-m3 -mthumb -mfloat-abi=soft", MPS2("mps2-an385"),
     "arm", 0, 0x400000, 0x20000000, 0x400000},
    {"cortex-m4", "ARMv7E-M, float32", ARM_TOOLS, "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16",
     MPS2("mps2-an386"), "arm", 0, 0x400000, 0x20000000, 0x400000},
    {"cortex-m7", "ARMv7E-M, float32 and float64", ARM_TOOLS, "-mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-d16",
     MPS2("mps2-an500"), "arm", 0, 0x400000, 0x20000000, 0x400000},
    {"cortex-m55", "ARMv8.1-M with vectors", ARM_TOOLS, "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard", MPS2("mps3-an547"),
     "arm", 0, 0x80000, 0x20000000, 0x80000},
    {"rv32", "RISC-V of 32 bits, no floats", "riscv64-unknown-elf-gcc",
     "-march=rv32imac -mabi=ilp32 -mcmodel=medany --specs=picolibc.specs",
     "qemu-system-riscv32 -machine virt -bios none", "riscv", 0x80000000, 0x400000, 0x80400000, 0x400000},
    {"armhf", "Linux on ARM of 32 bits", "arm-linux-gnueabihf-gcc", "-static", "qemu-arm", NULL, 0, 0, 0, 0},
    {NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0},
};

/* --- the test program -------------------------------------------------------------------------------------------- */

static void put_vector(sp__text *t, const char *model, const char *what, int k, const sp_tensor *x)
{
    const char *type = sp__codegen_type((sp_dtype)x->dtype);
    sp__text_put(t, "static const %s %s_%s%d[%lld] = {", type, model, what, k, (long long)x->count);
    sp__codegen_array(t, x, (sp_dtype)x->dtype);
    sp__text_put(t, "\n};\n");
}

static const char compare_text[] =
    "\n#ifdef SPORE_BOARD\nvoid spore_say(const char *text); /* start.c */\n#else\n#include <stdio.h>\n"
    "static void spore_say(const char *text) { fputs(text, stdout); }\n#endif\n\n"
    "/* Bytes and other whole numbers must be equal; floats may differ in the order of a sum. */\n"
    "#define COMPARE(name, got, wanted, n, exact)                                             \\\n"
    "    do {                                                                                 \\\n"
    "        double most = 0.0, off = 0.0;                                                    \\\n"
    "        for (int i = 0; i < (n); i++) {                                                  \\\n"
    "            const double w = (double)(wanted)[i], d = (double)(got)[i] - w;              \\\n"
    "            most = w > most ? w : -w > most ? -w : most;                                 \\\n"
    "            off = d > off ? d : -d > off ? -d : d != d && w == w ? 1e30 : off;           \\\n"
    "        }                                                                                \\\n"
    "        const int bad = (exact) ? off != 0.0 : off > 1e-4 * most + 1e-6;                 \\\n"
    "        spore_say(bad ? name \": DIFFERENT\\n\" : name \": as expected\\n\");                 \\\n"
    "        failed += bad;                                                                   \\\n"
    "    } while (0)\n\n";

static void put_run(sp__text *t, const sp_codegen *g, const sp_codegen_vector *v, const char *result)
{
    sp__text_put(t, "    %s(", g->run);
    for (int i = 0; i < v->n_in; i++) sp__text_put(t, "%s%s_in%d", i == 0 ? "" : ", ", g->name, i);
    for (int i = 0; i < v->n_out; i++) sp__text_put(t, ", %s_got%d%s", g->name, i, result);
    sp__text_put(t, ");\n");
}

static void put_test(sp__text *t, const sp_codegen *g, const sp_codegen_vector *v)
{
    if (g->n_states > 0) sp__text_put(t, "    %s_reset();\n", g->shared != NULL ? g->shared->name : g->name);
    if (v->repeats > 0) sp__text_put(t, "    for (int i = 0; i < %d; i++)\n    ", v->repeats);
    put_run(t, g, v, v->repeats > 0 ? " + i" : "");
    for (int i = 0; i < v->n_out; i++)
        sp__text_put(t, "    COMPARE(\"%s output %d\", %s_got%d, %s_out%d, %lld, %d);\n", g->name, i, g->name, i,
                     g->name, i, (long long)v->out[i]->count, sp_dtype_kind((sp_dtype)v->out[i]->dtype) != 'f');
}

static sp_status write_main(const sp_codegen_project *p)
{
    sp__text t = {0};
    sp__text_put(
        &t,
        "/* Generated by spore codegen: runs each model on a vector and compares with what the engine computed. The exit code is the number of\n"
        " * results that differ. */\n#include <stdint.h>\n#include <math.h>\n\n");
    for (int k = 0; k < p->n_models; k++) sp__text_put(&t, "#include \"%s.h\"\n", p->models[k].name);
    sp__text_put(&t, "\n");
    for (int k = 0; k < p->n_models; k++) {
        const sp_codegen_vector *v = &p->vectors[k];
        for (int i = 0; i < v->n_in; i++) put_vector(&t, p->models[k].name, "in", i, v->in[i]);
        for (int i = 0; i < v->n_out; i++) put_vector(&t, p->models[k].name, "out", i, v->out[i]);
        for (int i = 0; i < v->n_out; i++)
            sp__text_put(&t, "static %s %s_got%d[%lld];\n", sp__codegen_type((sp_dtype)v->out[i]->dtype),
                         p->models[k].name, i, (long long)v->out[i]->count);
    }
    sp__text_put(&t, "%sint main(void)\n{\n    int failed = 0;\n", compare_text);
    for (int k = 0; k < p->n_models; k++) put_test(&t, &p->models[k], &p->vectors[k]);
    sp__text_put(&t, "    return failed;\n}\n");
    return sp__codegen_save(p, "main.c", &t);
}

/* --- boards ------------------------------------------------------------------------------------------------------ */

static const char start_common[] =
    "extern uint32_t spore_data_from[], spore_data[], spore_data_end[], spore_bss[], spore_bss_end[];\n"
    "int main(void);\n\n"
    "void spore_say(const char *text) { ask(4, text); } /* SYS_WRITE0 */\n\n"
    "static void finish(int code)\n"
    "{\n"
    "    const uintptr_t reason[2] = {0x20026, (uintptr_t)code}; /* the program has ended */\n"
    "    ask(0x20, reason); /* SYS_EXIT_EXTENDED */\n"
    "    for (;;) {\n    }\n"
    "}\n\n"
    "void spore_begin(void)\n"
    "{\n"
    "    uint32_t *from = spore_data_from;\n"
    "    for (uint32_t *to = spore_data; to < spore_data_end; to++) *to = *from++;\n"
    "    for (uint32_t *to = spore_bss; to < spore_bss_end; to++) *to = 0;\n"
    "    finish(main());\n"
    "}\n";

static const char start_arm[] =
    "static int ask(int what, const void *how)\n"
    "{\n"
    "    register int r0 __asm__(\"r0\") = what;\n"
    "    register const void *r1 __asm__(\"r1\") = how;\n"
    "    __asm__ volatile(\"bkpt 0xab\" : \"+r\"(r0) : \"r\"(r1) : \"memory\");\n"
    "    return r0;\n"
    "}\n\n"
    "void spore_reset(void);\n"
    "static void fault(void);\n"
    "extern uint32_t spore_stack[];\n"
    "__attribute__((section(\".vectors\"), used)) static const void *const vectors[16] = {\n"
    "    spore_stack, (const void *)spore_reset, (const void *)fault, (const void *)fault, (const void *)fault, (const void *)fault, (const void *)fault,\n"
    "};\n\n";

static const char start_arm_reset[] =
    "\nstatic void fault(void)\n"
    "{\n"
    "    spore_say(\"fault\\n\");\n"
    "    finish(255);\n"
    "}\n\n"
    "void spore_reset(void)\n"
    "{\n"
    "#if defined(__ARM_FP)\n"
    "    *(volatile uint32_t *)0xe000ed88 |= 0xfu << 20; /* the coprocessor of floats */\n"
    "    __asm__ volatile(\"dsb\\n isb\");\n"
    "#endif\n"
    "    spore_begin();\n"
    "}\n";

static const char start_riscv[] =
    "static int ask(int what, const void *how)\n"
    "{\n"
    "    register int a0 __asm__(\"a0\") = what;\n"
    "    register const void *a1 __asm__(\"a1\") = how;\n"
    "    __asm__ volatile(\".option push\\n .option norvc\\n .balign 16\\n slli x0, x0, 0x1f\\n ebreak\\n srai x0, x0, 7\\n .option pop\"\n"
    "                     : \"+r\"(a0) : \"r\"(a1) : \"memory\");\n"
    "    return a0;\n"
    "}\n\n"
    "__asm__(\".section .vectors, \\\"ax\\\"\\n .globl spore_reset\\n spore_reset:\\n la sp, spore_stack\\n j spore_begin\\n .text\");\n\n";

static sp_status write_start(const sp_codegen_project *p)
{
    const bool arm = strcmp(p->target->start, "arm") == 0;
    sp__text t = {0};
    sp__text_put(&t, "/* Generated by spore codegen: start-up code of %s with semihosting. */\n#include <stdint.h>\n\n",
                 p->target->name);
    sp__text_put(&t, "%s%s%s", arm ? start_arm : start_riscv, start_common, arm ? start_arm_reset : "");
    return sp__codegen_save(p, "start.c", &t);
}

static sp_status write_script(const sp_codegen_project *p)
{
    const sp_codegen_machine *m = p->target;
    sp__text t = {0};
    sp__text_put(
        &t,
        "/* Generated by spore codegen: memory of the machine that qemu plays for %s. */\nENTRY(spore_reset)\nMEMORY\n{\n"
        "    FLASH (rx) : ORIGIN = 0x%llx, LENGTH = 0x%llx\n    RAM (rwx) : ORIGIN = 0x%llx, LENGTH = 0x%llx\n}\n",
        m->name, m->flash, m->flash_bytes, m->ram, m->ram_bytes);
    sp__text_put(
        &t,
        "SECTIONS\n{\n    .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) *(.srodata*) . = ALIGN(8); } > FLASH\n"
        "    .ARM.exidx : { *(.ARM.exidx*) . = ALIGN(8); } > FLASH\n"
        "    spore_data_from = LOADADDR(.data);\n"
        "    .data : { spore_data = .; *(.data*) *(.sdata*) . = ALIGN(8); spore_data_end = .; } > RAM AT > FLASH\n"
        "    .bss (NOLOAD) : { spore_bss = .; *(.bss*) *(.sbss*) *(COMMON) . = ALIGN(8); spore_bss_end = .; } > RAM\n"
        "    spore_stack = ORIGIN(RAM) + LENGTH(RAM);\n}\n");
    return sp__codegen_save(p, "link.ld", &t);
}

static sp_status write_makefile(const sp_codegen_project *p)
{
    const sp_codegen_machine *m = p->target;
    sp__text t = {0};
    sp__text_put(
        &t,
        "# Generated by spore codegen for %s. `make run` tests the models; the exit code is the test.\nCC = %s\n"
        "CFLAGS = -std=c99 -O2 -ffp-contract=off -Wall -Wextra -Werror -ffunction-sections -fdata-sections %s%s\nSOURCES = main.c",
        m->name, m->compiler, m->flags, m->start != NULL ? " -DSPORE_BOARD" : "");
    for (int k = 0; k < p->n_models; k++) {
        if (p->n_models == 1) sp__text_put(&t, " %s.c weights.c", p->models[k].name);
        else sp__text_put(&t, " %s.c %s_weights.c", p->models[k].name, p->models[k].name);
    }
    if (p->n_models > 1) sp__text_put(&t, " arena.c");
    sp__text_put(
        &t,
        "\n\ntest.elf: $(SOURCES)%s *.h Makefile\n\t$(CC) $(CFLAGS) %s-Wl,--gc-sections -o $@ $(SOURCES)%s -lm\n\nrun: test.elf\n\t",
        m->start != NULL ? " start.c link.ld" : "", m->start != NULL ? "-nostartfiles -T link.ld " : "",
        m->start != NULL ? " start.c" : "");
    if (m->machine == NULL) sp__text_put(&t, "./test.elf\n");
    else if (m->start == NULL) sp__text_put(&t, "%s ./test.elf\n", m->machine);
    else
        sp__text_put(
            &t,
            "%s -display none -monitor none -serial none -semihosting-config enable=on,target=native -kernel test.elf\n",
            m->machine);
    sp__text_put(&t, "\nclean:\n\trm -f test.elf\n\n.PHONY: run clean\n");
    return sp__codegen_save(p, "Makefile", &t);
}

sp_status sp__codegen_board(const sp_codegen_project *p)
{
    SP_TRY(write_main(p));
    if (p->target->start != NULL) {
        SP_TRY(write_start(p));
        SP_TRY(write_script(p));
    }
    return write_makefile(p);
}
