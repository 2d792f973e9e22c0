"""Several processes that train one model: each has a part of every batch, and gradients are added up."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, distributed, nn

from karat.errors import InputError, KaratError
from karat.matching.workers import follow_parent, start_of_workers


@dataclass(frozen=True, slots=True)
class World:
    """Which process this is, of how many."""

    rank: int = 0
    size: int = 1

    def add_up(self, model: nn.Module, *values: Tensor) -> tuple[Tensor, ...]:
        """Makes the gradients of all processes their sum, in one message; gives the sums of the values."""
        if self.size == 1 or not distributed.is_initialized():
            return values
        gradients = [each.grad for each in model.parameters() if each.grad is not None]
        parts = [*(each.reshape(-1) for each in gradients), *(value.reshape(1) for value in values)]
        flat = torch.cat(parts)
        distributed.all_reduce(flat)
        for gradient in gradients:
            gradient.copy_(flat[: gradient.numel()].view_as(gradient))
            flat = flat[gradient.numel() :]
        return tuple(flat.unbind())

    def mean(self, value: float) -> float:
        """The mean of what all processes have, the same in each of them."""
        if self.size == 1 or not distributed.is_initialized():
            return value
        total = torch.tensor(value, dtype=torch.float64)
        distributed.all_reduce(total)
        return float(total) / self.size


Work = Callable[..., None]  # (world, *arguments, tell)


def on_processes(size: int, work: Work, arguments: tuple[Any, ...], tell: Callable[[Any], None] | None) -> None:
    """Calls `work` in so many processes that can add up; what the first one tells is told here.

    Raises what a process raises, as an InputError, and ends the others.
    """
    context = torch.multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        store = f"file://{Path(folder, 'store')}"
        pipes = [context.Pipe(duplex=False) for _ in range(size)]  # a queue would leave semaphores after a signal
        processes = [
            context.Process(target=_process, args=(World(rank, size), store, work, arguments, pipe[1]), daemon=True)
            for rank, pipe in enumerate(pipes)
        ]
        try:
            for process, (_, sender) in zip(processes, pipes, strict=True):
                with start_of_workers():
                    process.start()
                sender.close()  # so that the other end is closed with the process
            _listen({receiver: process for process, (receiver, _) in zip(processes, pipes, strict=True)}, tell)
        finally:
            for process in processes:
                if process.is_alive():
                    process.terminate()
                process.join()


def _listen(processes: dict[Any, Any], tell: Callable[[Any], None] | None) -> None:
    """Tells what processes say, by the ends of their pipes, until all of them have ended."""
    heard = dict(processes)
    while heard:
        for receiver in wait(list(heard)):
            try:
                _hear(receiver, tell)  # type: ignore[arg-type]
            except (EOFError, ConnectionError):
                process = heard.pop(receiver)
                process.join()
                if process.exitcode:
                    _failed(heard)


def _hear(receiver: Connection, tell: Callable[[Any], None] | None) -> None:
    said = receiver.recv()
    if isinstance(said, str):
        raise InputError(said)
    if tell is not None:
        tell(said)


def _failed(others: Iterable[Any]) -> None:
    """Raises what another process says of why one has failed: it may have failed for want of that one."""
    for receiver in others:
        with suppress(EOFError, ConnectionError):
            while receiver.poll():
                _hear(receiver, None)
    raise KaratError("a process of the training ended; it may have run out of memory: try a smaller --batch")


def _process(world: World, store: str, work: Work, arguments: tuple[Any, ...], told: Connection) -> None:
    follow_parent()
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // world.size))
    distributed.init_process_group("gloo", init_method=store, rank=world.rank, world_size=world.size)
    try:
        work(world, *arguments, told.send if world.rank == 0 else None)
        distributed.barrier()  # none leaves while another may still need it
    except KaratError as error:
        told.send(str(error))
    sys.stderr.flush()
    os._exit(0)  # ending the interpreter beside the threads of the group may abort the process
