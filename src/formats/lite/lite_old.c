/* SPDX-License-Identifier: Apache-2.0 */
/* lite_old.c - operators of Lite 1.0's files, whose numbers and fields are others, as those of today.
 *
 * A row says how: what each field of today's operator is, in order, and behind '|' the inputs that were fields.
 *     #k     old field k                       @k   the list in old field k
 *     [a,b]  a list of old fields              >0231   a list of digits
 *     Pk     padding: old field k, where Caffe's is as listed       Ck   positions of resizing
 *     -      what a missing one is */
#include <string.h>

#include "base/plain.h"
#include "formats/lite/lite_model.h"

const sp_lite_op sp__lite_old_schema[] = {
    {1, "Concat", "ii"},
    {2, "SoftMax", "i=-1"},
    {3, "Activation", "c,f=0.2,f=-1,f=1"},
    {4, "Conv2D", "iiiiiiiiciiiiiibc"},
    {5, "FusedBatchNorm", "f=0.00001,f=0.9,i=1"},
    {6, "BatchNorm", "f=0.00001"},
    {7, "BiasAdd", "I"},
    {8, "Pooling", "icbiiiiciiiicci"},
    {10, "DepthwiseConv2D", "iiiiiiiciiiiiibc"},
    {12, "Resize", "icllbbcfifc"},
    {14, "FullConnection", "bibc"},
    {16, "DeConv2D", "iiiiiiiiciiiiiibc"},
    {17, "Scale", "ic"},
    {18, "Reshape", "iL"},
    {19, "Eltwise", "c"},
    {21, "Add", "c"},
    {22, "Sub", "c"},
    {23, "MatMul", "bbb"},
    {24, "StridedSlice", "iiiiiIIII"},
    {26, "Slice", "iIII"},
    {27, "Stack", "iiI"},
    {28, "Mul", "c"},
    {29, "RealDiv", ""},
    {30, "Pad", "Icf"},
    {31, "Maximum", ""},
    {32, "Minimum", ""},
    {34, "LeakyReLU", "f"},
    {35, "ArgMax", "i,b,i=1,b,i"},
    {36, "ArgMin", "i,b,i=1,b,i"},
    {37, "Exp", "f=-1,f=1,f"},
    {40, "Rsqrt", ""},
    {41, "ExpandDims", "i"},
    {42, "Tile", "II"},
    {43, "Cast", "ii"},
    {44, "Shape", ""},
    {45, "Nchw2Nhwc", ""},
    {46, "Nhwc2Nchw", ""},
    {47, "QuantDTypeCast", "ii"},
    {48, "Split", "iIi"},
    {51, "Equal", ""},
    {52, "Less", ""},
    {53, "Greater", ""},
    {54, "NotEqual", ""},
    {55, "LessEqual", ""},
    {56, "GreaterEqual", ""},
    {58, "Floor", ""},
    {59, "Abs", ""},
    {60, "Neg", ""},
    {61, "Cos", ""},
    {62, "Sin", ""},
    {63, "Sqrt", ""},
    {64, "Square", ""},
    {66, "Log", ""},
    {70, "Clip", "ff"},
    {71, "Transpose", "Ib"},
    {72, "Squeeze", "I"},
    {73, "Unsqueeze", "I"},
    {75, "Dropout", "f=0.5"},
    {77, "BroadcastTo", "I"},
    {80, "TopK", "i,b=1"},
    {81, "SpaceToDepth", "ii"},
    {86, "Gather", "ii"},
    {87, "GatherNd", "i"},
    {89, "Elu", "f=1"},
    {90, "DepthToSpace", "ii"},
    {92, "AddN", "i"},
    {93, "Ceil", ""},
    {96, "FloorDiv", ""},
    {97, "FloorMod", ""},
    {98, "L2Norm", "Ifc"},
    {99, "LocalResponseNormalization", "ifff"},
    {101, "Reduce", "I,i,c,b,f=1"},
    {103, "Round", ""},
    {0, NULL, NULL},
};

enum { MAX_POOL = 92, AVG_POOL = 17, OLD_POOL = 8, OLD_GATHER = 86 };

