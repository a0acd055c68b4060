"""The ranks of a job on ``torch.distributed``: sums, decisions, exchanges, and their end.

A rank that dies closes its connections, so that the next call of every other rank fails; that
failure becomes a :class:`~ppro.errors.RankError` that names the remedy.
"""

import datetime
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor
from torch import distributed as dist

from ppro.compute.interrupts import CtrlC
from ppro.compute.ranks import Ranks
from ppro.distributed.interrupts import SharedInterrupts
from ppro.errors import RankError, SettingsError

TIMEOUT = datetime.timedelta(minutes=30)
"""How long a rank waits for one that is silent but not known to be dead."""

_SAID = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
_BROKEN = re.compile(r"connect|peer|socket|timed out|timeout|transport", re.IGNORECASE)
"""What gloo says where the fault lies in the network or at its other end."""


@dataclass
class Traffic:
    """What a rank has handed to the network: payload, without headers.

    Args:
        exchanges: boundary exchanges.
        exchanged: bytes sent in them.
        reductions: sums and maxima over the ranks.
        reduced: bytes of their operands.
    """

    exchanges: int = 0
    exchanged: int = 0
    reductions: int = 0
    reduced: int = 0


class RankGroup(Ranks):
    """The ranks of the process group that :func:`joined` has made."""

    def __init__(self) -> None:
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.traffic = Traffic()

    def sum(self, values: Tensor) -> Tensor:
        """Return the sum over the ranks; every rank gets the same bits."""
        return self._reduced(values, dist.ReduceOp.SUM)

    def max(self, values: Tensor) -> Tensor:
        """Return the largest over the ranks."""
        return self._reduced(values, dist.ReduceOp.MAX)

    def all(self, flag: bool) -> bool:
        """Tell whether the flag is set on every rank."""
        unset = torch.tensor([0 if flag else 1], dtype=torch.uint8)
        return int(self.max(unset)) == 0

    def gather(self, values: Tensor) -> Tensor:
        """Return the values of every rank, one after the other along the second dimension.

        Ranks may hold different numbers of rows. Shapes: ``[R, m, ...]`` to ``[R, sum of m, ...]``.
        """
        if self.size == 1:
            return values
        rows = values.detach().transpose(0, 1).contiguous()
        counts = torch.zeros(self.size, dtype=torch.int64, device=values.device)
        counts[self.rank] = rows.shape[0]
        counts = self.sum(counts)
        padded = rows.new_zeros(int(counts.max()), *rows.shape[1:])
        padded[: rows.shape[0]] = rows
        parts = [torch.empty_like(padded) for _ in range(self.size)]
        self.traffic.reductions += 1
        self.traffic.reduced += padded.numel() * padded.element_size()
        with speaking():
            dist.all_gather(parts, padded)
        found = [part[:count] for part, count in zip(parts, counts.tolist(), strict=True)]
        return torch.cat(found).transpose(0, 1)

    def _reduced(self, values: Tensor, how: dist.ReduceOp.RedOpType) -> Tensor:
        out = values.detach().clone(memory_format=torch.contiguous_format)
        self.traffic.reductions += 1
        self.traffic.reduced += out.numel() * out.element_size()
        with speaking():
            dist.all_reduce(out, how)
        return out

    def exchange(
        self, sent: Tensor, sent_counts: Sequence[int], out: Tensor, out_counts: Sequence[int]
    ) -> Callable[[], None]:
        """Send rows to every rank and receive theirs; returns what waits for them.

        Args:
            sent: rows by the rank they go to. Shape ``[s, d]``, contiguous.
            out: where rows are received, by the rank they come from. Shape ``[g, d]``.
        """
        self.traffic.exchanges += 1
        self.traffic.exchanged += sent.numel() * sent.element_size()
        if self.size == 1:
            return _nothing
        with speaking():
            work = dist.all_to_all_single(
                out, sent, list(out_counts), list(sent_counts), async_op=True
            )
        assert work is not None

        def wait(kept: Tensor = sent) -> None:
            with speaking():
                work.wait()

        return wait

    def from_first(self, values: Tensor) -> Tensor:
        """The values of rank 0, on every rank; shape and type must be the same everywhere."""
        whole = values.contiguous()
        # As bytes: gloo does not know every type.
        with speaking():
            dist.broadcast(whole.reshape(-1).view(torch.uint8), 0)
        return whole

    def text_from_first(self, text: str) -> str:
        """Return a text of rank 0, on every rank."""
        content = torch.frombuffer(bytearray(text.encode() or b" "), dtype=torch.uint8)
        length = self.from_first(torch.tensor([content.shape[0]]))
        if self.rank:
            content = torch.empty(int(length), dtype=torch.uint8)
        return self.from_first(content).numpy().tobytes().decode()

    def texts(self, text: str) -> list[str]:
        """Return the texts of all ranks, on every rank."""
        content = torch.frombuffer(bytearray(text.encode() or b" "), dtype=torch.uint8)
        lengths = torch.zeros(self.size, dtype=torch.int64)
        lengths[self.rank] = content.shape[0]
        whole = self.gather(content.unsqueeze(0)).squeeze(0)
        parts = torch.split_with_sizes(whole, self.sum(lengths).tolist())
        return [part.numpy().tobytes().decode() for part in parts]

    def send_to_first(self, values: Tensor) -> None:
        """Send a tensor on the CPU to rank 0, which calls :meth:`receive`."""
        with speaking():
            dist.send(values.contiguous(), 0)

    def receive(self, out: Tensor, rank: int) -> Tensor:
        """Receive what another rank sent to this one, rank 0."""
        with speaking():
            dist.recv(out, rank)
        return out

    def wait(self) -> None:
        """Wait for all ranks to come here."""
        self.all(True)

    def interrupts(self) -> CtrlC:
        """Ctrl-C and the end that torchrun asks for, heeded by all ranks after the same epoch."""
        return SharedInterrupts(self)


