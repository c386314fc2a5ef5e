# SPDX-License-Identifier: Apache-2.0
"""Minima of functions of a Tensor by quasi-Newton steps, and the cheapest assignment of rows to columns."""
from collections import namedtuple

from spore._core import type_name as _type_name
from spore import ops
from spore._not_done import not_done
from spore.common import dtype as mstype
from spore.common.differentiate import value_and_grad
from spore.common.tensor import Tensor

__path__ = []  # addresses below this one are in mindspore/__init__.py
__all__ = ['minimize', 'line_search', 'linear_sum_assignment']

OptimizeResults = namedtuple('OptimizeResults', 'x success status fun jac hess_inv nfev njev nit')
LineSearchResults = namedtuple('_LineSearchResults', 'failed nit nfev ngev k a_k f_k g_k status')


def line_search(f, xk, pk, jac=None, gfk=None, old_fval=None, old_old_fval=None, c1=1e-4, c2=0.9, maxiter=20):
    """How far to go from xk along pk so that f falls enough (c1) and its slope flattens enough (c2): Wolfe's conditions.

    Examples:
        >>> import spore as ms
        >>> from spore.scipy.optimize import line_search
        >>> found = line_search(lambda x: (x ** 2).sum(), ms.Tensor([1.0, 1.0]), ms.Tensor([-1.0, -1.0]))
        >>> print(found.a_k)
        1.0
    """
    both = value_and_grad(f) if jac is None else lambda x: (f(x), jac(x))
    value, slope = both(xk) if gfk is None or old_fval is None else (old_fval, gfk)
    start, descent = float(value), float((slope * pk).sum())
    low, high, step, n = 0.0, float('inf'), 1.0, 0
    for n in range(1, maxiter + 1):
        value, slope = both(xk + step * pk)
        if not float(value) <= start + c1 * step * descent:
            high = step
        elif abs(float((slope * pk).sum())) > c2 * abs(descent):
            if float((slope * pk).sum()) < 0:
                low = step
            else:
                high = step
        else:
            return LineSearchResults(False, n, n + 1, n + 1, n + 1, step, float(value), slope, 0)
        step = 2 * step if high == float('inf') else (low + high) / 2
    return LineSearchResults(True, n, n + 1, n + 1, n + 1, step, float(value), slope, 3)


def _bfgs(fun, jac, x, gtol, maxiter, memory):
    """memory None: the whole inverse Hessian matrix; a number: the last steps only (L-BFGS)."""
    both = value_and_grad(fun) if jac is None else lambda x: (fun(x), jac(x))
    value, slope = both(x)
    inverse, pairs, calls, nit = ops.eye(x.size, x.size, x.dtype), [], 1, 0
    while nit < maxiter and float(slope.abs().max()) > gtol:
        direction = -(ops.matmul(inverse, slope) if memory is None else _two_loops(slope, pairs))
        found = line_search(fun, x, direction, jac, gfk=slope, old_fval=float(value))
        calls += found.nfev - 1
        if found.failed and not found.f_k < float(value):
            break
        step, change = found.a_k * direction, found.g_k - slope
        x, value, slope, nit = x + step, found.f_k, found.g_k, nit + 1
        curvature = float((step * change).sum())
        if curvature > 0 and memory is None:
            turn = ops.eye(x.size, x.size, x.dtype) - ops.ger(step, change) / curvature
            inverse = ops.matmul(ops.matmul(turn, inverse), turn.T) + ops.ger(step, step) / curvature
        elif curvature > 0:
            pairs = (pairs + [(step, change, 1 / curvature)])[-memory:]
    done = float(slope.abs().max()) <= gtol
    return OptimizeResults(x, done, 0 if done else 1, float(value), slope, inverse if memory is None else None, calls, calls, nit)


def _two_loops(slope, pairs):
    """The inverse Hessian matrix of the last steps, times the slope."""
    shares = []
    for step, change, rho in reversed(pairs):
        share = rho * (step * slope).sum()
        slope = slope - share * change
        shares.append(share)
    if pairs:
        step, change, rho = pairs[-1]
        slope = slope / (rho * (change * change).sum())
    for (step, change, rho), share in zip(pairs, reversed(shares)):
        slope = slope + step * (share - rho * (change * slope).sum())
    return slope


