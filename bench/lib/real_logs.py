# SPDX-License-Identifier: Apache-2.0
"""What a training's log says: its losses, how far it was, and what follows from them. Pure."""
import datetime
import re

COUNT = re.compile(r"(\d+)/(\d+)")
STEP = re.compile(r"step (\d+)/(\d+)")
LOSS = re.compile(r"loss[:=] ?([0-9.]+)")


def seconds(text):
    """An engine's time, "2026-01-02T03:04:05.123456789Z", since the epoch."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    return datetime.datetime.fromisoformat(whole + "+00:00").timestamp() + float("0." + (fraction or "0"))


def progress_of(line):
    """Epochs done, of how many; None where the line does not say."""
    epoch = COUNT.search(line)
    if not epoch:
        return None
    done, total = int(epoch[1]), int(epoch[2])
    step = STEP.search(line)
    return (done - 1 + int(step[1]) / int(step[2]) if step else float(done)), total


def losses_of(log, begin, epochs):
    """[[seconds since `begin`, epochs done, loss], ...] of a log with the engine's times before its lines. Lines
    that do not say how far the training is are taken to share its `epochs` evenly."""
    lines = [(time, float(loss[1]), progress_of(words)) for time, _, words in (line.partition(" ") for line in log.splitlines())
             for loss in [LOSS.search(words)] if loss]
    return [[round(seconds(time) - begin, 3), round(progress[0] if progress else epochs * at / len(lines), 4), loss]
            for at, (time, loss, progress) in enumerate(lines, 1)]


def first_at_90(losses):
    """The first of them at which 90 % of the way from the first loss to the least is made; None where it
    never fell."""
    if not losses:
        return None
    first, least = losses[0][2], min(loss for _, _, loss in losses)
    if least >= first:
        return None
    target = first + 0.9 * (least - first)
    return next(line for line in losses if line[2] <= target)


def speed_of(losses, finished):
    """Seconds to begin with and for each epoch, of a training that had the host for itself. Times count
    from its start. What comes before the first line, and of several epochs the first one, is not taken for the
    speed: much is done for the first time in it."""
    last = losses[-1]
    since = next((line for line in losses if 1 <= line[1] < last[1]), losses[0])
    epochs = last[1] - since[1]
    per_epoch = (last[0] - since[0]) / epochs if epochs > 0 else finished / last[1]
    return {"startup": max(0.0, finished - last[1] * per_epoch), "per_epoch": per_epoch}