def _nothing() -> None:
    return None


@contextmanager
def speaking() -> Iterator[None]:
    """Turn the failure of a call to other ranks into an error that names a remedy."""
    try:
        yield
    except RuntimeError as error:
        if not isinstance(error, dist.DistError) and not _BROKEN.search(str(error)):
            raise
        # Without the place in the source of gloo, and without its advice.
        reason = re.sub(r"^\[\S+\] ", "", str(error).strip()).splitlines()[0].split(". ")[0]
        raise RankError(
            "another rank has died or cannot be reached, so the job ends here; start it again, "
            f"with --resume to go on from the last checkpoint ({reason})"
        ) from None


def device_of_rank(device: torch.device) -> torch.device:
    """Return the device of this rank where every rank of a machine has a GPU of its own.

    Raises:
        SettingsError: there are fewer GPUs than ranks on this machine.
    """
    if device.type != "cuda":
        return device
    local, there = number_said("LOCAL_RANK", 0), torch.cuda.device_count()
    if local >= there:
        raise SettingsError(
            f"rank {local} of this machine has no GPU of its own, there are {there}; start "
            "fewer ranks on it, or use --device cpu"
        )
    torch.cuda.set_device(local)
    return torch.device("cuda", local)


def number_said(name: str, otherwise: int) -> int:
    """Return a number that torchrun has put into the environment.

    Raises:
        SettingsError: it is none.
    """
    text = os.environ.get(name)
    if text is None:
        return otherwise
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise SettingsError(f"{name}={text!r}: not a number; unset it, or start with torchrun")
    return int(text)


@contextmanager
def joined() -> Iterator[RankGroup]:
    """Join the ranks of this job while the context lasts; the environment says which they are.

    Boundary rows go by gloo, or by NCCL where they are on GPUs.

    Raises:
        RankError: not all ranks came, or one has died.
        SettingsError: the environment does not say who they are.
    """
    missing = [name for name in _SAID if name not in os.environ]
    if missing:
        raise SettingsError(f"{missing[0]} is not set: start several ranks with torchrun")
    rank, size = number_said("RANK", 0), number_said("WORLD_SIZE", 1)
    number_said("MASTER_PORT", 0)
    if rank >= size:
        raise SettingsError(f"RANK={rank} of WORLD_SIZE={size}; ranks begin at 0, use torchrun")
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    with speaking():
        dist.init_process_group(backend, timeout=TIMEOUT)
    lost = False
    try:
        yield RankGroup()
    except RankError:
        # A call that a dead rank will never answer may still be waiting: so would the closing.
        lost = True
        raise
    finally:
        if not lost:
            dist.destroy_process_group()
