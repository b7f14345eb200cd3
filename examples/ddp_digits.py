#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The classifier of cnn_digits.py on several workers: PyTorch's DistributedDataParallel over Gloo.

Each worker learns from its part of each batch; all have the same weights after each step, so that
the losses are those of one worker with the whole batch, to rounding. The first one prints them.
Start it with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun, `docker flowcon submit
--workers N` or a shell do; alone it is one worker. With --elastic torchrun nobody asks it to save:
--save-each 1.

    docker flowcon submit --name ddp --workers 1:4 --elastic restart -v ddp:/ck \\
        --label flowcon.checkpoint.signal=SIGUSR1 IMAGE python3 ddp_digits.py --checkpoint /ck/model.pt
"""
import argparse
import os
import signal
import sys
import time

import checkpoint  # first, as it says
import torch
import torch.distributed as dist
from cnn_digits import make_model
from sklearn.datasets import load_digits
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

ALONE = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}


def sum_of(number):
    """Over all workers."""
    total = torch.tensor(float(number))
    dist.all_reduce(total)
    return total.item()


def leave(status):
    """Without taking Gloo down: that of PyTorch 1.13 waits for ever in one of four runs or so."""
    sys.stdout.flush()
    os._exit(status)


def agree_to_begin(learnt, done):
    """All go on from the state of the one that has come furthest: on another host, or new here, one
    has none, or an old one."""
    all_done = [None] * dist.get_world_size()
    dist.all_gather_object(all_done, done)
    furthest = all_done.index(max(all_done))
    states = [[one.state_dict() for one in learnt]]
    dist.broadcast_object_list(states, src=furthest)
    for one, state in zip(learnt, states[0]):
        one.load_state_dict(state)
    return max(all_done)


def agree_to_end(state, is_first, **where):
    """All end after the same step, when any of them was asked to; the first one saves for all."""
    if sum_of(checkpoint.asked is not None) == 0:
        return
    if is_first and state.path:
        state.save(where)
    dist.barrier()
    print("ended as asked", flush=True)
    leave(checkpoint.SAVED_AND_ENDED)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--epochs", type=int, default=int(os.environ.get("EPOCHS", "40")))
    parser.add_argument("--batch", type=int, default=256, help="of all workers together")
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--lr", type=float, default=3e-4)
    parser.add_argument("--pause", type=float, default=0, metavar="SECONDS",
                        help="for each digit that a worker has learnt from, as on a slower machine")
    parser.add_argument("--checkpoint", metavar="FILE", help="saved on a signal, and gone on from where it is there")
    parser.add_argument("--save-each", type=int, default=0, metavar="EPOCHS", help="and after so many; 0: never")
    args = parser.parse_args()

    for name, value in ALONE.items():
        os.environ.setdefault(name, value)
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    goes_alone = dist.is_torchelastic_launched()
    if goes_alone:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # the others stay
    # The rank that torchrun gives is another one after each change.
    meets = os.environ.get("PET_RDZV_CONF", "")
    is_first = "is_host=1" in meets if "is_host=" in meets else rank == 0
    torch.manual_seed(2)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    digits = load_digits()
    x = torch.tensor(digits.images / 16.0, dtype=torch.float32).unsqueeze(1)
    y = torch.tensor(digits.target)
    model = make_model(args.width)
    for layer in model:
        if isinstance(layer, torch.nn.Dropout):
            layer.p = 0.0  # each worker would drop others
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    if is_first:
        print(f"{len(x)} digits to learn from, {size} workers", flush=True)

    state = checkpoint.Checkpoint(args.checkpoint, model=model, optimizer=optimizer)
    done = agree_to_begin([model, optimizer], state.resume().get("epoch", 0))
    learner = DistributedDataParallel(model)
    for epoch in range(done + 1, args.epochs + 1):
        order = torch.randperm(len(x), generator=torch.Generator().manual_seed(epoch))
        total = 0.0
        for batch in order.split(args.batch):
            part = batch[rank::size]
            optimizer.zero_grad()
            # Gradients are averaged over the workers, whose parts may differ in size by one.
            loss = F.cross_entropy(learner(x[part]), y[part], reduction="sum")
            (loss * size / len(batch)).backward()
            optimizer.step()
            total += loss.item()
            time.sleep(args.pause * len(part))
        total = sum_of(total)
        if is_first:
            print(f"Epoch {epoch}/{args.epochs} - loss: {total / len(x):.4f}", flush=True)
        if is_first and args.save_each and epoch % args.save_each == 0:
            state.save({"epoch": epoch})
        if not goes_alone:
            agree_to_end(state, is_first, epoch=epoch)
    leave(0)


if __name__ == "__main__":
    main()
