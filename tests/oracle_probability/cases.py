# SPDX-License-Identifier: Apache-2.0
"""The questions about nn.probability: expressions that are asked of MindSpore (record.py) and of spore (the test) alike.

In them D is nn.probability.distribution, B is nn.probability.bijector, T(values) a tensor of float32, I(values) one of int32 and
H(values) one of float16."""
import numpy as np

# name: parameters given to the constructor, parameters given at the call, a second such set, values
DISTRIBUTIONS = {
    "Normal": ("0.5, 2.0", "T([0., 1.]), T([1., 3.])", "T([.5]), T([2.])", "T([-1., 2.])"),
    "LogNormal": ("0.5, 0.8", "T([0., 1.]), T([1., 3.])", "T([.5]), T([2.])", "T([.3, 2.])"),
    "Uniform": ("0.5, 2.0", "T([0., 1.]), T([1., 3.])", "T([-1.]), T([5.])", "T([.75, 2.5])"),
    "Bernoulli": ("0.3", "T([.2, .6])", "T([.7])", "I([0, 1])"),
    "Categorical": ("[0.2, 0.3, 0.5]", "T([[.1, .4, .5], [.6, .3, .1]])", "T([.3, .3, .4])", "I([0, 2])"),
    "Exponential": ("0.5", "T([.2, 3.])", "T([.7])", "T([-1., 2.])"),
    "Geometric": ("0.3", "T([.2, .6])", "T([.7])", "I([0, 3])"),
    "Gamma": ("[2.0], [3.0]", "T([.5, 4.]), T([1., 3.])", "T([1.5]), T([2.])", "T([.3, 2.])"),
    "Beta": ("[2.0], [3.0]", "T([1.5, 4.]), T([1.2, 3.])", "T([1.5]), T([2.])", "T([.3, .8])"),
    "Cauchy": ("0.5, 2.0", "T([0., 1.]), T([1., 3.])", "T([.5]), T([2.])", "T([-1., 2.])"),
    "Gumbel": ("0.5, 2.0", None, "0.7, 1.5", "T([-1., 2.])"),
    "Logistic": ("0.5, 2.0", "T([0., 1.]), T([1., 3.])", "T([.5]), T([2.])", "T([-1., 2.])"),
    "Poisson": ("[2.5]", "T([.2, 3.])", "T([.7])", "T([-1., 0., 2., 2.5])"),
    "HalfNormal": ("0.5, 2.0", "T([0., 1.]), T([1., 3.])", "T([.5]), T([2.])", "T([-1., 2.])"),
    "Laplace": ("0.5, 2.0", "T([0., 1.]), T([1., 3.])", "T([.5]), T([2.])", "T([-1., 2.])"),
    "StudentT": ("3.0, 0.5, 2.0", "T([4., 5.]), T([0., 1.]), T([1., 3.])", "T([4.]), T([.5]), T([2.])", "T([-1., 2.])"),
}
OF_VALUE = ("prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival")
OF_PARAMETERS = ("mean", "sd", "var", "mode", "entropy", "get_dist_args")
BIJECTORS = {
    "Exp()": "T([.5, 2.])",
    "PowerTransform(0.5)": "T([.5, 2.])", "PowerTransform([0., 2.])": "T([.5, 2.])", "PowerTransform()": "T([.5, 2.])",
    "ScalarAffine(2.0, 1.0)": "T([.5, 2.])", "ScalarAffine([-2., 3.], 1.0)": "T([.5, 2.])",
    "ScalarAffine(2.0, 1.0) ": "H([.5, 2.])",
    "Softplus(2.0)": "T([.5, 30.])", "Softplus()": "T([1e-3, 5.])",
    "GumbelCDF(1.0, 2.0)": "T([.5, .9])", "Invert(B.Softplus(2.0))": "T([.5, 3.])",
}
TRANSFORMED = {
    "D.TransformedDistribution(B.Exp(), D.Normal(0.2, 1.5))": "T([.5, 2.])",
    "D.TransformedDistribution(B.ScalarAffine(2.0, 1.0), D.Normal(0.2, 1.5))": "T([.5, 2.])",
    "D.TransformedDistribution(B.Softplus(2.0), D.Uniform(0.2, 1.5))": "T([.5, .9])",
    "B.Exp()(D.Normal(0.2, 1.5))": "T([.5, 2.])",
}
OTHER = """
D.Normal(0., 1.).log_prob(1.0)
D.Normal(0., 1.).log_prob([1.0])
D.Normal(0., 1.).log_prob(I([1]))
D.Normal(0., 1.).log_prob(H([1]))
D.Normal(H([0.]), H([1.]), dtype=F16).log_prob(H([1]))
D.Normal(0, 1).mean()
D.Normal(0, 1, dtype=I32)
D.Normal(0., 1., dtype=F64)
D.Normal(0., -1.)
D.Normal(0., 1., dtype='x')
D.Normal(0., 1., dtype=None)
D.Bernoulli(.3, dtype='x')
D.Gumbel(0., 1., dtype=None)
D.Normal(0., 1., seed=-1)
D.Normal(0., 0.)
D.Normal('a', 1.)
D.Normal(0., 1., seed='a')
D.Normal(0., 1., name=3)
D.Normal(None, 1.).prob(T([1.]))
D.Normal().prob(T([1.]))
D.Normal().prob(T([1.]), T([1.]))
D.Normal().prob(T([1.]), mean=T([1.]), sd=T([2.]))
D.Normal(1., 2.).prob(T([1.]), sd=T([3.]))
D.Normal(1., 2.).prob(T([1.]), 3., 4.)
D.Normal().mean()
D.Normal().sample((2,))
D.Normal(0., 1.).sample([2])
D.Normal(0., 1.).sample(2)
D.Normal(0., 1.).kl_loss('Uniform', T([0.]), T([1.]))
D.Normal(0., 1.).kl_loss(3, T([0.]), T([1.]))
D.Normal(0., 1.).kl_loss('Normal')
D.Normal(0., 1.).kl_loss('Normal', T([1.]), T([2.]), T([3.]), T([4.]))
D.Normal(0., 1.)('log_prob', T([1.]))
D.Normal(0., 1.)('nothing', T([1.]))
D.Normal([0., 1.], [[1.], [2.]]).batch_shape
D.Normal([0., 1.], [[1.], [2.]]).broadcast_shape
D.Normal([0., 1.], [[1.], [2.]]).is_scalar_batch
D.Normal([0., 1.], [[1.], [2.]]).mean()
D.Normal([0., 1.], [[1.], [2.]]).mode()
D.Normal([0., 1.], [[1.], [2.]]).entropy()
str(D.Normal([0., 1.], 1.))
str(D.Normal())
D.Normal(0., 1.).dtype
D.Normal(0., 1.).name
D.Normal(0., 1.).seed
D.Normal(0., 1., seed=5).seed
sorted(D.Normal(0., 1.).parameters)
D.Normal().batch_shape
D.Normal().is_scalar_batch
D.Uniform(2., 1.)
D.Uniform(0., 1., dtype=I32)
D.Uniform(0., 3.).kl_loss('Uniform', T([1.]), T([2.]))
D.Bernoulli(1.5)
D.Bernoulli(0.)
D.Bernoulli(1.)
D.Bernoulli(0.3, dtype=F32).prob(T([0., 1., .5, 2., -1.]))
D.Bernoulli(0.3).cdf(T([-1., 0., .5, 1., 2.]))
D.Bernoulli(0.7).mode()
D.Bernoulli(0.5).mode()
D.Bernoulli(0.3, dtype=F64)
D.Categorical([0.2, 0.9])
D.Categorical(0.2)
D.Categorical([-0.2, 1.2])
D.Categorical([[.2, .8], [.5, .5]]).log_prob(I([0, 1]))
D.Categorical([[.2, .8], [.5, .5]]).log_prob(I([[0], [1], [1]]))
D.Categorical([[.2, .8], [.5, .5]]).log_prob(I(1))
D.Categorical([.2, .8]).log_prob(I([0, 1, 1, 0]))
D.Categorical([.2, .8]).log_prob(I([[0, 1], [1, 0]]))
D.Categorical([.2, .8]).log_prob(T([0., 1.5, 2., -1.]))
D.Categorical([.2, .3, .5]).cdf(T([-1., 0., .5, 1., 2., 3.]))
D.Categorical([[.2, .3, .5], [.1, .1, .8]]).mean()
D.Categorical([[.2, .3, .5], [.1, .1, .8]]).sample((4,)).shape
D.Categorical([[.2, .3, .5], [.1, .1, .8]]).batch_shape
D.Exponential(0.)
D.Exponential(-1.)
D.Exponential(0.5).log_prob(T([0.]))
D.Exponential(2).mean()
D.Geometric(0.)
D.Geometric(1.)
D.Geometric(0.3).prob(T([-1., 0., 1., 1.5]))
D.Geometric(0.3).cdf(T([-1., 0., 1., 1.5]))
D.Geometric(0.3, dtype=F32).mode()
D.Gamma([0.], [1.])
D.Gamma(1., 1.)
D.Gamma([1.], [0.])
D.Gamma([1.], 1.)
D.Gamma([.5, 1., 2.], [1.]).mode()
D.Gamma([2.], [3.]).log_prob(T([0., -1.]))
D.Beta([0.], [1.])
D.Beta(1., 1.)
D.Beta([1.], [0.])
D.Beta([.5, 2.], [3.]).mode()
D.Beta([2.], [3.]).log_prob(T([0., 1., 1.5, -1.]))
D.Cauchy(0., 0.)
D.Gumbel(0., 0.)
D.Gumbel([0., 1.], 1.).mean()
D.Gumbel(0.5, 2.0).log_prob(T([1., 2.]))
D.Gumbel(0.5, 2.0).kl_loss('Gumbel', T([1.]), T([2.]))
D.Gumbel(0.5, 2.0).cross_entropy('Gumbel', T([1.]), T([2.]))
D.LogNormal(0., 0.)
D.LogNormal([0., 1.], 1.).mean()
D.Logistic(0., 0.)
D.Poisson([0.])
D.Poisson(1.)
D.Poisson([.5, 2., 3.]).mode()
D.HalfNormal(0., 0.)
D.HalfNormal(0., -1.)
D.Laplace(0., 0.)
D.Laplace([0., 1.], 2.).log_prob(T([[1., 2.], [3., 4.]]))
D.StudentT(0., 0., 1.)
D.StudentT(1., 0., 0.)
D.StudentT([2., 3.], 1., 2.).log_prob(T([1., 2.]))
D.TransformedDistribution(3, D.Normal(0., 1.))
D.TransformedDistribution(B.Exp(), 3)
D.TransformedDistribution(B.Exp(), D.Normal())
D.TransformedDistribution(B.Exp(), D.Normal(0., 1.)).dtype
D.TransformedDistribution(B.Exp(), D.Normal(0., 1.)).is_linear_transformation
D.TransformedDistribution(B.ScalarAffine(1., 2.), D.Normal(0., 1.)).is_linear_transformation
D.TransformedDistribution(B.Exp(), D.Normal(0., 1.)).sample((2, 3)).shape
D.TransformedDistribution(B.Exp(), D.Normal(0., 1.)).sd()
D.TransformedDistribution(B.Exp(), D.Normal(0., 1.)).entropy()
B.Exp().forward(2.0)
B.Exp().forward(I([1, 2]))
B.Exp().forward(H([1, 2]))
B.Exp()('forward', T([1.]))
B.Exp()('nothing', T([1.]))
B.Exp()(3)
B.Exp().name
B.Exp().is_injective
B.Exp().is_constant_jacobian
B.Exp().dtype
B.ScalarAffine().is_constant_jacobian
B.ScalarAffine(2., 1.).scale
B.ScalarAffine([2., 1.], 1.).batch_shape
B.ScalarAffine(2., 1.).dtype
B.ScalarAffine(2, 1).forward(T([1.]))
B.ScalarAffine('a', 1)
B.ScalarAffine(H([1.]), T([1.]))
B.PowerTransform(-1.)
B.PowerTransform(2).power
B.Softplus(2).sharpness
B.Softplus(0.)
B.GumbelCDF(0., 0.)
B.GumbelCDF(0., 1.).loc
B.Invert(3)
B.Invert(B.Exp()).name
B.Invert(B.Exp()).bijector.name
B.Invert(B.Exp(), name='x').name
str(B.Exp())
str(B.ScalarAffine(2., 1.))
str(B.ScalarAffine([2., 1.], 1.))
str(B.Invert(B.Exp()))
str(B.PowerTransform(.5))
str(B.Softplus(2.))
str(B.GumbelCDF(1., 2.))
D.HalfNormal(0.5, 2.0).log_prob(T([-1.,0.2,0.5,.6,2.]))
D.HalfNormal(T([0.5]), T([2.0])).log_prob(T([-1.,0.2,0.5,.6,2.]))
D.Normal(0.,1.).default_parameters
D.Normal(0.,1.).parameter_names
D.Normal(0.,1.).parameter_type
D.Bernoulli(.3).parameter_type
D.Normal(T([1.]), H([1.]))
D.Normal(H([1.]), H([1.])).mean()
D.Normal(H([1.]), 1.).mean()
D.Normal(0.,1.,dtype=F16).mean()
D.Normal(0.,1.,dtype=F16).log_prob(T([1.]))
D.Normal(0.,1.,dtype=F16).sample((2,)).dtype
D.Normal(I([1]), I([1])).mean()
D.Normal(0.,1.).seed
D.Normal([0.,1.],1.).sample((2,),T([1.,2.]),T([[1.],[2.]])).shape
D.Normal(0.,1.).sample(()).shape
D.Normal(0.,1.)._mean_value
D.Normal(0.,1.)._sd_value
D.Uniform(0.,1.).low
D.Uniform(0.,1.).high
D.Bernoulli(.3).probs
D.Gamma([1.],[2.]).rate
D.LogNormal(0.,1.).loc
D.LogNormal(0.,1.).bijector
D.Gumbel(0.,1.).distribution
D.LogNormal(0.,1.).is_linear_transformation
D.Poisson(I([2]))
B.Bijector(3,name='x')
B.Bijector(name=3)
B.ScalarAffine(H([2.]),H([1.])).forward(T([1.]))
B.Exp().batch_shape
B.Exp().is_scalar_batch
D.TransformedDistribution(B.Exp(),D.Normal()).sample((2,),T([0.]),T([1.])).shape
D.TransformedDistribution(B.Exp(),D.Normal()).log_prob(T([2.]),T([0.]),T([1.]))
D.TransformedDistribution(B.ScalarAffine(-1.,0.),D.Normal(0.,1.)).cdf(T([1.]))
D.TransformedDistribution(B.Exp(),D.Normal(0.,1.)).get_dist_type()
D.TransformedDistribution(B.Exp(),D.Bernoulli(.3))
D.TransformedDistribution(B.Exp(),D.Normal(0.,1.),name='q').name
D.TransformedDistribution(B.Exp(),D.Normal(0.,1.)).log_prob(2.)
D.TransformedDistribution(B.ScalarAffine(-1.,0.),D.Normal(0.,1.)).mode()
D.TransformedDistribution(B.ScalarAffine(2.,0.),D.Normal(0.,1.)).var()
D.Bernoulli(.3).cdf(T([.3]))
D.Bernoulli([.3,.4]).entropy()
D.Exponential([.3,.4]).sample((3,)).shape
D.Logistic([.3,.4],1.).sd()
D.Cauchy([.3,.4],1.).entropy()
D.Uniform([.3,.4],1.).entropy()
D.Uniform([.3,.4],1.).mean()
D.Gumbel([.3,.4],1.).entropy()
D.LogNormal([.3,.4],1.).entropy()
D.LogNormal([.3,.4],1.).mode()
D.Gamma([.3,.4],[1.]).entropy()
D.Beta([.3,.4],[1.]).entropy()
D.Normal(0.,1.).prob(T([1.]),T([1.]),T([1.]),T([1.]))
D.Normal(0.,1.).prob(T([1.]),bad=T([1.]))
D.Normal(0.,1.).cdf()
D.Normal(0.,1.).mean(I([1]),I([2]))
D.Normal(0.,1.).mean(H([1]),H([2]))
D.Categorical([.2,.8]).cdf(I([[0,1],[1,0]]))
D.Categorical([[.2,.8],[.5,.5]]).cdf(I([[0],[1],[1]]))
D.Categorical([[.2,.8],[.5,.5]]).kl_loss('Categorical',T([.5,.5]))
D.Categorical([.2,.8]).log_survival(I([0,1,1,0]))
D.Geometric(.3).log_cdf(T([-1.,.5]))
D.Poisson([2.]).log_survival(T([-1.,.5]))
D.Uniform(0.,1.).prob(T([0.,1.]))
D.Uniform(0.,1.).cdf(T([-1.,1.]))
str(D.Cauchy())
str(D.Categorical())
str(D.Categorical([[.2,.8],[.5,.5]]))
str(D.LogNormal())
D.Normal(0.,1.,dtype=F64).mean()
D.Normal(0.,1.,dtype=F64).sample((2,)).dtype
D.HalfNormal(0.,1.).log_prob(T([0.]))
D.Categorical([0.,1.])
D.Categorical([.2,.8,0.]).entropy()
D.Categorical([[.2,.8],[.5,.5]]).is_scalar_batch
D.Categorical([[.2,.8],[.5,.5]]).broadcast_shape
B.ScalarAffine(2.,1)
B.ScalarAffine([2],[1])
B.ScalarAffine(2.,I([1]))
B.ScalarAffine(0.,1.)
B.PowerTransform('a')
B.ScalarAffine(None,1.)
D.Normal(True,1.)
D.Normal([[1.],[1.,2.]],1.)
D.Normal([1.,2.],[1.,2.,3.])
D.Uniform([0.,2.],[1.])
D.Gumbel(0.,1.,dtype=I32)
D.Gumbel(0.,1.).sample((2,)).dtype
D.Gumbel(None,1.)
D.Bernoulli(.3).sample((2,),T([.5,.5,.5])).dtype
D.Bernoulli(.3,dtype=F32).sample().dtype
D.Geometric(.3,dtype=F32).sample().dtype
D.Categorical([.3,.7],dtype=F32).sample().dtype
D.Categorical([.3,.7],dtype=F32).mode().dtype
D.Bernoulli(H([.3])).mean()
D.LogNormal(H([.3]),H([1.])).mean()
D.Beta([2.],[3.]).prob(T([2.]))
D.Gamma([1.],[3.]).log_prob(T([0.]))
D.Poisson([2.]).prob(I([2]))
D.Normal(0.,1.).cross_entropy('Uniform',T([1.]),T([1.]))
D.Normal(0.,1.).kl_loss('Normal',1.,1.)
D.Normal(0.,1.).entropy(3.)
D.Normal(0.,1.)('get_dist_args')
D.Normal(0.,1.)('get_dist_type')
D.Normal(0.,1.)('sample',(2,)).shape
D.Normal(0.,1.)(3)
D.Uniform(0.,1.).kl_loss('Uniform',T([0.]),T([1.]))
D.Bernoulli(dtype=I32)
D.Bernoulli(dtype=F32)
D.Bernoulli(dtype=F64)
D.Categorical(dtype=I32)
D.Categorical(dtype=F32)
D.Categorical(dtype=F64)
D.Exponential(dtype=I32)
D.Exponential(dtype=F32)
D.Exponential(dtype=F64)
D.Geometric(dtype=I32)
D.Geometric(dtype=F32)
D.Geometric(dtype=F64)
D.Cauchy(dtype=I32)
D.Cauchy(dtype=F32)
D.Cauchy(dtype=F64)
D.Logistic(dtype=I32)
D.Logistic(dtype=F32)
D.Logistic(dtype=F64)
D.Poisson(dtype=I32)
D.Poisson(dtype=F32)
D.Poisson(dtype=F64)
D.HalfNormal(dtype=I32)
D.HalfNormal(dtype=F32)
D.HalfNormal(dtype=F64)
D.Laplace(dtype=I32)
D.Laplace(dtype=F32)
D.Laplace(dtype=F64)
D.StudentT(dtype=I32)
D.StudentT(dtype=F32)
D.StudentT(dtype=F64)
"""


