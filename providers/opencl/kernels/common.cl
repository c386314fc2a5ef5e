/* SPDX-License-Identifier: Apache-2.0 */
/* common.cl - what stands in front of every source: types in memory (T), how they are read (LD) and written (ST), and what is computed in (C).
 * Halves are stored as such and computed in float. */
#pragma OPENCL FP_CONTRACT OFF
#ifdef NEEDS_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define T_BOOL uchar
#define T_U8 uchar
#define T_U16 ushort
#define T_U32 uint
#define T_U64 ulong
#define T_I8 char
#define T_I16 short
#define T_I32 int
#define T_I64 long
#define T_F16 half
#define T_BF16 ushort
#define T_F32 float
#define T_F64 double

#define C_BOOL int
#define C_U8 uchar
#define C_U16 ushort
#define C_U32 uint
#define C_U64 ulong
#define C_I8 char
#define C_I16 short
#define C_I32 int
#define C_I64 long
#define C_F16 float
#define C_BF16 float
#define C_F32 float
#define C_F64 double

#define LD_BOOL(p, i) ((int)((p)[i] != 0))
#define LD_U8(p, i) ((p)[i])
#define LD_U16(p, i) ((p)[i])
#define LD_U32(p, i) ((p)[i])
#define LD_U64(p, i) ((p)[i])
#define LD_I8(p, i) ((p)[i])
#define LD_I16(p, i) ((p)[i])
#define LD_I32(p, i) ((p)[i])
#define LD_I64(p, i) ((p)[i])
#define LD_F16(p, i) vload_half(i, p)
#define LD_BF16(p, i) as_float((uint)(p)[i] << 16)
#define LD_F32(p, i) ((p)[i])
#define LD_F64(p, i) ((p)[i])

inline ushort to_bfloat(float v)
{
    const uint u = as_uint(v);
    return isnan(v) ? (ushort)((u >> 16) | 0x40) : (ushort)((u + 0x7FFF + ((u >> 16) & 1)) >> 16);
}

#define ST_BOOL(p, i, v) ((p)[i] = (uchar)((v) != 0))
#define ST_U8(p, i, v) ((p)[i] = (uchar)(v))
#define ST_U16(p, i, v) ((p)[i] = (ushort)(v))
#define ST_U32(p, i, v) ((p)[i] = (uint)(v))
#define ST_U64(p, i, v) ((p)[i] = (ulong)(v))
#define ST_I8(p, i, v) ((p)[i] = (char)(v))
#define ST_I16(p, i, v) ((p)[i] = (short)(v))
#define ST_I32(p, i, v) ((p)[i] = (int)(v))
#define ST_I64(p, i, v) ((p)[i] = (long)(v))
#define ST_F16(p, i, v) vstore_half_rte((float)(v), i, p)
#define ST_BF16(p, i, v) ((p)[i] = to_bfloat((float)(v)))
#define ST_F32(p, i, v) ((p)[i] = (float)(v))
#define ST_F64(p, i, v) ((p)[i] = (double)(v))

/* Sum and largest value over the items of a group; with one item there is nothing to do. */
#ifdef GROUP
#if GROUP > 1
#define FOLD_GROUP(name, type, step)                                                                                   \
    inline type name(type v, __local type *room)                                                                       \
    {                                                                                                                  \
        const int me = (int)get_local_id(0);                                                                           \
        room[me] = v;                                                                                                  \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                  \
        for (int half_ = GROUP / 2; half_ > 0; half_ /= 2) {                                                           \
            if (me < half_) {                                                                                          \
                const type x = room[me], y = room[me + half_];                                                         \
                room[me] = step;                                                                                       \
            }                                                                                                          \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                              \
        }                                                                                                              \
        v = room[0];                                                                                                   \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                  \
        return v;                                                                                                      \
    }
#define ROOM(type, name) __local type name[GROUP];
#else
#define FOLD_GROUP(name, type, step)                                                                                   \
    inline type name(type v, __local type *room) { return v; }
#define ROOM(type, name) __local type name[1];
#endif
#endif
