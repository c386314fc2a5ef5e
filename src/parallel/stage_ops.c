/* SPDX-License-Identifier: Apache-2.0 */
/* stage_ops.c - operators of pipelines: marks of stages, and messages between them. */
#include <string.h>

#include "ops/ops_impl.h"
#include "parallel/stage.h"
#include "spore/ops_attrs.h"

/* --- marks ------------------------------------------------------------------------------------------------------- */

SP_ATTR_TABLE(stage_attr_table, sp_stage_attrs, (INT, stage, -1), (INT, segment, 0), (INT, micro, -1));

static sp_status stage_view(const sp_call *c) { return sp__tensor_alias(c->in[0], &c->out[0]); }

static sp_status stage_vjp(sp_builder *b, const sp_vjp *v)
{
    v->din[0] = sp_builder_apply(b, &sp_op_stage_back, NULL, 2, (sp_tensor *const[]){v->dout[0], v->in[0]});
    return sp__builder_status(b);
}

const sp_op sp_op_stage = {
    .name = "stage",
    .inputs = "x",
    SP_ATTRS(stage_attr_table, sp_stage_attrs),
    .infer = sp__infer_same,
    .view = stage_view,
    .vjp = stage_vjp,
    .shard = "same",
    .saves = SP_SAVE_IN(0),
    .batch = sp__batch_elementwise,
    .doc =
        "The same tensor; in a program that is divided into the stages of a pipeline it enters this stage, or micro batch.",
    .samples = "[2,3] stage=1; [4]",
};

static sp_status back_infer(const sp_call *c, sp_meta *out)
{
    char a[SP_SHAPE_TEXT], b[SP_SHAPE_TEXT];
    SP_CHECK(sp__shape_equal(c->in[0]->rank, c->in[0]->dims, c->in[1]->rank, c->in[1]->dims), SP_VALUE,
             "stage_back: the gradient has shape %s, the value %s", sp__shape_text(c->in[0]->rank, c->in[0]->dims, a),
             sp__shape_text(c->in[1]->rank, c->in[1]->dims, b));
    sp__meta_of(c->in[0], &out[0]);
    return SP_OK;
}

static sp_status back_vjp(sp_builder *b, const sp_vjp *v)
{
    v->din[0] = sp_identity(b, v->dout[0]);
    return sp__builder_status(b);
}

const sp_op sp_op_stage_back = {
    .name = "stage_back",
    .inputs = "gradient, x",
    .infer = back_infer,
    .view = stage_view,
    .vjp = back_vjp,
    .batch = sp__batch_elementwise,
    .shard = "same",
    .doc = "The gradient of `stage`: it goes back to the stage that x came from.",
    .samples = "[2,3] [2,3]",
};

/* --- messages ---------------------------------------------------------------------------------------------------- */

/* Messages on their way, with the copies that are sent. A program ends with all of its own received. */
typedef struct sent {
    struct sent *next;
    sp_request *request;
    char data[];
} sent;

static sp_lock lock = SP_LOCK_INIT;
static sent *under_way;

/* Let go of what has arrived; `wait`: of all. */
static sp_status reap(bool wait)
{
    sp_status status = SP_OK;
    for (;;) {
        sp__lock(&lock);
        sent **p = &under_way, *s;
        bool done = false;
        while (*p && status == SP_OK) {
            status = sp_request_test((*p)->request, &done);
            if (done || wait) break;
            p = &(*p)->next;
        }
        s = status == SP_OK && (done || wait) ? *p : NULL;
        if (s) *p = s->next;
        sp__unlock(&lock);
        if (!s) return status;
        status = sp_request_wait(s->request);
        sp__free(s);
        if (status != SP_OK) return status;
    }
}

SP_ATTR_TABLE(send_attr_table, sp_rank_send_attrs, (INT, rank, 0), (INT, tag, 0));

static sp_status token_infer(const sp_call *c, sp_meta *out)
{
    (void)c;
    out[0] = (sp_meta){.dtype = SP_DTYPE_U8, .rank = 1, .dims = {1}};
    return SP_OK;
}