def minimize(func, x0, args=(), method=None, jac=None, hess=None, hessp=None, bounds=None, constraints=(), tol=None, callback=None,
             options=None):
    """The x near x0 for which func(x, *args) is least. method: 'BFGS' or 'LBFGS'; options: gtol, maxiter, maxgrad.

    Examples:
        >>> import spore as ms
        >>> from spore.scipy.optimize import minimize
        >>> found = minimize(lambda x: ((x - ms.Tensor([1.0, 2.0])) ** 2).sum(), ms.Tensor([0.0, 0.0]), method='BFGS',
        ...                  options=dict(gtol=1e-5))
        >>> print(found.x)
        [1. 2.]
    """
    options = dict(options or {})
    for name, value in (('bounds', bounds), ('constraints', constraints), ('callback', callback)):
        if value is not None and (callable(value) or len(value)):
            not_done(f"minimize: {name}", "BFGS and LBFGS search freely and report at the end")
    method = method.upper() if isinstance(method, str) else method
    if method not in ('BFGS', 'LBFGS'):
        raise ValueError(f"minimize: method must be 'BFGS' or 'LBFGS', but got {method!r}")
    if not isinstance(args, tuple):
        raise TypeError(f"minimize: args must be a tuple, but got {_type_name(args)}")
    known = ('gtol', 'maxiter', 'maxgrad', 'norm', 'line_search_maxiter', 'maxcor', 'maxfun', 'maxls')
    for name in options:
        if name not in known:
            raise TypeError(f"minimize: options may be {', '.join(known)}, but got {name!r}")
    steps = options.get('maxiter')
    return _bfgs(lambda x: func(x, *args), None if jac is None else lambda x: jac(x, *args), x0, options.get('gtol', options.get('maxgrad', 1e-5) if tol is None else tol),
                 200 * x0.size if steps is None else steps, None if method == 'BFGS' else options.get('maxcor', 10))


def linear_sum_assignment(cost_matrix, maximize=False, dimension_limit=None):
    """Rows and the columns they are assigned to, each one once, so that the sum of costs is least (or largest).

    Examples:
        >>> import spore as ms
        >>> from spore.scipy.optimize import linear_sum_assignment
        >>> rows, columns = linear_sum_assignment(ms.Tensor([[4.0, 1.0], [2.0, 3.0]]))
        >>> print(columns)
        [1 0]
    """
    if not isinstance(cost_matrix, Tensor) or cost_matrix.ndim != 2:
        raise ValueError(f"linear_sum_assignment: cost_matrix must be a Tensor of 2 dimensions, but got {cost_matrix!r}")
    costs = cost_matrix.tolist()
    if dimension_limit is not None:
        costs = [row[:int(dimension_limit.item())] for row in costs]
    if maximize if isinstance(maximize, bool) else bool(maximize.item()):
        costs = [[-c for c in row] for row in costs]
    turned = bool(costs) and len(costs) > len(costs[0])
    if turned:
        costs = [list(column) for column in zip(*costs)]
    pairs = sorted((j, i) if turned else (i, j) for i, j in enumerate(_assigned(costs)))
    pairs += [(-1, -1)] * (min(cost_matrix.shape) - len(pairs))  # columns beyond the limit leave places without a pair
    return Tensor([i for i, _ in pairs], mstype.int64), Tensor([j for _, j in pairs], mstype.int64)


def _assigned(costs):
    """The column of each row; no more rows than columns. Shortest augmenting paths (Jonker and Volgenant)."""
    n, m = len(costs), len(costs[0]) if costs else 0
    row_price, column_price, owner = [0.0] * (n + 1), [0.0] * (m + 1), [0] * (m + 1)
    for row in range(1, n + 1):
        owner[0], free = row, 0
        least, before, seen = [float('inf')] * (m + 1), [0] * (m + 1), [False] * (m + 1)
        while owner[free]:
            seen[free], at, gap, following = True, owner[free], float('inf'), 0
            for j in range(1, m + 1):
                if seen[j]:
                    continue
                cost = costs[at - 1][j - 1] - row_price[at] - column_price[j]
                if cost < least[j]:
                    least[j], before[j] = cost, free
                if least[j] < gap:
                    gap, following = least[j], j
            if not following:
                raise ValueError("linear_sum_assignment: the costs allow no assignment; they must be finite")
            for j in range(m + 1):
                if seen[j]:
                    row_price[owner[j]] += gap
                    column_price[j] -= gap
                else:
                    least[j] -= gap
            free = following
        while free:
            owner[free], free = owner[before[free]], before[free]
    columns = [0] * n
    for j in range(1, m + 1):
        if owner[j]:
            columns[owner[j] - 1] = j - 1
    return columns
