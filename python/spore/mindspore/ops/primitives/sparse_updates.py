# SPDX-License-Identifier: Apache-2.0
"""Steps of optimizers as primitives that few programs use: those that change only the rows named by indices, and others.
The rows of equal indices are summed first; Parameters are written in place, and their values returned."""
from ..._core import Tensor
from .._make import primitive


def _op(name):
    from ... import ops
    return getattr(ops, name)


def _add(name, call, init="", doc=None):
    globals()[name] = primitive(name, call, init, doc)


def _rows(grad, indices):
    """(unique indices, sums of the rows that have them)"""
    unique, place = _op("unique")(indices)
    return unique, _op("unsorted_segment_sum")(grad, place, unique.shape[0])


def _write(parameter, indices, rows):
    """Put rows at their places; the Parameter is written."""
    from ..scattering import scatter_update
    scatter_update(parameter, indices, rows.astype(parameter.dtype))


def _at(tensor, indices):
    return _op("gather")(tensor, indices, 0)


def _out(*parameters):
    """What a fused step gives back: of no use, one number each."""
    return tuple(Tensor([0.0], p.dtype) for p in parameters)


def _values(*parameters):
    """What a step gives back: the values after it."""
    return tuple(p.value() if hasattr(p, "value") else p for p in parameters)


def _shrunk(value, l1):
    """Towards zero by l1."""
    return _op("sign")(value) * _op("relu")(_op("abs")(value) - l1)


# --- Adam ------------------------------------------------------------------------------------------------------------

def _fused_adam(lazy):
    def call(self, var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient, indices):
        """Adam's step with the gradients of some rows; the lazy one leaves the other rows as they are."""
        places, grad = _rows(gradient, indices)
        if not lazy:
            m.assign_value(m * beta1)
            v.assign_value(v * beta2)
            new_m, new_v = _at(m, places) + (1 - beta1) * grad, _at(v, places) + (1 - beta2) * grad * grad
        else:
            new_m = _at(m, places) * beta1 + (1 - beta1) * grad
            new_v = _at(v, places) * beta2 + (1 - beta2) * grad * grad
        _write(m, places, new_m)
        _write(v, places, new_v)
        rate = lr * _op("sqrt")(1 - beta2_power) / (1 - beta1_power)
        if lazy or self.use_nesterov:  # with use_nesterov MindSpore's kernel leaves the other rows alone, too
            move = new_m * beta1 + (1 - beta1) * grad if self.use_nesterov else new_m
            _write(var, places, _at(var, places) - rate * move / (_op("sqrt")(new_v) + epsilon))
        else:
            var.assign_value(var - rate * m / (_op("sqrt")(v) + epsilon))
        return _out(var, m, v)
    return call


def _adam_step(self, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient):
    """What Adam's step would add to the Parameter; the moments are updated."""
    m.assign_value(m * beta1 + (1 - beta1) * gradient)
    v.assign_value(v * beta2 + (1 - beta2) * gradient * gradient)
    move = m * beta1 + (1 - beta1) * gradient if self.use_nesterov else m
    return -lr * _op("sqrt")(1 - beta2_power) / (1 - beta1_power) * move / (_op("sqrt")(v) + epsilon)


_ADAM = "use_locking=False, use_nesterov=False"
_add("FusedSparseAdam", _fused_adam(False), _ADAM)
_add("FusedSparseLazyAdam", _fused_adam(True), _ADAM)
_add("AdamNoUpdateParam", _adam_step, _ADAM)


# --- FTRL ------------------------------------------------------------------------------------------------------------

def _ftrl(self, var, accum, linear, grad, indices, shrinkage=0.0):
    places, grad = _rows(grad, indices)
    old, low, lin = _at(accum, places), _at(var, places), _at(linear, places)
    shrunk = grad + 2 * shrinkage * low
    new = old + grad * grad
    lin = lin + shrunk - (new ** -self.lr_power - old ** -self.lr_power) / self.lr * low
    quadratic = new ** -self.lr_power / self.lr + 2 * self.l2
    moved = (_op("clamp")(lin, -self.l1, self.l1) - lin) / quadratic
    _write(linear, places, lin)
    _write(accum, places, new)
    _write(var, places, moved)
    return _values(var, accum, linear)


_FTRL = "lr, l1, l2, lr_power, use_locking=False"
_add("SparseApplyFtrl", lambda self, var, accum, linear, grad, indices: _ftrl(self, var, accum, linear, grad, indices), _FTRL,
     "A step of FTRL with the gradients of some rows.")
