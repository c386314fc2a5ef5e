# SPDX-License-Identifier: Apache-2.0
"""Sparse Tensors: made, computed with, handed to compiled functions, differentiated."""

_START = """
COOTensor, CSRTensor, RowTensor = ms.COOTensor, ms.CSRTensor, ms.RowTensor
i = Tensor(np.array([[0, 1], [1, 2]], np.int32))
v = t(1., 2.)
sh = (3, 4)
ip = Tensor(np.array([0, 1, 2, 2], np.int32))
ix = Tensor(np.array([1, 2], np.int32))
d = Tensor(np.arange(12).reshape(4, 3).astype(np.float32) / 5)
e = Tensor(np.arange(12).reshape(3, 4).astype(np.float32) / 5 + 1)
"""
_PROGRAMS = {
    "coo_dense": """
def f(v):
    return COOTensor(i,v,sh).to_dense()*e
answer=ms.grad(f)(v)
""",
    "coo_values": """
def f(v):
    return COOTensor(i,v,sh).values*2
answer=ms.grad(f)(v)
""",
    "csr_values": """
def f(v):
    return CSRTensor(ip,ix,v,sh).values*2
answer=ms.grad(f)(v)
""",
    "csr_dense": """
def f(v):
    return CSRTensor(ip,ix,v,sh).to_dense()*e
answer=ms.grad(f)(v)
""",
    "csr_mul": """
def f(v,e):
    return (CSRTensor(ip,ix,v,sh)*e).values
answer=ms.grad(f,(0,1))(v,e)
""",
    "csr_mv": """
def f(v,x):
    return CSRTensor(ip,ix,v,sh).mv(x)
answer=ms.grad(f,(0,1))(v,Tensor(np.ones((4,1),np.float32)))
""",
    "csr_mm": """
def f(v,x):
    return CSRTensor(ip,ix,v,sh).mm(x)
answer=ms.grad(f,(0,1))(v,d)
""",
    "csr_sum": """
def f(v):
    return CSRTensor(ip,ix,v,sh).sum(1)
answer=ms.grad(f)(v)
""",
    "csr_abs": """
def f(v):
    return CSRTensor(ip,ix,v,sh).abs().values
answer=ms.grad(f)(v)
""",
    "csr_arg": """
def f(c):
    return c.values*3
g=ms.grad(f)(CSRTensor(ip,ix,v,sh))
answer=type(g).__name__, g.values
""",
    "csr_arg_dense": """
def f(c):
    return c.to_dense()*e
g=ms.grad(f)(CSRTensor(ip,ix,v,sh))
answer=type(g).__name__, g.values
""",
    "coo_arg": """
def f(c):
    return c.values*3
g=ms.grad(f)(COOTensor(i,v,sh))
answer=type(g).__name__, g.values
""",
    "coo_arg_dense": """
def f(c):
    return c.to_dense()*e
g=ms.grad(f)(COOTensor(i,v,sh))
answer=type(g).__name__, g.values
""",
    "spmm": """
def f(v,x):
    return ops.SparseTensorDenseMatmul()(i,v,sh,x)
answer=ms.grad(f,(0,1))(v,d)
""",
    "stod": """
def f(v):
    return ops.SparseToDense()(i,v,sh)*e
answer=ms.grad(f)(v)
""",
    "ops_sin": """
def f(v):
    return ops.csr_sin(CSRTensor(ip,ix,v,sh)).values
answer=ms.grad(f)(v)
""",
    "ops_coo_sin": """
def f(v):
    return ops.coo_sin(COOTensor(i,v,sh)).values
answer=ms.grad(f)(v)
""",
    "jit_ret": """
@ms.jit
def f(v):
    return COOTensor(i,v*2,sh)
r=f(v)
answer=type(r).__name__, r.values, r.shape
""",
    "jit_arg": """
@ms.jit
def f(c):
    return c.values*2, c.indices, c.to_dense()
answer=f(COOTensor(i,v,sh))
""",
    "jit_csr": """
@ms.jit
def f(c):
    return c*2
r=f(CSRTensor(ip,ix,v,sh))
answer=type(r).__name__, r.values
""",
    "jit_csr2": """
@ms.jit
def f(c,x):
    return c.mm(x)
answer=f(CSRTensor(ip,ix,v,sh),d)
""",
    "jitgrad": """
@ms.jit
def f(v):
    return CSRTensor(ip,ix,v,sh).to_dense()*e
@ms.jit
def g(v):
    return ms.grad(f)(v)
answer=g(v)
""",
    "jitgradcoo": """
@ms.jit
def f(v):
    return COOTensor(i,v,sh).to_dense()*e
@ms.jit
def g(v):
    return ms.grad(f)(v)
answer=g(v)
""",
    "gather": """
def f(v):
    return ops.csr_gather(ip,ix,e,sh)
answer=f(v)
""",
    "add": """
def f(v):
    return ops.coo_add(COOTensor(i,v,sh),COOTensor(i,v*2,sh),Tensor(0,ms.float32)).values
answer=f(v), ms.grad(f)(v)
""",
    "cadd": """
def f(v):
    return ops.csr_add(CSRTensor(ip,ix,v,sh),CSRTensor(ip,ix,v*2,sh),Tensor(1,ms.float32),Tensor(1,ms.float32)).values
answer=f(v), ms.grad(f)(v)
""",
    "softmax": """
def f(v):
    return ops.csr_softmax(CSRTensor(ip,ix,v,sh),ms.float32).values
answer=f(v)
""",
    "concat": """
def f(v):
    return ops.coo_concat((COOTensor(i,v,sh),COOTensor(i,v*2,sh))).values
answer=f(v)
""",
    "coo2csr": """
def f(v):
    return COOTensor(i,v,sh).to_csr().values
answer=f(v), ms.grad(f)(v)
""",
}


def sparse():
    return {name: _START + text for name, text in _PROGRAMS.items()}
