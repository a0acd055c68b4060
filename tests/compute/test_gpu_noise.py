"""The fused dropout against the plain one; runs where there is a GPU."""

from __future__ import annotations

import pytest
import torch

from ppro.compute.noise import Noise, matrix_ids

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def noise_on(device: str, runs: int) -> Noise:
    seeds = Noise.hashed_seeds(torch.arange(runs)).to(device)
    rates = torch.linspace(0, 0.9, runs).to(device)
    return Noise(seeds, rates, torch.tensor(7, dtype=torch.int32, device=device))


@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_masks_and_gradients_are_those_of_the_cpu(
    runs: int, shared: bool, dtype: torch.dtype
) -> None:
    ids = matrix_ids(torch.arange(211), 13).unsqueeze(0)
    values = torch.randn(1 if shared else runs, 211, 13, dtype=dtype)
    weight = torch.randn(runs, 211, 13, dtype=dtype)
    found = []
    for device in ("cpu", "cuda"):
        own = values.to(device).requires_grad_()
        out = noise_on(device, runs).drop(own, ids.to(device), 4)
        (grad,) = torch.autograd.grad((out * weight.to(device)).sum(), own)
        found.append((out.detach().cpu(), grad.cpu()))
    (cpu, cpu_grad), (gpu, gpu_grad) = found
    assert torch.equal(cpu == 0, gpu == 0)
    torch.testing.assert_close(cpu, gpu)
    torch.testing.assert_close(cpu_grad, gpu_grad)


def test_scale_too() -> None:
    ids = matrix_ids(torch.arange(50), 9).unsqueeze(0)
    cpu, gpu = (noise_on(d, 4).scale(ids.to(d), 2).cpu() for d in ("cpu", "cuda"))
    torch.testing.assert_close(cpu, gpu)