static const struct {
    int old, tag;
    const char *how;
} rules[] = {
    {1, 31, "#0"},
    {2, 138, "[0]"},
    {3, 2, "#0 #1 #2 #3"},
    {4, 35, "#0 [5,4] [7,6] [14,13] P8 [9,10,11,12] - #1 #2 #3 #16"},
    {5, 68, "#0 #1"},
    {6, 19, "#0"},
    {7, 23, ""},
    {OLD_POOL, MAX_POOL, "[4,3] [6,5] [8,9,10,11] P7 #12 #0 #2 #13"},
    {10, 35, "#0 [4,3] [6,5] [13,12] P7 [8,9,10,11] - #1 #1 #1 #15"},
    {12, 120, "#0 #1 #2 #3 #5 C6 #7 #8 #9 #10"},
    {14, 67, "#0 #2 #1 #3"},
    {16, 36, "#0 [5,4] [7,6] [14,13] P8 - [9,10,11,12] - #1 #2 #3 #16"},
    {17, 127, "#0 #1"},
    {18, 119, "| @1"},
    {19, 52, "#0"},
    {21, 5, "#0"},
    {22, 152, "#0"},
    {23, 89, "#1 #2"},
    {24, 151, "#0 #1 #2 #3 #4 | @5 @6 @7"},
    {26, 135, "@1 | @2 @3"},
    {27, 150, "#0"},
    {28, 99, "#0"},
    {29, 117, ""},
    {30, 107, "- #1 #2 | @0"},
    {31, 90, ""},
    {32, 96, ""},
    {34, 76, "#0"},
    {35, 11, "#0 #2 #3 #1"},
    {36, 12, "#0 #2 #3 #1"},
    {37, 55, "#0 #1 #2"},
    {40, 126, ""},
    {41, 56, "| #0"},
    {42, 160, "| @0"},
    {43, 28, ""},
    {44, 130, ""},
    {45, 162, "| >0231"},
    {46, 162, "| >0312"},
    {47, 113, "#0 #1"},
    {48, 145, "#0 @1 #2"},
    {51, 53, ""},
    {52, 77, ""},
    {53, 71, ""},
    {54, 103, ""},
    {55, 78, ""},
    {56, 72, ""},
    {58, 63, ""},
    {59, 1, ""},
    {60, 101, ""},
    {61, 37, ""},
    {62, 133, ""},
    {63, 146, ""},
    {64, 148, ""},
    {66, 79, ""},
    {70, 30, "#0 #1"},
    {71, 162, "| @0"},
    {72, 147, "@0"},
    {73, 165, "@0"},
    {75, 49, "#0"},
    {77, 27, "@0"},
    {80, 161, "#1 - - | #0"},
    {81, 142, "#0 #1"},
    {86, 69, "| #0"},
    {87, 70, ""},
    {89, 51, "#0"},
    {90, 45, "#0 #1"},
    {92, 8, ""},
    {93, 29, ""},
    {96, 64, ""},
    {97, 65, ""},
    {98, 88, "@0 #1 #2"},
    {99, 85, "#0 #1 #2 #3"},
    {101, 118, "#1 #2 #3 #4 | @0"},
    {103, 125, ""},
};

static int take_number(const char **at)
{
    int v = 0;
    for (; sp__is_digit(**at); ++*at) v = 10 * v + (**at - '0');
    return v;
}

/* Padding: listed where it was Caffe's way. */
static uint64_t padding(uint64_t mode) { return mode == 4 ? 0 : mode; }

/* Positions: 0 from the corner, 1 corners aligned, 2 half pixels. */
static uint64_t positions(const sp_tflite_node *old, int field)
{
    const uint64_t kind = old->option[field];
    return old->option[4] != 0 || kind == 5 ? 1 : kind == 1 || kind == 3 ? 2 : 0;
}

/* One word of a row: a number, or a list. */
static sp_status take_word(sp__arena *arena, const sp_tflite_node *old, const char **at, uint64_t *number,
                           sp_tflite_longs *list)
{
    const char kind = *(*at)++;
    if (kind == '-') return SP_OK;
    if (kind == '[' || kind == '>') {
        int64_t *v = sp__arena_alloc(arena, 4 * sizeof *v);
        int n = 0;
        if (v == NULL) return SP_NOMEM;
        for (; kind == '[' && **at != ' ' && **at != '\0'; ++*at)
            v[n++] = (int64_t)old->option[take_number(at)]; /* over ',' or ']' */
        for (; kind == '>' && sp__is_digit(**at); ++*at) v[n++] = **at - '0';
        *list = (sp_tflite_longs){n, v};
        return SP_OK;
    }
    const int field = take_number(at);
    if (kind == '@') *list = old->lists[field];
    else *number = kind == 'P' ? padding(old->option[field]) : kind == 'C' ? positions(old, field) : old->option[field];
    return SP_OK;
}

sp_status sp__lite_translate(sp__arena *arena, int old_tag, sp_tflite_node *n, int *tag, int *n_extra,
                             sp_tflite_longs extra[3])
{
    const sp_tflite_node old = *n;
    const char *at = NULL;
    sp_tflite_longs *lists = sp__arena_alloc(arena, SP_TFLITE_OPTIONS * sizeof *lists);
    if (lists == NULL) return SP_NOMEM;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].old == old_tag) {
            at = rules[i].how;
            *tag = rules[i].tag;
        }
    SP_CHECK(at != NULL, SP_DECLINED, "operator %d of Lite 1.0 is not supported", old_tag);
    if (old_tag == OLD_POOL && old.option[1] != 0) *tag = AVG_POOL;
    memset(n->option, 0, sizeof n->option);
    n->lists = lists;
    n->given = ~0u;
    *n_extra = 0;
    bool inputs = false;
    for (int k = 0; *at != '\0' && k < SP_TFLITE_OPTIONS; at += *at == ' ') {
        if (*at == '|') {
            inputs = true;
            at++;
            continue;
        }
        uint64_t number = 0;
        sp_tflite_longs list = {0, NULL};
        const bool scalar = *at == '#';
        SP_TRY(take_word(arena, &old, &at, &number, &list));
        if (!inputs) {
            n->option[k] = number;
            lists[k++] = list;
            continue;
        }
        if (scalar) {
            int64_t *v = sp__arena_alloc(arena, sizeof *v);
            if (v == NULL) return SP_NOMEM;
            *v = (int64_t)number;
            list = (sp_tflite_longs){1, v};
        }
        if (*n_extra < 3) extra[(*n_extra)++] = list;
    }
    if (n->n_in > (old_tag == OLD_GATHER ? 2 : 1)) *n_extra = 0; /* they are inputs already */
    return SP_OK;
}
