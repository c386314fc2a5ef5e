/* SPDX-License-Identifier: Apache-2.0 */
/* Memory runs out at every allocation of every kind of work: works.h has them, starve.h says what must hold.
 *
 *     long_out_of_memory [work|all|*part [n [engine|libc]]] */
#include "memory/works.h"

int main(int argc, char **argv)
{
    works_begin();
    const char *only = argc > 1 && strcmp(argv[1], "all") ? argv[1] : NULL;
    const int way = argc > 3 ? !strcmp(argv[3], "libc") : -1;
    const int n_failed = works_starve(true, only, argc > 2 ? atoll(argv[2]) : 0, way);
    works_end();
    printf("%d attempts failed\n", n_failed);
    return n_failed != 0;
}
