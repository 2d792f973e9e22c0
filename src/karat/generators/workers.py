"""Several processes that train one model: each has a part of every batch, and gradients are added up."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from typing import Any

import torch
from torch import Tensor, distributed, nn

from karat.engine.processes import follow_parent
from karat.errors import InputError, KaratError


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


Work = Callable[..., None]  # (world, *arguments, tell)


def on_processes(size: int, work: Work, arguments: tuple[Any, ...], tell: Callable[[Any], None] | None) -> None:
    """Calls `work` in so many processes that can add up; what the first one tells is told here.

    Raises what a process raises, as an InputError, and ends the others.
    """
    context = torch.multiprocessing.get_context("spawn")
    told: Any = context.Queue()
    with tempfile.TemporaryDirectory() as folder:
        store = f"file://{Path(folder, 'store')}"
        processes = [
            context.Process(target=_process, args=(World(rank, size), store, work, arguments, told), daemon=True)
            for rank in range(size)
        ]
        try:
            for process in processes:
                process.start()
            _listen(processes, told, tell)
        finally:
            for process in processes:
                if process.is_alive():
                    process.terminate()
                process.join()


def _listen(processes: list[Any], told: Any, tell: Callable[[Any], None] | None) -> None:
    while any(process.is_alive() for process in processes) or not told.empty():
        try:
            said = told.get(timeout=0.2)
        except Empty:
            said = None
        if isinstance(said, str):
            raise InputError(said)
        if said is not None and tell is not None:
            tell(said)
        if any(process.exitcode not in (None, 0) for process in processes) and told.empty():
            raise KaratError("a process of the training ended; it may have run out of memory: try a smaller --batch")


def _process(world: World, store: str, work: Work, arguments: tuple[Any, ...], told: Any) -> None:
    follow_parent()
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // world.size))
    distributed.init_process_group("gloo", init_method=store, rank=world.rank, world_size=world.size)
    try:
        work(world, *arguments, told.put if world.rank == 0 else None)
    except KaratError as error:
        told.put(str(error))
    finally:
        distributed.destroy_process_group()
