#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks that torch writes as ONNX, by both of its exporters, run in spore and compared with ONNX Runtime.

    torch_exports.py make FOLDER [NAME ...]    writes FOLDER/*.onnx and, in .npz files, inputs and ONNX Runtime's outputs; needs torch,
                                               torchvision, onnxscript and onnxruntime, and some minutes
    torch_exports.py run FOLDER [NAME ...]     runs them in spore; the last line is the sum

Networks have random weights. What an exporter cannot write, or ONNX Runtime cannot run, is left out and named. Outputs must agree within 1e-3 of
their largest element (float16: 1e-2), or 1e-5.
"""
import sys
import warnings
from pathlib import Path

import numpy as np

TORCHVISION = ("resnet18 mobilenet_v2 mobilenet_v3_small densenet121 squeezenet1_1 shufflenet_v2_x0_5 mnasnet0_5 efficientnet_b0 regnet_y_400mf "
               "convnext_tiny swin_t swin_v2_t").split()
# Functions of x (5, 3), floats, and i = [4, 0, 2, 1].
EXPRESSIONS = """x[i]; x[:,i[1:3]%3]; x[i[:3],i[1:4]%3]; torch.gather(x,1,(i[None,:3]%3).expand(2,3)); x.scatter(0,i[None,:3],x[:1,:3]*2); x.index_select(0,i);
torch.where(x>0,x,-x); x.masked_fill(x>0.5,9.); x.topk(2,1)[0]; x.topk(2,1,largest=False)[1]; x.sort(0,descending=True)[1]; x.argmax(1); x.cumsum(0); x.flip(1);
x.roll(1,0); x.tril(); x.triu(1); x.unfold(0,2,1); x.index_add(0,i[:2],x[:2]); x.std(0); x.var(1); x.norm(dim=1); torch.einsum("ij,kj->ik",x,x);
x.scatter_add(0,i[None,:3],x[:1,:3]); (x>0).all(0); x.prod(1); x.logsumexp(1); torch.stack([x,x],1); x.repeat_interleave(2,0); x.chunk(2,0)[1]; torch.cdist(x,x);
x.round(); x.fmod(0.3); torch.remainder(x,0.3); x.frac(); torch.atan2(x,x+1); torch.nonzero(x>0); x[x>0]; torch.bucketize(x,torch.tensor([-1.,0,1.])); F.one_hot(i,6);
torch.tensordot(x,x,([0],[0])); x.amax(0); x.min(1)[1]; torch.outer(x[0],x[1]); torch.cumprod(x,1); F.cosine_similarity(x,x.flip(0)); x.erf(); x.log1p();
x.floor_divide(0.3); torch.logical_xor(x>0,x<1); i.bitwise_and(3); F.cross_entropy(x,torch.tensor([0,1,2,0,1])); F.binary_cross_entropy_with_logits(x,(x>0).float());
F.smooth_l1_loss(x,x*2); torch.meshgrid(x[0],x[1],indexing="ij")[0]; x.unique(); x.addmm(x,x[:3]); torch.kron(x[:2],x[:2]); x.diff(dim=0); x.index_fill(0,i[:2],2.);
x.quantile(0.5); torch.lerp(x,x*2,0.3); torch.heaviside(x,x); x.argsort(1); x.cummax(0)[0]; x.kthvalue(2,1)[0]; torch.rot90(x); torch.block_diag(x,x);
torch.logcumsumexp(x,0); torch.isin(i,torch.tensor([1,2])); x.unflatten(0,(5,1)); torch.sinc(x); x.slice_scatter(x[:2],0,1,3); torch.clamp(x,min=x[0],max=x[1]);
-i//2; torch.fft.fft(torch.complex(x,x)).real; torch.view_as_complex(torch.stack([x,x],-1)).abs()""".replace("\n", " ").split("; ")


def cases():
    """name -> (network, arguments, {axis: None} that are free in the first of them)"""
    import torch
    import torch.nn.functional as F
    import torchvision
    from torch import nn
    models, random = torchvision.models, torch.randn

    class Picked(nn.Module):
        def __init__(self, inner, pick):
            super().__init__()
            self.inner, self.pick = inner, pick

        def forward(self, *arguments):
            return self.pick(self.inner(*arguments))

    class Function(nn.Module):
        def __init__(self, function):
            super().__init__()
            self.function = function

        def forward(self, *arguments):
            return self.function(*arguments)

    found = {name: (models.get_model(name, weights=None), (random(2, 3, 64, 64),), (0,)) for name in TORCHVISION}
    plain = dict(weights=None, weights_backbone=None)
    found["vit"] = models.VisionTransformer(32, 8, 2, 4, 64, 128), (random(2, 3, 32, 32),), (0,)
    found["deeplab"] = Picked(models.segmentation.deeplabv3_mobilenet_v3_large(**plain), lambda o: o["out"]), (random(1, 3, 64, 96),), (0, 2, 3)
    found["video"] = models.video.r3d_18(weights=None), (random(1, 3, 4, 32, 32),), ()
    found["raft"] = Picked(models.optical_flow.raft_small(weights=None), lambda o: o[-1]), (random(1, 3, 128, 128), random(1, 3, 128, 128)), ()
    found["ssdlite"] = models.detection.ssdlite320_mobilenet_v3_large(**plain), ([torch.rand(3, 320, 320)],), ()
    found["fasterrcnn"] = models.detection.fasterrcnn_mobilenet_v3_large_320_fpn(**plain), ([torch.rand(3, 200, 200)],), ()
    found["retinanet"] = models.detection.retinanet_resnet50_fpn(**plain, min_size=160, max_size=200), ([torch.rand(3, 160, 160)],), ()
    for name, layer in (("lstm", nn.LSTM(8, 16, 2, batch_first=True)), ("gru", nn.GRU(8, 16, batch_first=True)), ("rnn", nn.RNN(8, 16, batch_first=True)),
                        ("bilstm", nn.LSTM(8, 16, batch_first=True, bidirectional=True)), ("bigru", nn.GRU(8, 6, 2, bidirectional=True))):
        found[name] = Picked(layer, lambda o: o[0]), (random(3, 7, 8),), (0, 1)
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, activation="gelu")
    found["encoder"] = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), (random(2, 9, 32),), (0, 1)
    found["transformer"] = nn.Transformer(32, 4, 2, 2, 64, batch_first=True), (random(2, 9, 32), random(2, 5, 32)), ()
    found["unet"] = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(4, 8), nn.SiLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.InstanceNorm2d(16, affine=True),
                                  nn.Mish(), nn.ConvTranspose2d(16, 8, 4, 2, 1, groups=4)), (random(2, 3, 16, 16),), (0, 2, 3)
    found["attention"] = Function(lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True)), (random(2, 4, 7, 8),), (0, 2)
    found["half"] = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 5)).half(), (random(2, 3, 8, 8).half(),), ()
    found["branch"] = Function(lambda x: torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))), (random(5, 3),), ()
    corners = torch.rand(8, 2) * 3
    boxes = torch.cat([corners, corners + torch.rand(8, 2) * 2], 1)
    regions = lambda b, s, x: (torchvision.ops.nms(b, s, 0.3), torchvision.ops.roi_align(x, [b[:3] * 4], (2, 2), 0.25),
                               torchvision.ops.roi_pool(x, [b[:3] * 4], (2, 2), 0.25))
    found["regions"] = Function(regions), (boxes, torch.rand(8), random(1, 3, 12, 12)), ()
    for k, text in enumerate(EXPRESSIONS):
        found[f"expression{k:02d}"] = Function(eval(f"lambda x, i: ({text})", {"torch": torch, "F": F})), (random(5, 3), torch.tensor([4, 0, 2, 1])), ()
    return found


def flat(value):
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in flat(v)]
    return [value]


def write(network, arguments, free, path, new):
    import torch
    names = [f"in{k}" for k in range(len(flat(arguments)))]
    if not new:
        torch.onnx.export(network, arguments, path, dynamo=False, opset_version=17, input_names=names, dynamic_axes={"in0": {k: f"size{k}" for k in free}})
        return
    shapes = tuple({k: torch.export.Dim.DYNAMIC for k in free} if n == 0 and free else None for n in range(len(arguments)))
    torch.onnx.export(network, arguments, path, dynamo=True, input_names=names, external_data=False, verbose=False, dynamic_shapes=shapes if free else None)


def make(folder, wanted):
    import onnxruntime
    import torch
    torch.manual_seed(1)
    for name, (network, arguments, free) in cases().items():
        if wanted and name not in wanted:
            continue
        for new in (False, True):
            path = folder / f"{name}.{'dynamo' if new else 'script'}.onnx"
            try:
                write(network.eval(), arguments, free, str(path), new)
                session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
                given = {i.name: t.numpy() for i, t in zip(session.get_inputs(), flat(arguments))}
                answers = session.run(None, given)
            except Exception as error:  # pylint: disable=broad-exception-caught
                print("left out:", path.stem, str(error).replace("\n", " ")[:100], flush=True)
                path.unlink(missing_ok=True)
                continue
            np.savez(path.with_suffix(".npz"), **{f"in_{k}": v for k, v in given.items()}, **{f"out_{k}": v for k, v in enumerate(answers)})
            print("made", path.stem, flush=True)


def differences(found, answers):
    if len(found) != len(answers):
        yield f"{len(found)} outputs of {len(answers)}"
    for k, (got, want) in enumerate(zip(found, answers)):
        got = got.asnumpy()
        if got.shape != want.shape or got.dtype != want.dtype:
            yield f"output {k} is {got.dtype}{got.shape}, not {want.dtype}{want.shape}"
            continue
        limit = (1e-2 if want.dtype == np.float16 else 1e-3) * np.abs(want).max(initial=0) + 1e-5
        if not np.allclose(got.astype("f8"), want.astype("f8"), rtol=0, atol=limit, equal_nan=True):
            yield f"output {k} differs by {np.abs(got.astype('f8') - want.astype('f8')).max():.3g}, {limit:.3g} allowed"


def run(folder, wanted):
    import spore
    equal = total = 0
    for path in sorted(folder.glob("*.onnx")):
        if (wanted and path.stem.split(".")[0] not in wanted) or not path.with_suffix(".npz").exists():
            continue
        total += 1
        with np.load(path.with_suffix(".npz")) as held:
            answers = [held[f"out_{k}"] for k in range(sum(n.startswith("out_") for n in held.files))]
            given = {n[3:]: held[n] for n in held.files if n.startswith("in_")}
        try:
            net = spore.onnx.load(str(path))
            found = net(*[spore.Tensor(given[n]) for n in net.input_names])
            wrong = list(differences(found if isinstance(found, tuple) else (found,), answers))
        except Exception as error:  # pylint: disable=broad-exception-caught
            wrong = [repr(error)[:200]]
        equal += not wrong
        if wrong:
            print(path.stem, "; ".join(wrong), flush=True)
    print(f"{equal} of {total} files give ONNX Runtime's outputs")


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    Path(sys.argv[2]).mkdir(parents=True, exist_ok=True)
    {"make": make, "run": run}[sys.argv[1]](Path(sys.argv[2]), sys.argv[3:])