_add("FusedSparseFtrl", lambda self, var, accum, linear, grad, indices: _out(*_ftrl(self, var, accum, linear, grad, indices)), _FTRL,
     "A step of FTRL with the gradients of some rows.")
_add("SparseApplyFtrlV2", lambda self, var, accum, linear, grad, indices: _ftrl(
    self, var, accum, linear, grad, indices, self.l2_shrinkage), "lr, l1, l2, l2_shrinkage, lr_power, use_locking=False",
    "A step of FTRL, with a penalty on the weights, and the gradients of some rows.")


# --- Adagrad and its kin ---------------------------------------------------------------------------------------------

def _adagrad(self, var, accum, grad, indices, epsilon=None):
    places, grad = _rows(grad, indices)
    total = _at(accum, places) + (grad * grad if self.update_slots else 0)
    scale = _op("rsqrt")(total) if epsilon is None else _op("rsqrt")(total + epsilon)
    _write(var, places, _at(var, places) - self.lr * grad * scale)
    if self.update_slots:
        _write(accum, places, total)
    return _values(var, accum)


def _proximal_adagrad(self, var, accum, lr, l1, l2, grad, indices):
    """A step of Adagrad with penalties, with the gradients of some rows."""
    places, grad = _rows(grad, indices)
    total = _at(accum, places) + grad * grad
    rate = lr * _op("rsqrt")(total)
    moved = _at(var, places) - grad * rate
    moved = _shrunk(moved, rate * l1) / (1 + rate * l2)
    _write(var, places, moved)
    _write(accum, places, total)
    return var, accum


def _proximal_descent(self, var, alpha, l1, l2, grad, indices):
    """A step of gradient descent with penalties, with the gradients of some rows."""
    places, grad = _rows(grad, indices)
    moved = _shrunk(_at(var, places) - grad * alpha, alpha * l1) / (1 + alpha * l2)
    _write(var, places, moved)
    return var


def _adadelta(self, var, accum, accum_updates, lr, rho, grad, indices):
    """A step of Adadelta with the gradients of some rows."""
    places, grad = _rows(grad, indices)
    total = _at(accum, places) * rho + grad * grad * (1 - rho)
    updates = _at(accum_updates, places)
    move = _op("sqrt")(updates + self.epsilon) * _op("rsqrt")(total + self.epsilon) * grad
    _write(accum, places, total)
    _write(accum_updates, places, updates * rho + move * move * (1 - rho))
    _write(var, places, _at(var, places) - move * lr)
    return var, accum, accum_updates


def _adagrad_da(self, var, grad_accum, grad_square_accum, grad, indices, lr, l1, l2, global_step):
    """A step of Adagrad with dual averaging, with the gradients of some rows."""
    places, grad = _rows(grad, indices)
    total, squares = _at(grad_accum, places) + grad, _at(grad_square_accum, places) + grad * grad
    step = global_step.astype(var.dtype) if isinstance(global_step, Tensor) else global_step
    moved = -lr * _shrunk(total, l1 * step) / (l2 * step * lr + _op("sqrt")(squares))
    _write(grad_accum, places, total)
    _write(grad_square_accum, places, squares)
    _write(var, places, moved)
    return var


_add("SparseApplyAdagrad", lambda self, var, accum, grad, indices: _adagrad(self, var, accum, grad, indices),
     "lr, update_slots=True, use_locking=False", "A step of Adagrad with the gradients of some rows.")
_add("SparseApplyAdagradV2", lambda self, var, accum, grad, indices: _adagrad(self, var, accum, grad, indices, self.epsilon),
     "lr, epsilon, use_locking=False, update_slots=True", "A step of Adagrad with the gradients of some rows.")
_add("SparseApplyProximalAdagrad", _proximal_adagrad, "use_locking=False")
_add("FusedSparseProximalAdagrad", lambda self, var, accum, lr, l1, l2, grad, indices: _out(*_proximal_adagrad(
    self, var, accum, lr, l1, l2, grad, indices)), "use_locking=False",
        "A step of Adagrad with penalties, with the gradients of some rows.")
_add("SparseApplyProximalGradientDescent", _proximal_descent, "use_locking=False")
_add("SparseApplyAdadelta", _adadelta, "epsilon, use_locking=False")
_add("SparseApplyAdagradDA", _adagrad_da, "use_locking=False")


# --- momentum --------------------------------------------------------------------------------------------------------

