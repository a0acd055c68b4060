"""An epoch as one CUDA graph: small graphs are bound by kernel launches, and a replay is one."""

from collections.abc import Callable

import torch

WARM_UP = 3
"""Epochs run before the recording, so that libraries and buffers are set up."""


class Replay:
    """Calls a function of device work, recorded once as a CUDA graph and replayed from then on.

    The function must take nothing, return nothing, update its tensors in place and never wait for
    the device. Its first calls run as they are.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self.work = work
        self.calls = 0
        self.graph: torch.cuda.CUDAGraph | None = None
        self.stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]

    def __call__(self) -> None:
        """Do the work once."""
        self.calls += 1
        if self.graph is not None:
            self.graph.replay()
            return
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            self.work()
        torch.cuda.current_stream().wait_stream(self.stream)
        if self.calls == WARM_UP:
            self._record()

    def _record(self) -> None:
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=self.stream):
            self.work()