def cases():
    found = []
    for name, (fixed, given, second, values) in DISTRIBUTIONS.items():
        own, free = f"D.{name}({fixed})", f"D.{name}()"
        found += [f"{own}.{method}({values})" for method in OF_VALUE]
        found += [f"{own}.{method}()" for method in OF_PARAMETERS]
        found += [f"{own}.{method}('{name}', {second})" for method in ("kl_loss", "cross_entropy")]
        found += [f"{own}.sample(){end}" for end in (".shape", ".dtype")]
        found += [f"{own}.sample((2, 3)).shape", f"str({own})", f"{own}.get_dist_type()"]
        found += [f"{own}.is_scalar_batch", f"{own}.batch_shape", f"{own}.dtype", f"{own}.name", f"{free}.{OF_PARAMETERS[0]}()"]
        if given:
            found += [f"{free}.{method}({values.replace(', 2., 2.5', '')}, {given})" for method in OF_VALUE]
            found += [f"{free}.{method}({given})" for method in OF_PARAMETERS]
            found += [f"{free}.{method}('{name}', {second}, {given})" for method in ("kl_loss", "cross_entropy")]
            found += [f"{free}.sample((4,), {given}).shape"]
    for maker, values in BIJECTORS.items():
        found += [f"B.{maker}.{method}({values})" for method in ("forward", "inverse", "forward_log_jacobian", "inverse_log_jacobian")]
    for maker, values in TRANSFORMED.items():
        found += [f"{maker}.{method}({values})" for method in OF_VALUE] + [f"{maker}.mean()", f"{maker}.batch_shape", f"{maker}.name"]
    return found + OTHER.strip().splitlines()


def names(framework):
    """What the expressions may name, of the package given."""
    from importlib import import_module
    tensor = lambda kind: lambda values: framework.Tensor(np.array(values, kind))  # noqa: E731
    return {"D": import_module(framework.__name__ + ".nn.probability.distribution"), "T": tensor(np.float32), "I": tensor(np.int32),
            "B": import_module(framework.__name__ + ".nn.probability.bijector"), "H": tensor(np.float16),
            "F16": framework.float16, "F32": framework.float32, "F64": framework.float64, "I32": framework.int32}


def plain(framework, value):
    """An answer as JSON can hold it."""
    if isinstance(value, framework.Tensor):
        return {"dtype": str(value.dtype), "shape": list(value.shape), "values": [str(item) for item in value.asnumpy().reshape(-1)]}
    if isinstance(value, (tuple, list)):
        return [plain(framework, item) for item in value]
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


def answer(framework, expression, namespace):
    try:
        return {"is": plain(framework, eval(expression, dict(namespace)))}
    except Exception as error:  # every kind of refusal is an answer
        return {"raises": type(error).__name__, "says": str(error).strip().splitlines()[0][:160]}