def _momentum(self, var, accum, lr, grad, indices, momentum):
    """A step with momentum with the gradients of some rows."""
    places, grad = _rows(grad, indices)
    total = _at(accum, places) * momentum + grad
    _write(accum, places, total)
    _write(var, places, _at(var, places) - total * lr)  # MindSpore's kernel does the same with use_nesterov
    return var


def _rms(self, var, ms, mom, lr, grad, indices):
    """A step of RMSProp with the gradients of some rows."""
    places, grad = _rows(grad, indices)
    total = _at(ms, places) * self.rho + grad * grad * (1 - self.rho)
    move = _at(mom, places) * self.momentum + lr * _op("rsqrt")(total + self.epsilon) * grad
    _write(ms, places, total)
    _write(mom, places, move)
    _write(var, places, _at(var, places) - move)
    return _values(var, ms, mom)


def _centered_rms(self, var, mg, ms, mom, lr, rho, momentum, epsilon, grad, indices):
    """A step of RMSProp around the mean gradient, with the gradients of some rows."""
    places, grad = _rows(grad, indices)
    mean = _at(mg, places) * rho + grad * (1 - rho)
    total = _at(ms, places) * rho + grad * grad * (1 - rho)
    move = _at(mom, places) * momentum + lr * grad * _op("rsqrt")(total - mean * mean + epsilon)
    for parameter, rows in ((mg, mean), (ms, total), (mom, move), (var, _at(var, places) - move)):
        _write(parameter, places, rows)
    return var


_add("SparseApplyMomentum", _momentum, "use_locking=False, use_nesterov=False")
_add("SparseApplyRMSProp", _rms, "rho, momentum, epsilon, use_locking=False")
_add("SparseApplyCenteredRMSProp", _centered_rms, "use_locking=False")


def _lars(self, weight, gradient, norm_weight, norm_gradient, weight_decay, learning_rate):
    """The gradient scaled for LARS by the ratio of the norms of weight and gradient."""
    weight_norm, gradient_norm = _op("sqrt")(norm_weight), _op("sqrt")(norm_gradient)
    rate = self.hyperpara * weight_norm / (gradient_norm + weight_decay * weight_norm + self.epsilon)
    if self.use_clip:
        rate = _op("clamp")(rate / learning_rate, max=1.0)
    return rate * (gradient + weight_decay * weight)


_add("LARSUpdate", _lars, "epsilon=1e-05, hyperpara=0.001, use_clip=False")


def _size(x):
    """The root of the mean square."""
    return _op("sqrt")((x * x).mean())


def _ada_factor(self, epsilon, clip_threshold, beta1, beta2, weight_decay, learning_rate, gradient, param, exp_avg, exp_avg_sq_row,
                exp_avg_sq_col, exp_avg_sq, global_norm=None):
    """A step by squares of the gradient, of which rows and columns keep the means; param and the means are written."""
    if global_norm is not None:
        gradient = gradient / global_norm
    square = gradient * gradient + epsilon[0]
    if gradient.ndim > 1:
        _op("assign")(exp_avg_sq_row, beta2 * exp_avg_sq_row + (1 - beta2) * square.mean(-1))
        _op("assign")(exp_avg_sq_col, beta2 * exp_avg_sq_col + (1 - beta2) * square.mean(-2))
        rows = exp_avg_sq_row / exp_avg_sq_row.mean(-1, keep_dims=True)
        update = gradient * _op("rsqrt")(rows).expand_dims(-1) * _op("rsqrt")(exp_avg_sq_col).expand_dims(-2)
    else:
        _op("assign")(exp_avg_sq, beta2 * exp_avg_sq + (1 - beta2) * square)
        update = gradient * _op("rsqrt")(exp_avg_sq)
    update = update / _op("maximum")(_size(update) / clip_threshold, Tensor(1.0, update.dtype))
    rate = learning_rate * _op("maximum")(epsilon[1], _size(param)) if self.enable_scale_parameter else learning_rate
    update = update * rate
    if self.enable_first_moment:
        _op("assign")(exp_avg, beta1 * exp_avg + (1 - beta1) * update)
        update = exp_avg
    kept = param * (1 - weight_decay * rate) if self.enable_weight_decay else param
    return _op("assign")(param, (kept - update).astype(param.dtype))


for _name in ("FusedAdaFactor", "FusedAdaFactorWithGlobalNorm"):
    _add(_name, _ada_factor, "enable_scale_parameter=False, enable_first_moment=False, enable_weight_decay=False",
         "A step of the optimizer AdaFactor.")
