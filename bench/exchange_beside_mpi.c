/* SPDX-License-Identifier: Apache-2.0 */
/* exchange_beside_mpi.c - all_reduce of float32 by the engine and by MPI itself, in turn in one job; bench/parallel.py compiles it with mpicc. Prints, on
 * rank 0, a line for each size: bytes, microseconds of the engine, microseconds of MPI. Arguments: seconds for a size, the largest size. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spore/parallel.h>

static void *room(size_t bytes)
{
    void *p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!p) exit(3);
    memset(p, 0, bytes);
    return p;
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? atof(argv[1]) : 0.5;
    const size_t most = argc > 2 ? (size_t)atoll(argv[2]) : (size_t)256 << 20;
    if (sp_job_join() != SP_OK) {
        fprintf(stderr, "%s\n", sp_error_message());
        return 1;
    }
    sp_comm *world = sp_comm_world();
    const int rank = sp_comm_rank(world);
    char *in = room(most), *out = room(most);
    for (size_t bytes = 4; bytes <= most; bytes *= 4) {
        const int n = (int)(bytes / 4);
        const sp_exchange e = {.kind = SP_EXCHANGE_ALL_REDUCE,
                               .dtype = SP_DTYPE_F32,
                               .reduce = SP_REDUCE_SUM,
                               .n = n,
                               .in = in,
                               .out = out};
        double least[2] = {1e9, 1e9}, spent = 0, last = 0;
        int repeat = 1, go = 1;
        while (go) {
            for (int side = 0; side < 2; side++) {
                MPI_Barrier(MPI_COMM_WORLD);
                const double from = MPI_Wtime();
                for (int i = 0; i < repeat; i++) {
                    if (side == 0 && sp_comm_run(world, &e) != SP_OK) {
                        fprintf(stderr, "%s\n", sp_error_message());
                        sp_job_abort(1, sp_error_message());
                    }
                    if (side == 1) MPI_Allreduce(in, out, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
                }
                const double took = MPI_Wtime() - from;
                spent += took;
                if (took / repeat < least[side]) least[side] = took / repeat;
                last = took;
            }
            if (last < 2e-3) repeat *= 2; /* behind both: ranks must agree on it */
            go = spent < seconds;
            MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
            MPI_Bcast(&repeat, 1, MPI_INT, 0, MPI_COMM_WORLD);
        }
        if (rank == 0) {
            printf("%zu %.3f %.3f\n", bytes, least[0] * 1e6, least[1] * 1e6);
            fflush(stdout);
        }
    }
    free(in);
    free(out);
    sp_job_leave();
    return 0;
}
