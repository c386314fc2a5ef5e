/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.c - which name a mistyped one is nearest to, for messages. */
#include <string.h>

#include "base/messages.h"
#include "base/plain.h"

enum { LONGEST = 64 };

/* Inserted, deleted and replaced letters, with letters of either case alike; a name that is too long is far away. */
static int distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
    int row[LONGEST + 1];
    if (n_a > LONGEST || n_b > LONGEST) return LONGEST;
    for (size_t j = 0; j <= n_b; j++) row[j] = (int)j;
    for (size_t i = 1; i <= n_a; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= n_b; j++) {
            int best = diagonal + (sp__to_lower(a[i - 1]) != sp__to_lower(b[j - 1]));
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[n_b];
}

const char *sp__nearest(const char *name, size_t n_name, int n, const char *(*at)(const void *all, int i),
                        const void *all)
{
    const char *found = NULL;
    int least = (int)n_name / 3 + 1; /* nearer than that: two thirds of the letters are right */
    for (int i = 0; i < n; i++) {
        const char *other = at(all, i);
        const int d = distance(name, n_name, other, strlen(other));
        if (d < least) {
            least = d;
            found = other;
        }
    }
    return found;
}