static sp_status send_reference(const sp_call *c)
{
    const sp_rank_send_attrs *a = c->attrs;
    const size_t bytes = sp_tensor_bytes(c->in[0]);
    sp_comm *world = sp_comm_world();
    *(unsigned char *)c->out[0]->data = 0;
    if (sp_comm_size(world) == 1) return SP_OK;
    SP_TRY(reap(false));
    sent *s = sp__alloc(sizeof *s + bytes);
    if (!s) return SP_NOMEM;
    memcpy(s->data, c->in[0]->data, bytes);
    const sp_status status = sp_comm_start(world,
                                           &(sp_exchange){.kind = SP_EXCHANGE_SEND,
                                                          .dtype = (sp_dtype)c->in[0]->dtype,
                                                          .n = c->in[0]->count,
                                                          .in = s->data,
                                                          .root = (int)a->rank,
                                                          .tag = (int)a->tag},
                                           &s->request);
    if (status != SP_OK) {
        sp__free(s);
        return status;
    }
    sp__lock(&lock);
    s->next = under_way;
    under_way = s;
    sp__unlock(&lock);
    return SP_OK;
}

const sp_op sp_op_rank_send = {
    .name = "rank_send",
    .inputs = "x",
    SP_ATTRS(send_attr_table, sp_rank_send_attrs),
    .infer = token_infer,
    .reference = send_reference,
    .collective = true,
    .no_vjp = "gradients are sent by the program that is divided",
    .doc = "x goes to another rank, which calls rank_recv with this tag; the result says nothing.",
    .samples = "[2,3]",
};

SP_ATTR_TABLE(recv_attr_table, sp_rank_recv_attrs, (INT, rank, 0), (INT, tag, 0), (DTYPE, dtype, float32),
              (INTS_EMPTY, shape));

static sp_status recv_infer(const sp_call *c, sp_meta *out)
{
    const sp_rank_recv_attrs *a = c->attrs;
    int64_t count;
    SP_CHECK(a->shape.n <= SP_RANK_MAX, SP_VALUE, "rank_recv: rank %d is too large", a->shape.n);
    SP_TRY(sp__shape_count(a->shape.n, a->shape.v, &count));
    out[0] = (sp_meta){.dtype = a->dtype, .rank = a->shape.n};
    for (int i = 0; i < a->shape.n; i++) out[0].dims[i] = a->shape.v[i];
    return SP_OK;
}

static sp_status recv_reference(const sp_call *c)
{
    const sp_rank_recv_attrs *a = c->attrs;
    sp_comm *world = sp_comm_world();
    if (sp_comm_size(world) == 1) {
        memset(c->out[0]->data, 0, sp_tensor_bytes(c->out[0]));
        return SP_OK;
    }
    return sp__call_exchange(c, world,
                             &(sp_exchange){.kind = SP_EXCHANGE_RECV,
                                            .dtype = a->dtype,
                                            .n = c->out[0]->count,
                                            .out = c->out[0]->data,
                                            .root = (int)a->rank,
                                            .tag = (int)a->tag});
}

const sp_op sp_op_rank_recv = {
    .name = "rank_recv",
    .inputs = "x",
    SP_ATTRS(recv_attr_table, sp_rank_recv_attrs),
    .infer = recv_infer,
    .reference = recv_reference,
    .collective = true,
    .await = sp__call_await,
    .no_vjp = "gradients are sent by the program that is divided",
    .doc = "What another rank sends with this tag, of this dtype and shape. x is not looked at.",
    .samples = "[1] shape=(2,3)",
};

static sp_status flush_reference(const sp_call *c)
{
    *(unsigned char *)c->out[0]->data = 0;
    return reap(true);
}

const sp_op sp_op_rank_flush = {
    .name = "rank_flush",
    .inputs = "x",
    .infer = token_infer,
    .reference = flush_reference,
    .collective = true,
    .no_vjp = "it makes nothing",
    .doc = "Wait until everything that rank_send has begun to send has been received. x is not looked at.",
    .samples = "[1]",
};
