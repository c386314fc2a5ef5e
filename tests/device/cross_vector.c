/* SPDX-License-Identifier: Apache-2.0 */
/* cross_vector.c - vector loops where only a compiler and an emulator are at hand: functions within their bounds, and tails that
 * give the bits of whole vectors. tests/device/arm64 builds and runs it. */
#include <stdlib.h>

#include "device/vector_bounds.h"

unsigned sp__cpu_features(void) { return 0; }

int main(void)
{
    vector_set sets[3];
    int failures = 0;
    const int n = vector_sets(sets);
    for (int i = 0; i < n; i++) {
        failures += vector_walk(&sets[i], 300007, NULL);
        for (int loop = 0; loop < SP_CPU_LOOPS; loop++) {
            float x[40], whole[40], part[40];
            static const double attrs[2] = {0.5, 3};        /* alpha; beta and threshold */
            static const int64_t steps[] = {4, 4, 4, 4, 4}; /* loops take up to four operands */
            for (int k = 0; k < 40; k++) x[k] = (float)(k - 20) * 0.37f;
            if (!sets[i].rows[loop].f32) continue;
            sets[i].rows[loop].f32(40, (char *[]){(char *)whole, (char *)x, (char *)x, (char *)x, (char *)x}, steps,
                                   attrs);
            for (int k = 0; k < 40; k++) {
                char *at = (char *)&x[k];
                sets[i].rows[loop].f32(1, (char *[]){(char *)&part[k], at, at, at, at}, steps, attrs);
            }
            for (int k = 0; k < 40; k++)
                if (memcmp(&whole[k], &part[k], 4) && !(isnan(whole[k]) && isnan(part[k]))) {
                    printf("%s: loop %d of %a is %a in a vector, %a alone\n", sets[i].name, loop, (double)x[k],
                           (double)whole[k], (double)part[k]);
                    failures++;
                }
        }
    }
    printf("%d instruction sets, %d failures\n", n, failures);
    return failures != 0;
}
