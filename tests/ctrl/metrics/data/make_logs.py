#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small training logs in the formats of many frameworks, and what must be found in them.

NAME.log and NAME.expected.json: `accept` lists the series that a detector may choose (metric, goal,
values in order), `named` what it must return when asked for a name, `progress` the counter where the
log has one. Deterministic; the numbers are made up, the formats are those of the programs.
"""
import json
import math
import os
import random

HERE = os.path.dirname(os.path.abspath(__file__))


class Log:
    def __init__(self, name, seed=None):
        self.name = name
        self.text = ""
        self.series = {}
        self.accept = []
        self.named = []
        self.progress = None
        self.random = random.Random(seed or name)

    def take(self, series, text):
        """Records a printed value of a series and returns its text."""
        value = text.strip().rstrip("%")
        number = float(value)
        self.series.setdefault(series, []).append(
            number if math.isfinite(number) else ("nan" if number != number else "inf" if number > 0 else "-inf"))
        return text

    def line(self, text="", end="\n"):
        self.text += text + end

    def noise(self, scale):
        return self.random.uniform(-scale, scale)

    def fall(self, i, n, start, end, noise=0.03):
        """A loss: exponential decay from start to end, with noise."""
        base = end + (start - end) * math.exp(-4.0 * i / max(1, n - 1))
        return base * (1 + self.noise(noise))

    def rise(self, i, n, start, end, noise=0.01):
        return end - (end - start) * math.exp(-4.0 * i / max(1, n - 1)) + self.noise(noise)

    def ok(self, series, goal="min", metric=None):
        self.accept.append({"metric": metric or series, "goal": goal, "values": self.series[series]})
        return self

    def ask(self, name, series, goal="min"):
        self.named.append({"metric": name, "goal": goal, "values": self.series[series]})
        return self

    def write(self):
        expected = {"accept": self.accept, "named": self.named, "progress": self.progress}
        with open(os.path.join(HERE, self.name + ".log"), "wb") as out:
            out.write(self.text.encode("utf-8", "surrogateescape"))
        with open(os.path.join(HERE, self.name + ".expected.json"), "w") as out:
            json.dump(expected, out, separators=(",", ":"))
            out.write("\n")


ALL = []


def log(function):
    ALL.append(function)
    return function


@log
def keras_bar():
    g = Log("keras-bar")
    for e in range(4):
        g.line(f"Epoch {e + 1}/4")
        width = 0
        for b in range(1, 11):
            loss, acc = g.fall(e * 10 + b, 40, 2.3, 0.2), g.rise(e * 10 + b, 40, 0.1, 0.97)
            bar = "=" * (b * 3 - 1) + (">" if b < 10 else "=") + "." * (30 - b * 3)
            l, a = f"{loss:.4f}", f"{acc:.4f}"
            text = f"{b * 6:2d}/60 [{bar}] - ETA: {10 - b}s - loss: {l} - accuracy: {a}"
            g.text += "\b" * width + ("\r" if width else "") + text
            width = len(text)
        vl, va = f"{g.fall(e, 4, 1.5, 0.3):.4f}", f"{g.rise(e, 4, 0.5, 0.95):.4f}"
        g.line("\b" * width + "\r" + f"60/60 [{'=' * 30}] - 3s 45ms/step - loss: {g.take('loss', l)} - accuracy: "
               f"{g.take('accuracy', a)} - val_loss: {g.take('val_loss', vl)} - val_accuracy: {g.take('val_accuracy', va)}")
    g.ok("loss").ok("val_loss").ok("accuracy", "max").ok("val_accuracy", "max")
    g.ask("loss", "loss").ask("val_loss", "val_loss").ask("val_accuracy", "val_accuracy", "max")
    g.progress = {"done": 4, "total": 4}
    return g


@log
def keras3_bar():
    g = Log("keras3-bar")
    for e in range(5):
        g.line(f"\x1b[1mEpoch {e + 1}/5\x1b[0m")
        for b in range(1, 9):
            l, a = f"{g.fall(e * 8 + b, 40, 2.3, 0.2):.4f}", f"{g.rise(e * 8 + b, 40, 0.1, 0.97):.4f}"
            bar = "\u2501" * (b * 2) + "\x1b[37m" + "\u2501" * (20 - 2 * b)
            g.text += f"\r\x1b[1m{b * 10:2d}/80\x1b[0m \x1b[32m{bar}\x1b[0m \x1b[1m{8 - b}s\x1b[0m 12ms/step - accuracy: {a} - loss: {l}"
        vl, va = f"{g.fall(e, 5, 1.5, 0.3):.4f}", f"{g.rise(e, 5, 0.5, 0.95):.4f}"
        g.line(f"\r\x1b[1m80/80\x1b[0m \x1b[32m{chr(0x2501) * 20}\x1b[0m\x1b[37m\x1b[0m \x1b[1m2s\x1b[0m 14ms/step - accuracy: "
               f"{g.take('accuracy', a)} - loss: {g.take('loss', l)} - val_accuracy: {g.take('val_accuracy', va)} - val_loss: {g.take('val_loss', vl)}")
    g.ok("loss").ok("val_loss").ok("accuracy", "max").ok("val_accuracy", "max")
    g.ask("val_loss", "val_loss").ask("loss", "loss")
    g.progress = {"done": 5, "total": 5}
    return g


@log
def yolo5():
    g = Log("yolov5")
    g.line("\x1b[34m\x1b[1mhyperparameters: \x1b[0mlr0=0.01, lrf=0.2, momentum=0.937, weight_decay=0.0005, warmup_epochs=3.0, box=0.05, cls=0.5, cls_pw=1.0, obj=1.0, iou_t=0.2")
    g.line("YOLOv5  v6.0-35-ga4fece8 torch 1.10.0+cu111 CUDA:0 (Tesla V100, 16160MiB)")
    for e in range(5):
        g.line()
        g.line("     Epoch   gpu_mem       box       obj       cls    labels  img_size")
        for b in range(0, 9, 4):
            t = [f"{g.fall(e * 3 + b / 4, 15, s, s / 3):.4g}" for s in (0.117, 0.026, 0.058)]
            row = f"       {e}/4     3.98G    {t[0]:>7}   {t[1]:>7}   {t[2]:>7}        {13 + b}       640"
            pct = b * 100 // 8
            g.text += f"\r{row}: {pct:3d}%|{chr(0x2588) * (pct // 10)}{' ' * (10 - pct // 10)}| {b}/8 [00:0{b // 2}<00:0{4 - b // 2},  1.47it/s]"
        for n, v in zip(("box", "obj", "cls"), t):
            g.take(n, v)
        g.line()
        m50, m95 = f"{g.rise(e, 5, 0.01, 0.65):.3f}", f"{g.rise(e, 5, 0.005, 0.43, 0.004):.3f}"
        g.text += "               Class     Images     Labels          P          R     mAP@.5 mAP@.5:.95:  50%|#####     | 2/4 [00:01<00:01,  1.5it/s]\r"
        g.line("               Class     Images     Labels          P          R     mAP@.5 mAP@.5:.95: 100%|##########| 4/4 [00:02<00:00,  1.5it/s]")
        p, r = f"{g.rise(e, 5, 0.1, 0.7):.3f}", f"{g.rise(e, 5, 0.1, 0.6):.3f}"
        g.line(f"                 all        128        929      {g.take('P', p)}      {g.take('R', r)}      {g.take('map50', m50)}      {g.take('map', m95)}")
    g.ok("map50", "max").ok("map", "max").ok("box").ok("obj").ok("cls")
    g.ask("mAP@.5", "map50", "max").ask("mAP@.5:.95", "map", "max").ask("box", "box")
    return g


@log
def yolo8():
    g = Log("yolov8")
    g.line("Ultralytics YOLOv8.0.20 Python-3.10.6 torch-1.13.1 CUDA:0 (Tesla T4, 15110MiB)")
    for e in range(6):
        g.line()
        g.line("      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size")
        for b in range(0, 13, 4):
            t = [f"{g.fall(e * 4 + b / 4, 24, s, s / 3):.4g}" for s in (1.9, 3.2, 1.5)]
            pct = b * 100 // 12
            g.text += f"\r        {e + 1}/6      2.06G      {t[0]:>5}      {t[1]:>5}      {t[2]:>5}         {13 + b}        640: {pct:3d}%|{chr(0x2588) * (pct // 10)}{' ' * (10 - pct // 10)}| {b}/12 [00:0{b // 2}<00:01,  5.9it/s]"
        for n, v in zip(("box", "cls", "dfl"), t):
            g.take(n, v)
        g.line()
        g.line("                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): 100%|" + chr(0x2588) * 10 + "| 4/4 [00:02<00:00,  1.84it/s]")
        p, r, m50, m95 = (f"{g.rise(e, 6, 0.05, x, 0.004):.3f}" for x in (0.7, 0.6, 0.66, 0.45))
        g.line(f"                   all        128        929      {p}      {r}      {g.take('map50', m50)}      {g.take('map', m95)}")
    g.line("6 epochs completed in 0.012 hours.")
    g.line("                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): 100%|" + chr(0x2588) * 10 + "| 4/4 [00:02<00:00,  1.84it/s]")
    g.ok("map50", "max").ok("map", "max").ok("box").ok("cls").ok("dfl")
    g.ask("mAP50-95", "map", "max").ask("box_loss", "box")
    return g


@log
def darknet():
    g = Log("darknet")
    g.line("layer     filters    size              input                output")
    for i in range(6):
        g.line(f"   {i:2d} conv     {32 * (i + 1):4d}  3 x 3 / 1   416 x 416 x   3   ->   416 x 416 x  {32 * (i + 1)}  0.299 BFLOPs")
    g.line("Learning Rate: 0.001, Momentum: 0.9, Decay: 0.0005")
    for i in range(1, 41):
        for k in (82, 94, 106):
            g.line(f"Region {k} Avg IOU: {0.2 + g.noise(0.1) + i / 100:.6f}, Class: {0.5 + g.noise(0.2):.6f}, Obj: {0.4 + g.noise(0.2):.6f}, No Obj: 0.{4500 + i}, .5R: {abs(g.noise(0.5)):.6f}, .75R: 0.000000,  count: {g.random.randint(1, 9)}")
        raw, avg = g.fall(i, 40, 1200, 3, 0.3), g.fall(i, 40, 1210, 4, 0.01)
        g.line(f"{i}: {g.take('raw', f'{raw:.6f}')}, {g.take('avg', f'{avg:.6f}')} avg, {i * 1e-6:.6f} rate, {4 + g.noise(1):.6f} seconds, {i * 64} images")
    g.ok("avg").ok("raw")
    g.ask("avg", "avg")
    return g


@log
def darknet_alexey():
    g = Log("darknet-alexey")
    for i in range(1, 31):
        g.line()
        for k in (30, 37):
            g.line(f"v3 (iou loss, Normalizer: (iou: 0.07, cls: 1.00) Region {k} Avg (IOU: {0.3 + g.noise(0.1):.6f}, GIOU: {0.2 + g.noise(0.1):.6f}), Class: {0.5 + g.noise(0.2):.6f}, Obj: {0.4 + g.noise(0.2):.6f}, No Obj: 0.5{100 + i}, .5R: 0.000000, .75R: 0.000000, count: {g.random.randint(1, 9)}, class_loss = {g.fall(i, 30, 90, 5, 0.4):.6f}, iou_loss = {g.fall(i, 30, 9, 1, 0.4):.6f}, total_loss = {g.fall(i, 30, 99, 6, 0.4):.6f} ")
        raw, avg = g.fall(i, 30, 1200, 3, 0.3), g.fall(i, 30, 1210, 4, 0.01)
        g.line(f" {i}: {g.take('raw', f'{raw:.6f}')}, {g.take('avg', f'{avg:.6f}')} avg loss, 0.000000 rate, {4 + g.noise(1):.6f} seconds, {i * 64} images, {20 - i / 10:.6f} hours left")
    g.ok("avg").ok("raw")
    g.ask("avg loss", "avg")
    return g


@log
def vowpal():
    g = Log("vowpal-wabbit")
    g.line("Num weight bits = 18\nlearning rate = 0.5\ninitial_t = 0\npower_t = 0.5\nusing no cache\nReading datafile = train.vw\nnum sources = 1")
    g.line("average  since         example        example  current  current  current")
    g.line("loss     last          counter         weight    label  predict features")
    avg = 1.0
    for k in range(15):
        n = 2 ** k
        since = g.fall(k, 15, 1.0, 0.1, 0.2)
        avg = since if k == 0 else (avg + since) / 2
        g.line(f"{g.take('average loss', f'{avg:.6f}')} {g.take('since last', f'{since:.6f}')} {n:12d} {float(n):14.1f} {g.random.choice([-1.0, 1.0]):8.4f} {g.noise(1):8.4f} {g.random.randint(30, 90):8d}")
    g.line("\nfinished run\nnumber of examples = 16384\nweighted example sum = 16384.000000\naverage loss = 0.123456\ntotal feature number = 1234567")
    g.ok("average loss").ok("since last")
    g.ask("average loss", "average loss").ask("since last", "since last")
    return g


@log
def lightgbm():
    g = Log("lightgbm")
    g.line("[LightGBM] [Info] Total Bins 6132\n[LightGBM] [Info] Number of data points in the train set: 7000, number of used features: 28")
    g.line("[LightGBM] [Info] Start training from score 0.530600\nTraining until validation scores don't improve for 5 rounds")
    for i in range(1, 31):
        t, v, a = f"{g.fall(i, 30, 0.69, 0.2, 0.001):.6g}", f"{g.fall(i, 30, 0.69, 0.3, 0.001):.6g}", f"{g.rise(i, 30, 0.7, 0.83, 0.0005):.6g}"
        if i == 25:
            best = f"[25]\ttraining's binary_logloss: {t}\tvalid_1's binary_logloss: {v}\tvalid_1's auc: {a}"
        g.line(f"[{i}]\ttraining's binary_logloss: {g.take('t', t)}\tvalid_1's binary_logloss: {g.take('v', v)}\tvalid_1's auc: {g.take('a', a)}")
    g.line("Early stopping, best iteration is:")
    g.line(best)
    g.ok("t").ok("v").ok("a", "max")
    g.ask("valid_1's binary_logloss", "v").ask("valid_1's auc", "a", "max")
    return g


@log
def megatron():
    g = Log("megatron")
    g.line("using world size: 8, data-parallel-size: 8, tensor-model-parallel size: 1, pipeline-model-parallel size: 1")
    for i in range(1, 41):
        lm = f"{g.fall(i, 40, 10.8, 3.1):.6E}"
        g.line(f" iteration {i * 100:8d}/  500000 | consumed samples: {i * 12800:12d} | elapsed time per iteration (ms): {612 + g.noise(20):.1f} | learning rate: {1.5e-7 * i:.3E} | global batch size:   128 | lm loss: {g.take('lm', lm)} | loss scale: {2.0 ** (32 - i // 8):.1f} | grad norm: {g.fall(i, 40, 9, 1, 0.2):.3f} | number of skipped iterations:   0 | number of nan iterations:   0 |")
        if i % 10 == 0:
            g.line("-" * 80)
            v = g.fall(i, 40, 10.5, 3.2)
            g.line(f" validation loss at iteration {i * 100} | lm loss value: {g.take('val', f'{v:.6E}')} | lm loss PPL: {g.take('ppl', f'{math.exp(v):.6E}')} | ")
            g.line("-" * 80)
    g.ok("lm").ok("val").ok("ppl")
    g.ask("lm loss", "lm").ask("lm loss PPL", "ppl")
    g.progress = {"done": 4000, "total": 500000}
    return g


@log
def stable_baselines():
    g = Log("sb3-ppo")
    g.line("Using cpu device\nWrapping the env with a `Monitor` wrapper")
    for i in range(1, 21):
        rew, leng = g.rise(i, 20, 20, 480, 10), g.rise(i, 20, 20, 480, 10)
        g.line("-" * 43)
        g.line("| rollout/                |             |")
        g.line(f"|    ep_len_mean          | {leng:<11.3g} |")
        g.line(f"|    ep_rew_mean          | {g.take('rew', f'{rew:.3g}'):<11} |")
        g.line("| time/                   |             |")
        g.line(f"|    fps                  | {1200 - i:<11d} |")
        g.line(f"|    iterations           | {i:<11d} |")
        g.line(f"|    time_elapsed         | {i * 2:<11d} |")
        g.line(f"|    total_timesteps      | {i * 2048:<11d} |")
        if i > 1:
            g.line("| train/                  |             |")
            g.line(f"|    approx_kl            | {0.01 + g.noise(0.005):<11.8f} |")
            g.line(f"|    clip_fraction        | {0.1 + g.noise(0.05):<11.3g} |")
            g.line("|    clip_range           | 0.2         |")
            g.line(f"|    entropy_loss         | {-g.fall(i, 20, 0.69, 0.4):<11.3g} |")
            g.line(f"|    explained_variance   | {g.rise(i, 20, 0, 0.9):<11.3g} |")
            g.line("|    learning_rate        | 0.0003      |")
            g.line(f"|    loss                 | {g.fall(i, 20, 30, 5, 0.5):<11.3g} |")
            g.line(f"|    n_updates            | {(i - 1) * 10:<11d} |")
            g.line(f"|    policy_gradient_loss | {-0.01 + g.noise(0.01):<11.3g} |")
            g.line(f"|    value_loss           | {g.fall(i, 20, 60, 10, 0.3):<11.3g} |")
        g.line("-" * 43)
    g.ok("rew", "max")
    g.ask("ep_rew_mean", "rew", "max").ask("rollout/ep_rew_mean", "rew", "max")
    return g


@log
def spinningup():
    g = Log("spinningup")
    for e in range(12):
        g.line("-" * 39)
        ret = g.rise(e, 12, -1500, -150, 40)
        g.line(f"|             Epoch |{e:16d} |")
        g.line(f"|      AverageEpRet |{g.take('ret', f'{ret:.3g}'):>16} |")
        g.line(f"|          StdEpRet |{abs(g.noise(100)):16.3g} |")
        g.line(f"|          MaxEpRet |{ret + 100:16.3g} |")
        g.line(f"|          MinEpRet |{ret - 100:16.3g} |")
        g.line("|             EpLen |             200 |")
        g.line(f"| TotalEnvInteracts |{(e + 1) * 4000:16.3g} |")
        g.line(f"|             LossQ |{g.fall(e, 12, 40, 4, 0.3):16.3g} |")
        g.line(f"|            LossPi |{-ret / 10:16.3g} |")
        g.line(f"|              Time |{e * 13.2:16.3g} |")
        g.line("-" * 39)
    g.ok("ret", "max")
    g.ask("AverageEpRet", "ret", "max")
    return g


@log
def rllib():
    g = Log("rllib-table")
    for i in range(1, 13):
        r = g.rise(i, 12, 21, 195, 5)
        g.line("== Status ==\nMemory usage on this node: 5.6/15.5 GiB\nUsing FIFO scheduling algorithm.\nNumber of trials: 1/1 (1 RUNNING)")
        g.line("+-----------------------------+----------+-----------------+--------+------------------+------+----------+")
        g.line("| Trial name                  | status   | loc             |   iter |   total time (s) |   ts |   reward |")
        g.line("|-----------------------------+----------+-----------------+--------+------------------+------+----------|")
        reward = f"{r:.3f}"
        g.line(f"| PPO_CartPole-v0_1a2b3_00000 | RUNNING  | 10.0.0.4:12345  |   {i:4d} |      {i * 5.3:11.4f} | {i * 4000} | {g.take('reward', reward):>8} |")
        g.line("+-----------------------------+----------+-----------------+--------+------------------+------+----------+")
        g.line()
    g.ok("reward", "max")
    g.ask("reward", "reward", "max")
    return g


@log
def hf_trainer():
    g = Log("hf-trainer")
    n = 30
    for i in range(1, n + 1):
        l = g.fall(i, n, 2.9, 0.4)
        g.text += f"\r {i * 100 // n:2d}%|{chr(0x2588) * (i * 10 // n)}{' ' * (10 - i * 10 // n)}| {i * 10}/{n * 10} [00:{i:02d}<00:{n - i:02d},  9.91it/s]"
        g.text += "\r" + " " * 60 + "\r"
        g.line(f"{{'loss': {g.take('loss', f'{l:.4f}')}, 'grad_norm': {g.fall(i, n, 9, 1, .2):.4f}, 'learning_rate': {5e-5 * (1 - i / n):.12g}, 'epoch': {i * 3 / n:.1f}}}")
        if i % 10 == 0:
            el, ea = f"{g.fall(i, n, 2.5, 0.5):.6f}", f"{g.rise(i, n, 0.3, 0.9):.4f}"
            g.line(f"{{'eval_loss': {g.take('eval_loss', el)}, 'eval_accuracy': {g.take('eval_accuracy', ea)}, 'eval_runtime': 4.{i}, 'eval_samples_per_second': 8{i}.1, 'eval_steps_per_second': 11.{i}, 'epoch': {i * 3 / n:.1f}}}")
    g.line("{'train_runtime': 123.4567, 'train_samples_per_second': 24.3, 'train_steps_per_second': 0.243, 'train_loss': 0.9123, 'epoch': 3.0}")
    g.ok("loss").ok("eval_loss").ok("eval_accuracy", "max")
    g.ask("loss", "loss").ask("eval_loss", "eval_loss").ask("eval_accuracy", "eval_accuracy", "max")
    g.progress = {"done": 300, "total": 300}
    return g


@log
def hf_table():
    g = Log("hf-table")
    g.line("***** Running training *****\n  Num examples = 3668\n  Num Epochs = 8\n  Instantaneous batch size per device = 8\n  Total optimization steps = 1377")
    g.line("Epoch\tTraining Loss\tValidation Loss\tAccuracy\tF1")
    for e in range(1, 9):
        t = "No log" if e == 1 else g.take("train", f"{g.fall(e, 8, 0.7, 0.1):.6f}")
        v, a, f = f"{g.fall(e, 8, 0.6, 0.35):.6f}", f"{g.rise(e, 8, 0.6, 0.87):.6f}", f"{g.rise(e, 8, 0.7, 0.9):.6f}"
        g.line(f"{e}\t{t}\t{g.take('val', v)}\t{g.take('acc', a)}\t{g.take('f1', f)}")
    g.ok("train").ok("val").ok("acc", "max").ok("f1", "max")
    g.ask("Validation Loss", "val").ask("Training Loss", "train").ask("Accuracy", "acc", "max")
    return g


@log
def lightning():
    g = Log("lightning-bar")
    g.line("GPU available: True, used: True\n\n  | Name  | Type             | Params\n-------------------------------------------\n0 | model | ResNet           | 11.2 M\n1 | loss  | CrossEntropyLoss | 0     \n-------------------------------------------\n11.2 M    Trainable params\n0         Non-trainable params")
    for e in range(5):
        for b in (0, 25, 50, 75, 100):
            l = f"{g.fall(e * 5 + b / 25, 25, 2.3, 0.3):.3f}"
            bar = chr(0x2588) * (b // 10) + " " * (10 - b // 10)
            extra = "" if e == 0 else f", val_loss={vl}, val_acc={va}"
            g.text += f"\rEpoch {e}: {b:3d}%|{bar}| {b}/100 [00:{b // 10:02d}<00:{10 - b // 10:02d}, 12.34it/s, loss={l}, v_num=0{extra}]"
        g.text += "\rValidation: 0it [00:00, ?it/s]\x1b[A\rValidation DataLoader 0:  50%|" + "#" * 5 + "     | 5/10 [00:00<00:00, 55.55it/s]\x1b[A"
        vl, va = f"{g.fall(e, 5, 1.9, 0.4):.3f}", f"{g.rise(e, 5, 0.3, 0.9):.3f}"
        g.take("loss", l)
        g.text += f"\rEpoch {e}: 100%|{chr(0x2588) * 10}| 100/100 [00:11<00:00,  9.01it/s, loss={l}, v_num=0, val_loss={g.take('val_loss', vl)}, val_acc={g.take('val_acc', va)}]\n"
    g.ask("val_loss", "val_loss").ask("loss", "loss")
    g.ok("loss").ok("val_loss").ok("val_acc", "max")
    return g


@log
def fastai():
    g = Log("fastai-table")
    g.line("epoch     train_loss  valid_loss  accuracy  time    ")
    for e in range(10):
        t, v, a = f"{g.fall(e, 10, 1.2, 0.1):.6f}", f"{g.fall(e, 10, 0.9, 0.2):.6f}", f"{g.rise(e, 10, 0.6, 0.95):.6f}"
        g.line(f"{e:<10}{g.take('train', t)}    {g.take('valid', v)}    {g.take('acc', a)}  00:{10 + e}     ")
    g.ok("train").ok("valid").ok("acc", "max")
    g.ask("train_loss", "train").ask("valid_loss", "valid").ask("accuracy", "acc", "max")
    return g


@log
def sklearn_gb():
    g = Log("sklearn-gb")
    g.line("      Iter       Train Loss      OOB Improve   Remaining Time ")
    for i in list(range(1, 11)) + list(range(20, 101, 10)):
        l, o = f"{g.fall(i, 100, 1.3, 0.3, 0.005):.4f}", f"{abs(g.noise(0.05)):.4f}"
        g.line(f"{i:10d} {g.take('l', l):>16} {o:>16} {(101 - i) / 60:14.2f}m" if i < 60 else f"{i:10d} {g.take('l', l):>16} {o:>16} {(101 - i) * 0.6:14.2f}s")
    g.ok("l")
    g.ask("Train Loss", "l")
    return g


@log
def sklearn_mlp():
    g = Log("sklearn-mlp")
    for i in range(1, 41):
        l, v = f"{g.fall(i, 40, 2.3, 0.05, 0.01):.8f}", f"{g.rise(i, 40, 0.3, 0.97):.6f}"
        g.line(f"Iteration {i}, loss = {g.take('l', l)}")
        g.line(f"Validation score: {g.take('v', v)}")
    g.line("Validation score did not improve more than tol=0.000100 for 10 consecutive epochs. Stopping.")
    g.ok("l").ok("v", "max")
    g.ask("loss", "l").ask("Validation score", "v", "max")
    return g


@log
def sklearn_sgd():
    g = Log("sklearn-sgd")
    for i in range(1, 16):
        l = f"{g.fall(i, 15, 3.1, 0.4, 0.01):.6f}"
        g.line(f"-- Epoch {i}\nNorm: {2 + i * 0.1:.2f}, NNZs: 64, Bias: {-0.01 * i:.6f}, T: {i * 1437}, Avg. loss: {g.take('l', l)}\nTotal training time: {i * 0.01:.2f} seconds.")
    g.line("Convergence after 15 epochs took 0.15 seconds")
    g.ok("l")
    g.ask("Avg. loss", "l")
    return g


@log
def xgboost_dmlc():
    g = Log("xgboost-train-eval")
    for i in range(25):
        t, e = f"{g.fall(i, 25, 0.65, 0.1, 0.001):.5f}", f"{g.fall(i, 25, 0.66, 0.2, 0.001):.5f}"
        g.line(f"[{i}]\ttrain-logloss:{g.take('t', t)}\teval-logloss:{g.take('e', e)}")
    g.ok("t").ok("e")
    g.ask("train-logloss", "t").ask("eval-logloss", "e")
    return g


@log
def xgboost_distributed():
    g = Log("xgboost-ranks")
    for i in range(20):
        t, e = f"{g.rise(i, 20, 0.7, 0.98, 0.001):.5f}", f"{g.rise(i, 20, 0.65, 0.9, 0.001):.5f}"
        g.line(f"[2021-05-04 10:11:{i:02d}] [{i}]#011train-auc:{g.take('t', t)}#011validation-auc:{g.take('e', e)}")
    g.ok("t", "max").ok("e", "max")
    g.ask("validation-auc", "e", "max")
    return g


@log
def spacy():
    g = Log("spacy-table")
    g.line("=========================== Initializing pipeline ===========================\n\u2714 Initialized pipeline\n\n============================= Training pipeline =============================\n\u2139 Pipeline: ['tok2vec', 'ner']\n\u2139 Initial learn rate: 0.001")
    g.line("E    #       LOSS TOK2VEC  LOSS NER  ENTS_F  ENTS_P  ENTS_R  SCORE ")
    g.line("---  ------  ------------  --------  ------  ------  ------  ------")
    for i in range(14):
        a, b = f"{g.fall(i, 14, 40, 8, .3):.2f}", f"{g.fall(i, 14, 900, 60, .1):.2f}"
        f, p, r = (f"{g.rise(i, 14, 20, x, 1):.2f}" for x in (85, 86, 84))
        s = f"{float(f) / 100:.2f}"
        g.line(f"{i // 3:3d}  {i * 200:6d}  {g.take('tok', a):>12}  {g.take('ner', b):>8}  {g.take('f', f):>6}  {g.take('p', p):>6}  {g.take('r', r):>6}  {g.take('s', s):>6}")
    g.line("\u2714 Saved pipeline to output directory")
    g.ok("ner").ok("tok").ok("f", "max").ok("s", "max").ok("p", "max").ok("r", "max")
    g.ask("LOSS NER", "ner").ask("SCORE", "s", "max").ask("ENTS_F", "f", "max")
    return g


@log
def detectron2():
    g = Log("detectron2")
    for i in range(30):
        total = f"{g.fall(i, 30, 2.4, 0.5):.4g}"
        g.line(f"\x1b[32m[10/01 12:0{i // 10}:{i % 10 * 5:02d} d2.utils.events]: \x1b[0m eta: 0:{29 - i:02d}:31  iter: {i * 20 + 19}  total_loss: {g.take('total', total)}  loss_cls: {g.fall(i, 30, 1.1, .2):.4g}  loss_box_reg: {g.fall(i, 30, .6, .2):.4g}  loss_mask: {g.fall(i, 30, .69, .2):.4g}  loss_rpn_cls: {g.fall(i, 30, .05, .01):.4g}  loss_rpn_loc: {g.fall(i, 30, .03, .01):.4g}    time: 0.5{i:02d}  last_time: 0.4{i:02d}  data_time: 0.01{i:02d}  last_data_time: 0.0042  lr: {1e-5 * i:.4g}  max_mem: 2716M")
    g.ok("total")
    g.ask("total_loss", "total")
    return g


@log
def mmdet():
    g = Log("mmdet")
    for e in range(1, 4):
        for b in range(50, 501, 50):
            i = (e - 1) * 10 + b // 50
            loss = f"{g.fall(i, 30, 2.1, 0.6):.4f}"
            g.line(f"2021-06-01 12:{i:02d}:01,123 - mmdet - INFO - Epoch [{e}][{b}/500]\tlr: {1.978e-03 * min(1, i / 5):.3e}, eta: 1 day, 3:23:{i:02d}, time: 1.1{i}, data_time: 0.05{i}, memory: 3900, loss_rpn_cls: {g.fall(i, 30, .6, .1):.4f}, loss_rpn_bbox: {g.fall(i, 30, .1, .05):.4f}, loss_cls: {g.fall(i, 30, 1.2, .3):.4f}, acc: {g.rise(i, 30, 60, 92, 1):.4f}, loss_bbox: {g.fall(i, 30, .3, .2):.4f}, loss: {g.take('loss', loss)}, grad_norm: {g.fall(i, 30, 9, 3, .2):.4f}")
        m = f"{g.rise(e, 3, .1, .37):.4f}"
        g.line(f"2021-06-01 13:{e:02d}:01,123 - mmdet - INFO - Epoch(val) [{e}][5000]\tbbox_mAP: {g.take('map', m)}, bbox_mAP_50: 0.5{e}10, bbox_mAP_75: 0.4{e}20, bbox_mAP_copypaste: 0.374 0.581 0.404 0.212 0.410 0.481")
    g.ok("loss").ok("map", "max")
    g.ask("loss", "loss").ask("bbox_mAP", "map", "max")
    return g


@log
def mmengine_json():
    g = Log("mmengine-json")
    g.line('{"env_info": "sys.platform: linux", "seed": 42, "exp_name": "faster_rcnn_r50"}')
    for e in range(1, 5):
        for b in range(50, 301, 50):
            i = (e - 1) * 6 + b // 50
            loss = f"{g.fall(i, 24, 2.1, 0.6):.5f}"
            g.line(f'{{"mode": "train", "epoch": {e}, "iter": {b}, "lr": {0.002 * i:.5f}, "memory": 3900, "data_time": 0.05, "loss_rpn_cls": {g.fall(i, 24, .6, .1):.5f}, "acc": {g.rise(i, 24, 60, 92, 1):.5f}, "loss": {g.take("loss", loss)}, "time": 1.1{i}}}')
        m = f"{g.rise(e, 4, .1, .37):.4f}"
        g.line(f'{{"mode": "val", "epoch": {e}, "iter": 5000, "lr": 0.02, "bbox_mAP": {g.take("map", m)}, "bbox_mAP_50": 0.5{e}}}')
    g.ok("loss").ok("map", "max")
    g.ask("loss", "loss").ask("bbox_mAP", "map", "max")
    return g


@log
def timm():
    g = Log("timm")
    for e in range(4):
        for b in range(0, 1251, 250):
            i = e * 6 + b // 250
            l = f"{g.fall(i, 24, 6.95, 2.1):6.3f}"
            pct = min(100, b * 100 // 1250)
            g.line(f"Train: {e} [{b:4d}/1251 ({pct:3d}%)]  Loss: {g.take('loss', l)} ({float(l) + 0.1:6.3f})  Time: 0.5{i:02d}s, {2000 + i:7.2f}/s  (0.6{i:02d}s, {1900 + i:7.2f}/s)  LR: {5e-4 * (1 - i / 24):.3e}  Data: 0.01{i:02d} (0.02{i:02d})")
        for b in range(0, 49, 16):
            g.line(f"Test: [{b:4d}/48]  Time: 0.1{b:02d} (0.2{b:02d})  Loss:  {g.fall(e, 4, 4, 1.5):6.4f} ({g.fall(e, 4, 4, 1.5):6.4f})  Acc@1: {g.rise(e, 4, 10, 70):7.4f} ({g.rise(e, 4, 10, 70):7.4f})  Acc@5: {g.rise(e, 4, 30, 90):7.4f} ({g.rise(e, 4, 30, 90):7.4f})")
        g.line(f"Current checkpoints:\n ('./output/checkpoint-{e}.pth.tar', {10.5 + e})\n")
    g.ok("loss")
    g.ask("Loss", "loss")
    return g


@log
def fairseq_json():
    g = Log("fairseq-json")
    g.line("2021-02-03 10:00:00 | INFO | fairseq_cli.train | max tokens per GPU = 4096 and batch size per GPU = None")
    for e in range(1, 4):
        for k in range(1, 11):
            i = (e - 1) * 10 + k
            l = f"{g.fall(i, 30, 14.2, 4.3):.3f}"
            g.line(f'2021-02-03 10:{i:02d}:00 | INFO | train_inner | {{"epoch": {e}, "update": {e - 1 + k / 10:.3f}, "loss": "{g.take("loss", l)}", "nll_loss": "{float(l) - 1.1:.3f}", "ppl": "{2 ** float(l):.2f}", "wps": "1{i}345.6", "ups": "2.{i}", "wpb": "3584", "bsz": "120", "num_updates": "{i * 100}", "lr": "{1e-7 * i:.6g}", "gnorm": "{g.fall(i, 30, 3, 1, .2):.3f}", "loss_scale": "128", "train_wall": "{i * 40}", "wall": "{i * 41}"}}')
        v, t = f"{g.fall(e, 3, 9, 4.5):.3f}", f"{g.fall(e, 3, 10, 4.6):.3f}"
        g.line(f'2021-02-03 11:{e:02d}:00 | INFO | valid | {{"epoch": {e}, "valid_loss": "{g.take("valid", v)}", "valid_nll_loss": "{float(v) - 1:.3f}", "valid_ppl": "{2 ** float(v):.2f}", "valid_wps": "45678", "valid_num_updates": "{e * 1000}"}}')
        g.line(f'2021-02-03 11:{e:02d}:30 | INFO | train | {{"epoch": {e}, "train_loss": "{g.take("train", t)}", "train_nll_loss": "{float(t) - 1:.3f}", "train_ppl": "88.1", "train_wps": "12345", "train_lr": "0.0001", "train_wall": "{e * 400}"}}')
    g.ok("loss").ok("valid").ok("train")
    g.ask("loss", "loss").ask("valid_loss", "valid").ask("train_loss", "train")
    return g


@log
def kaldi():
    g = Log("kaldi-nnet3")
    for i in range(20):
        o = f"{-g.fall(i, 20, 0.35, 0.08):.6f}"
        g.line(f"LOG (nnet3-chain-train[5.5.0~1-abc]:UpdateParamsWithMaxChange():nnet-training.cc:277) Per-component max-change active on 12 / 35 Updatable Components. (smallest factor=0.5{i:02d} on tdnn1.affine with max-change=0.75). Global max-change factor was 0.4{i:02d} with max-change=2.")
        g.line(f"LOG (nnet3-chain-train[5.5.0~1-abc]:PrintTotalStats():nnet-training.cc:348) Overall average objective function for 'output' is {g.take('o', o)} over {1000000 + i * 1280} frames.")
    g.ok("o", "max")
    g.ask("objective function", "o", "max")
    return g


@log
def espnet():
    g = Log("espnet2")
    for e in range(1, 7):
        for b in (1, 51):
            l = f"{g.fall(e * 2 + b / 50, 14, 120, 20):.3f}"
            g.line(f"[node07] 2021-04-05 10:{e:02d}:{b:02d},{b:03d} (trainer:653) INFO: {e}epoch:train:{b}-{b + 49}batch: iter_time=2.{b:02d}e-04, forward_time=0.1{b:02d}, loss_ctc={float(l) * 1.1:.3f}, loss_att={float(l) * 0.9:.3f}, acc={g.rise(e, 6, .3, .9):.3f}, loss={g.take('loss', l)}, backward_time=0.2, optim0_lr0={1e-4 * e:.3e}, train_time=0.9{b:02d}")
        t, v = f"{g.fall(e, 6, 110, 22):.3f}", f"{g.fall(e, 6, 95, 18):.3f}"
        g.line(f"[node07] 2021-04-05 11:{e:02d}:00,000 (trainer:328) INFO: {e}epoch results: [train] iter_time=3.1e-04, loss_ctc={float(t) * 1.1:.3f}, acc=0.5{e}, loss={g.take('train', t)}, train_time=0.95, time=10 minutes and {e}.2 seconds, total_count={e * 100}, gpu_max_cached_mem_GB=11.5, [valid] loss_ctc={float(v) * 1.1:.3f}, acc={g.rise(e, 6, .4, .92):.3f}, cer=0.{30 - e}1, loss={g.take('valid', v)}, time=31.2 seconds, total_count={e * 20}")
    g.ok("loss").ok("train").ok("valid")
    g.ask("loss", "loss").ask("valid loss", "valid")
    return g


@log
def ranks_repeated():
    g = Log("ranks-repeated")
    for i in range(25):
        l = f"{g.fall(i, 25, 9.2, 2.5):.4f}"
        g.take("loss", l)
        order = list(range(8))
        g.random.shuffle(order)
        for r in order:
            g.line(f"[rank{r}]: step {i * 10}/250 loss {l} lr {1e-4 * (25 - i) / 25:.2e}")
    g.ok("loss")
    g.ask("loss", "loss")
    g.progress = {"done": 240, "total": 250}
    return g


@log
def ranks_repeated_plain():
    g = Log("ranks-no-step")
    for i in range(25):
        l = f"{g.fall(i, 25, 9.2, 2.5):.4f}"
        g.take("loss", l)
        for r in range(8):
            g.line(f"{r}: training loss = {l}, throughput = {400 + g.noise(30):.2f} samples/s")
    g.ok("loss")
    g.ask("training loss", "loss")
    return g


@log
def two_hosts():
    g = Log("two-hosts")
    for i in range(30):
        for h in ("node-a", "node-b"):
            l = f"{g.fall(i, 30, 5.2, 0.9, 0.05):.5f}"
            g.line(f"{h} | 2023-01-02 03:04:{i:02d} INFO train.py:88 Epoch {i // 10} Iter {i} Loss {g.take('loss', l)} LR 0.{30 - i:03d} Mem 10.{i}G")
    g.ok("loss")
    g.ask("Loss", "loss")
    return g


@log
def restarts():
    g = Log("restarts")
    for run in range(3):
        g.line(f"resuming from checkpoint-{run * 100}.pt" if run else "starting from scratch")
        for s in range(20):
            i = run * 15 + s
            l = f"{g.fall(i, 50, 4.5, 0.7):.4f}"
            g.line(f"[{i * 10:5d}/500] loss={g.take('loss', l)} best={min(g.series['loss']):.4f} lr={0.001 - i * 1e-5:.6f} eta=0:{59 - i:02d}:00")
        g.line("Killed")
    g.ok("loss")
    g.ask("loss", "loss")
    g.progress = {"done": 490, "total": 500}
    return g


@log
def folds():
    g = Log("folds")
    for f in range(1, 6):
        g.line(f"===== Fold {f}/5 =====")
        for e in range(1, 9):
            t, v, a = f"{g.fall(e, 8, .69, .2):.4f}", f"{g.fall(e, 8, .68, .3):.4f}", f"{100 * g.rise(e, 8, .5, .9):.2f}%"
            g.line(f"Epoch {e}/8 | train loss: {g.take('train', t)} | val loss: {g.take('val', v)} | val acc: {g.take('acc', a)}")
        g.line(f"Fold {f} best val acc: {max(g.series['acc'][-8:])}%")
    g.ok("train").ok("val").ok("acc", "max")
    g.ask("train loss", "train").ask("val acc", "acc", "max")
    g.progress = {"done": 8, "total": 8}
    return g


@log
def rare():
    g = Log("one-in-a-hundred")
    for i in range(15):
        for k in range(99):
            g.line(g.random.choice([
                f"[2023-04-18 01:{i:02d}:{k % 60:02d},554] [INFO] [timer.py:199:stop] epoch=0/micro_step={i * 99 + k}/global_step={i * 99 + k}, RunningAvgSamplesPerSec={170 + g.noise(3):.12f}, MemAllocated=3.96GB",
                f"NCCL INFO Channel {k:02d}/32 : {k % 8}[1c0] -> {(k + 1) % 8}[1d0] via P2P/IPC/read",
                f"worker {k % 8} prefetch queue {g.random.randint(0, 64)} of 64, took {abs(g.noise(0.4)):.4f} s",
                f"Reading shard-{k:05d}.tar ({g.random.randint(100, 999)} files)",
            ]))
        l = f"{g.fall(i, 15, 3.3, 1.2):.4f}"
        g.line(f"[2023-04-18 02:{i:02d}:00,000] [INFO] evaluation perplexity = {g.take('ppl', l)}")
    g.ok("ppl")
    g.ask("perplexity", "ppl")
    return g


@log
def ansi_prefix():
    g = Log("ansi-docker-prefix")
    for i in range(30):
        l, a = f"{g.fall(i, 30, 2.3, 0.2):.4f}", f"{g.rise(i, 30, 0.1, 0.95):.2%}"
        g.line(f"\x1b[36mtrainer-1  |\x1b[0m \x1b[2m2024-01-02T03:04:{i:02d}.123Z\x1b[0m \x1b[32mINFO\x1b[0m step=\x1b[1m{i}\x1b[0m/30 loss=\x1b[33m{g.take('loss', l)}\x1b[0m acc=\x1b[33m{g.take('acc', a)}\x1b[0m temp=6{i % 5}.5C")
    g.ok("loss").ok("acc", "max")
    g.ask("loss", "loss").ask("acc", "acc", "max")
    g.progress = {"done": 29, "total": 30}
    return g


@log
def slash_pairs():
    g = Log("slash-pairs")
    for e in range(1, 16):
        a, b, c, d = f"{g.fall(e, 15, .9, .2):.4f}", f"{g.fall(e, 15, .95, .3):.4f}", f"{g.rise(e, 15, .4, .93):.3f}", f"{g.rise(e, 15, .4, .88):.3f}"
        g.line(f"Epoch {e:02d}/15 - Train/Val Loss: {g.take('tl', a)}/{g.take('vl', b)} - Train/Val Acc: {g.take('ta', c)}/{g.take('va', d)} - {e}.2s")
    g.ok("tl").ok("vl").ok("ta", "max").ok("va", "max")
    g.ask("Train Loss", "tl").ask("Val Loss", "vl").ask("Val Acc", "va", "max")
    g.progress = {"done": 15, "total": 15}
    return g


@log
def nonfinite():
    g = Log("nonfinite")
    for i in range(40):
        l = "nan" if 10 <= i < 14 else "inf" if i == 20 else "1e999" if i == 21 else "-inf" if i == 22 else f"{g.fall(i, 40, 12, 1):.3e}"
        text = g.take("loss", l)
        g.line(f"iter {i}: loss {text}, grad_norm {'inf' if i == 20 else f'{g.fall(i, 40, 20, 2, .3):.2f}'}, time {50 + g.noise(3):.2f}ms")
    g.ok("loss")
    g.ask("loss", "loss")
    return g


@log
def pretty_json():
    g = Log("pretty-json")
    g.line("[")
    for e in range(12):
        t, v = f"{g.fall(e, 12, 1.9, .3):.12f}", f"{g.rise(e, 12, .3, .9):.12f}"
        g.line(f'    {{\n        "main/loss": {g.take("t", t)},\n        "validation/main/accuracy": {g.take("v", v)},\n        "epoch": {e + 1},\n        "iteration": {(e + 1) * 600},\n        "elapsed_time": {12.5 * (e + 1):.6f}\n    }}{"," if e < 11 else ""}')
    g.line("]")
    g.ok("t").ok("v", "max")
    g.ask("main/loss", "t").ask("validation/main/accuracy", "v", "max")
    return g


@log
def jsonl_nested():
    g = Log("jsonl-nested")
    for e in range(1, 13):
        t, v, a = f"{g.fall(e, 12, 1.9, .3):.6f}", f"{g.fall(e, 12, 1.8, .4):.6f}", f"{g.rise(e, 12, .3, .9):.6f}"
        g.line(f'{{"ts":"2024-05-06T07:08:{e:02d}Z","level":"info","epoch":{e},"epochs":12,"train":{{"loss":{g.take("t", t)},"lr":{0.1 / e:.4f}}},"val":{{"loss":{g.take("v", v)},"acc":{g.take("a", a)}}}}}')
    g.ok("t").ok("v").ok("a", "max")
    g.ask("train.loss", "t").ask("val.loss", "v").ask("val.acc", "a", "max")
    g.progress = {"done": 12, "total": 12}
    return g


@log
def csv_header():
    g = Log("csv")
    g.line("epoch,step,lr,train_loss,val_loss,val_f1")
    for e in range(15):
        t, v, f = f"{g.fall(e, 15, 1.9, .3):.5f}", f"{g.fall(e, 15, 1.8, .4):.5f}", f"{g.rise(e, 15, .3, .9):.5f}"
        g.line(f"{e},{(e + 1) * 390},{0.1 * 0.9 ** e:.6f},{g.take('t', t)},{g.take('v', v)},{g.take('f', f)}")
    g.ok("t").ok("v").ok("f", "max")
    g.ask("train_loss", "t").ask("val_f1", "f", "max")
    return g


@log
def markdown_table():
    g = Log("pipe-table")
    g.line("| Epoch | Train Loss | Val Loss | Val Acc (%) | LR       | Time (s) |")
    g.line("|-------|------------|----------|-------------|----------|----------|")
    for e in range(1, 13):
        t, v, a = f"{g.fall(e, 12, 1.9, .3):.4f}", f"{g.fall(e, 12, 1.8, .4):.4f}", f"{100 * g.rise(e, 12, .3, .9):.2f}"
        g.line(f"| {e:5d} | {g.take('t', t):>10} | {g.take('v', v):>8} | {g.take('a', a):>11} | {1e-3 * 0.9 ** e:.2e} | {30 + g.noise(2):8.1f} |")
    g.ok("t").ok("v").ok("a", "max")
    g.ask("Train Loss", "t").ask("Val Acc", "a", "max")
    return g


@log
def caffe():
    g = Log("caffe")
    for i in range(30):
        l = f"{g.fall(i, 30, 2.3, .05):.6g}"
        g.line(f"I0305 12:00:{i:02d}.123456  4242 solver.cpp:228] Iteration {i * 100}, loss = {g.take('loss', l)}")
        g.line(f"I0305 12:00:{i:02d}.123460  4242 solver.cpp:244]     Train net output #0: loss = {l} (* 1 = {l} loss)")
        g.line(f"I0305 12:00:{i:02d}.123470  4242 sgd_solver.cpp:106] Iteration {i * 100}, lr = {0.01 * 0.97 ** i:.8f}")
        if i % 5 == 0:
            a = f"{g.rise(i, 30, .1, .99, .004):.4f}"
            g.line(f"I0305 12:00:{i:02d}.223456  4242 solver.cpp:337] Iteration {i * 100}, Testing net (#0)")
            g.line(f"I0305 12:00:{i:02d}.223466  4242 solver.cpp:404]     Test net output #0: accuracy = {g.take('acc', a)}")
    g.ok("loss").ok("acc", "max")
    g.ask("loss", "loss").ask("accuracy", "acc", "max")
    return g


@log
def opennmt():
    g = Log("opennmt")
    for i in range(1, 31):
        p, x, a = f"{math.exp(g.fall(i, 30, 9, 1.5)):.2f}", f"{g.fall(i, 30, 9, 1.5):.2f}", f"{g.rise(i, 30, 4, 68, .5):.2f}"
        g.line(f"[2021-01-01 12:{i:02d}:00,000 INFO] Step {i * 50}/100000; acc: {g.take('acc', a):>6}; ppl: {g.take('ppl', p):>8}; xent: {g.take('xent', x):>5}; lr: {1e-6 * i:.5f}; {12000 + i}/{13000 + i} tok/s;    {i * 10} sec")
    g.ok("ppl").ok("xent").ok("acc", "max")
    g.ask("ppl", "ppl").ask("acc", "acc", "max")
    g.progress = {"done": 1500, "total": 100000}
    return g


@log
def marian():
    g = Log("marian")
    for i in range(1, 31):
        c = f"{g.fall(i, 30, 10, 2.5):.8f}"
        g.line(f"[2021-01-01 12:{i:02d}:00] Ep. 1 : Up. {i * 500} : Sen. {i * 32000:,} : Cost {g.take('cost', c)} : Time {50 + g.noise(2):.2f}s : {12345 + g.noise(99):.2f} words/s : gNorm {g.fall(i, 30, 2, 1):.4f}")
        if i % 10 == 0:
            v, b = f"{g.fall(i, 30, 140, 60):.4f}", f"{g.rise(i, 30, 2, 31):.4f}"
            g.line(f"[2021-01-01 12:{i:02d}:30] [valid] Ep. 1 : Up. {i * 500} : cross-entropy : {g.take('ce', v)} : new best")
            g.line(f"[2021-01-01 12:{i:02d}:31] [valid] Ep. 1 : Up. {i * 500} : bleu-detok : {g.take('bleu', b)} : new best")
    g.ok("cost").ok("ce").ok("bleu", "max")
    g.ask("Cost", "cost").ask("cross-entropy", "ce")
    return g


@log
def mxnet():
    g = Log("mxnet-module")
    for e in range(6):
        for b in (50, 100, 150):
            a = f"{g.rise(e * 3 + b / 50, 18, .2, .97):.6f}"
            g.line(f"INFO:root:Epoch[{e}] Batch [{b}]\tSpeed: {40000 + g.noise(900):.2f} samples/sec\taccuracy={g.take('acc', a)}")
        t, v = f"{g.rise(e, 6, .3, .98):.6f}", f"{g.rise(e, 6, .3, .96):.6f}"
        g.line(f"INFO:root:Epoch[{e}] Train-accuracy={g.take('train', t)}\nINFO:root:Epoch[{e}] Time cost={1.5 + g.noise(.1):.3f}\nINFO:root:Epoch[{e}] Validation-accuracy={g.take('val', v)}")
    g.ok("acc", "max").ok("train", "max").ok("val", "max")
    g.ask("Validation-accuracy", "val", "max").ask("accuracy", "acc", "max")
    return g


@log
def imagenet():
    g = Log("imagenet-meter")
    for e in range(3):
        for b in range(0, 5005, 500):
            i = e * 11 + b // 500
            l, a = f"{g.fall(i, 33, 6.95, 2.2):.4e}", f"{g.rise(i, 33, .1, 62, .5):6.2f}"
            g.line(f"Epoch: [{e}][{b:4d}/5005]\tTime  0.4{i:02d} ( 0.9{i:02d})\tData  0.0{i:02d} ( 0.5{i:02d})\tLoss {g.take('loss', l)} ({float(l) * 1.02:.4e})\tAcc@1 {g.take('a1', a)} ({float(a) * .99:6.2f})\tAcc@5 {min(100, float(a) * 1.3):6.2f} ({min(100, float(a) * 1.29):6.2f})")
        for b in range(0, 98, 20):
            g.line(f"Test: [{b:2d}/98]\tTime  0.1{b:02d} ( 0.2{b:02d})\tLoss {g.fall(e, 3, 4, 1.8):.4e} ({g.fall(e, 3, 4, 1.8):.4e})\tAcc@1 {g.rise(e, 3, 20, 65):6.2f} ({g.rise(e, 3, 20, 65):6.2f})\tAcc@5  88.00 ( 87.50)")
        v = f"{g.rise(e, 3, 20, 65):.3f}"
        g.line(f" * Acc@1 {g.take('v1', v)} Acc@5 87.{e}12")
    g.ok("loss").ok("v1", "max")
    g.ask("Loss", "loss")
    return g


@log
def fasttext():
    g = Log("fasttext")
    for i in range(1, 41):
        l = f"{g.fall(i, 40, 4.1, .4):9.6f}"
        g.text += f"\rProgress: {i * 2.5:5.1f}% words/sec/thread: {45000 + i * 10:7d} lr: {0.1 * (1 - i / 40):9.6f} avg.loss: {g.take('loss', l)} ETA:   0h 0m{40 - i:2d}s"
    g.line()
    g.ok("loss")
    g.ask("avg.loss", "loss").ask("loss", "loss")
    return g


@log
def coursera():
    g = Log("cost-after-iteration")
    for i in range(0, 3000, 100):
        c = f"{g.fall(i, 3000, .693, .08, .005):.15f}"
        g.line(f"Cost after iteration {i}: {g.take('c', c)}")
    g.line("Accuracy: 0.985645933014")
    g.ok("c")
    g.ask("Cost", "c")
    return g


@log
def pytorch_tutorial():
    g = Log("cifar-tutorial")
    for e in range(1, 4):
        for b in range(2000, 12001, 2000):
            i = (e - 1) * 6 + b // 2000
            l = f"{g.fall(i, 18, 2.3, .9):.3f}"
            g.line(f"[{e}, {b:5d}] loss: {g.take('l', l)}")
    g.line("Finished Training\nAccuracy of the network on the 10000 test images: 63 %")
    for c in "plane car bird cat deer dog frog horse ship truck".split():
        g.line(f"Accuracy for class: {c:5s} is {50 + g.random.random() * 30:.1f} %")
    g.ok("l")
    g.ask("loss", "l")
    return g


@log
def tensor_values():
    g = Log("tensor-repr")
    for i in range(25):
        l = f"{g.fall(i, 25, 2.3, .2):.4f}"
        g.line(f"epoch: {i} loss: tensor({g.take('l', l)}, device='cuda:0', grad_fn=<NllLossBackward0>) acc: tensor({g.rise(i, 25, .1, .9):.4f})")
    g.ok("l")
    g.ask("loss", "l")
    return g


@log
def ignite():
    g = Log("ignite")
    for e in range(1, 11):
        ta, tl, va, vl = f"{g.rise(e, 10, .5, .98):.2f}", f"{g.fall(e, 10, .9, .05):.2f}", f"{g.rise(e, 10, .5, .96):.2f}", f"{g.fall(e, 10, .8, .1):.2f}"
        g.line(f"Training Results - Epoch: {e}  Avg accuracy: {g.take('ta', ta)} Avg loss: {g.take('tl', tl)}")
        g.line(f"Validation Results - Epoch: {e}  Avg accuracy: {g.take('va', va)} Avg loss: {g.take('vl', vl)}")
    g.ok("tl").ok("vl").ok("ta", "max").ok("va", "max")
    g.ask("Training Avg loss", "tl").ask("Validation Avg accuracy", "va", "max")
    return g


@log
def tqdm_total():
    g = Log("tqdm-one-bar")
    for i in range(0, 101, 4):
        l = f"{g.fall(i, 101, 1.2, .1):.3f}"
        g.text += f"\rtraining: {i:3d}%|{chr(0x2588) * (i // 10)}{' ' * (10 - i // 10)}| {i}/100 [00:{i // 2:02d}<00:{50 - i // 2:02d},  1.99it/s, loss={g.take('loss', l)}, lr=0.001]"
    g.line()
    g.ok("loss")
    g.ask("loss", "loss")
    g.progress = {"done": 100, "total": 100}
    return g


@log
def unnamed_columns():
    g = Log("bare-columns")
    for i in range(40):
        l = f"{g.fall(i, 40, 5.1, .3):.5f}"
        g.line(f"{i} {g.take('l', l)}")
    g.ok("l")
    return g


@log
def classic_gan():
    g = Log("dcgan")
    for e in range(3):
        for b in range(0, 500, 50):
            d, gl = f"{abs(0.6 + g.noise(.5)):.4f}", f"{abs(3 + g.noise(2)):.4f}"
            g.line(f"[{e}/3][{b}/500]\tLoss_D: {g.take('d', d)}\tLoss_G: {g.take('g', gl)}\tD(x): {.7 + g.noise(.2):.4f}\tD(G(z)): {.3 + g.noise(.2):.4f} / {.1 + g.noise(.05):.4f}")
    g.ok("d").ok("g")
    g.ask("Loss_D", "d").ask("Loss_G", "g")
    return g


@log
def paddle_hapi():
    g = Log("paddle-hapi")
    for e in range(1, 6):
        g.line(f"Epoch {e}/5")
        for s in range(10, 51, 10):
            l, a = f"{g.fall(e * 5 + s / 10, 30, 2.3, .1):.4f}", f"{g.rise(e * 5 + s / 10, 30, .1, .97):.4f}"
            g.line(f"step {s:2d}/50 - loss: {g.take('l', l)} - acc: {g.take('a', a)} - {12 + s / 10:.0f}ms/step")
        g.line("Eval begin...")
        v, va = f"{g.fall(e, 5, 1, .2):.4f}", f"{g.rise(e, 5, .6, .95):.4f}"
        g.line(f"Eval samples: 10000\nloss: {g.take('v', v)} - acc: {g.take('va', va)}")
    g.ok("l").ok("a", "max").ok("v").ok("va", "max")
    g.progress = {"done": 5, "total": 5}
    return g


@log
def transformers_lm():
    g = Log("nemo-lightning-dict")
    for i in range(20):
        l = f"{g.fall(i, 20, 10.4, 2.9):.3f}"
        g.line(f"[NeMo I 2023-03-04 05:06:{i:02d} train:77] Epoch {i // 10}: train_step={i}, reduced_train_loss={g.take('l', l)}, global_step={i}.0, consumed_samples={i * 256}.0, train_step_timing in s=1.2{i}, val_loss=0.000")
    g.ok("l")
    g.ask("reduced_train_loss", "l")
    return g


@log
def deepspeed_print():
    g = Log("deepspeed-steps")
    for i in range(10, 310, 10):
        l = f"{g.fall(i, 310, 10.4, 2.9):.4f}"
        g.line(f"steps: {i} loss: {g.take('l', l)} iter time (s): {1.2 + g.noise(.05):.3f} samples/sec: {210 + g.noise(9):.3f}")
        g.line(f"[2023-03-04 05:06:07,890] [INFO] [logging.py:68:log_dist] [Rank 0] step={i}, skipped=0, lr=[{1e-4 * (1 - i / 310):.12g}], mom=[(0.9, 0.95)]")
    g.ok("l")
    g.ask("loss", "l")
    return g


@log
def percent_table():
    g = Log("accuracy-percent")
    for e in range(1, 21):
        l, a, t = f"{g.fall(e, 20, .9, .1):.6f}", f"{9000 * g.rise(e, 20, .5, 1.05, .002):.0f}", 10000
        pct = f"{int(a) / 100:.2f}"
        g.line(f"Train Epoch: {e} of 20\nTest set: Average loss: {g.take('l', l)}, Accuracy: {a}/{t} ({g.take('a', pct)}%)\n")
    g.ok("l").ok("a", "max")
    g.ask("Average loss", "l").ask("Accuracy", "a", "max")
    g.progress = {"done": 20, "total": 20}
    return g


@log
def liblinear():
    g = Log("liblinear")
    for i in range(1, 16):
        f = f"{g.fall(i, 15, 6931.5, 812, .001):.3e}"
        g.line(f"iter {i:2d} act {g.fall(i, 15, 3000, .1, .1):5.3e} pre {g.fall(i, 15, 2800, .1, .1):5.3e} delta 1.2{i:02d}e+00 f {g.take('f', f)} |g| {g.fall(i, 15, 5e4, 3, .1):5.3e} CG {2 + i // 3:3d}")
    g.ok("f")
    g.ask("f", "f")
    return g


@log
def gensim():
    g = Log("epoch-loss-sentence")
    for e in range(1, 16):
        l = f"{g.fall(e, 15, 4.2, .8):.5f}"
        g.line(f"2022-02-02 10:{e:02d}:00,123 - __main__ - INFO - End of epoch {e} / 15 \t Time Taken: {30 + e} sec")
        g.line(f"2022-02-02 10:{e:02d}:01,123 - __main__ - INFO - Mean training loss is {g.take('l', l)} after {e * 500} updates")
    g.ok("l")
    g.ask("Mean training loss", "l")
    g.progress = {"done": 15, "total": 15}
    return g


@log
def tf_object_detection():
    g = Log("tf-slim")
    for i in range(1, 31):
        l = f"{g.fall(i, 30, 12, 1.1):.4f}"
        g.line(f"INFO:tensorflow:global step {i * 10}: loss = {g.take('l', l)} ({0.3 + g.noise(.05):.3f} sec/step)")
        if i % 10 == 0:
            g.line(f"INFO:tensorflow:Recording summary at step {i * 10}.")
    g.ok("l")
    g.ask("loss", "l")
    return g


@log
def tf_estimator_eval():
    g = Log("tf-estimator-eval")
    for i in range(1, 13):
        l = f"{g.fall(i, 12, 2.3, .1):.7g}"
        sec = "" if i == 1 else f" ({3 + g.noise(.3):.3f} sec)"
        g.line(f"INFO:tensorflow:loss = {g.take('l', l)}, step = {i * 100}{sec}")
        g.line(f"INFO:tensorflow:global_step/sec: {30 + g.noise(3):.4f}")
        if i % 4 == 0:
            a, el = f"{g.rise(i, 12, .5, .97):.7g}", f"{g.fall(i, 12, 2, .2):.7g}"
            g.line(f"INFO:tensorflow:Saving dict for global step {i * 100}: accuracy = {g.take('a', a)}, global_step = {i * 100}, loss = {g.take('el', el)}")
    g.line("INFO:tensorflow:Loss for final step: 0.1234.")
    g.ok("l").ok("a", "max").ok("el")
    g.ask("accuracy", "a", "max")
    return g


@log
def cleanrl():
    g = Log("cleanrl")
    for i in range(1, 61):
        r = g.rise(i, 60, 15, 480, 20)
        g.line(f"global_step={i * 137}, episodic_return=[{g.take('r', f'{r:.0f}.')}]")
        if i % 10 == 0:
            g.line(f"SPS: {1500 + i}")
    g.ok("r", "max")
    g.ask("episodic_return", "r", "max")
    return g


@log
def udacity_dqn():
    g = Log("dqn-episodes")
    for i in range(1, 301):
        r = f"{g.rise(i, 300, -180, 205, 6):.2f}"
        g.text += f"\rEpisode {i}\tAverage Score: {g.take('r', r)}"
        if i % 100 == 0:
            g.line()
    g.line("\nEnvironment solved in 200 episodes!\tAverage Score: 200.95")
    g.text = g.text.rsplit("\n", 2)[0] + "\n"
    g.ok("r", "max")
    g.ask("Average Score", "r", "max")
    return g


@log
def nnunet():
    g = Log("nnunet")
    for e in range(15):
        t, v = f"{-g.rise(e, 15, .1, .85):.4f}", f"{-g.rise(e, 15, .1, .8):.4f}"
        g.line(f"2023-05-06 07:{e:02d}:01.123456:  \nepoch:  {e} ")
        g.line(f"2023-05-06 07:{e:02d}:02.123456: train loss : {g.take('t', t)} ")
        g.line(f"2023-05-06 07:{e:02d}:03.123456: validation loss: {g.take('v', v)} ")
        d = f"{g.rise(e, 15, .3, .9):.4f}"
        g.line(f"2023-05-06 07:{e:02d}:04.123456: Average global foreground Dice: [{g.take('d', d)}, {g.rise(e, 15, .2, .8):.4f}] ")
        g.line(f"2023-05-06 07:{e:02d}:05.123456: lr: {0.01 * (1 - e / 15) ** .9:.6f} \n2023-05-06 07:{e:02d}:06.123456: This epoch took {200 + g.noise(5):.6f} s\n ")
    g.ok("t").ok("v").ok("d", "max")
    g.ask("train loss", "t").ask("validation loss", "v")
    return g


@log
def nemo_bar():
    g = Log("nemo-bar")
    for i in range(0, 51, 2):
        l = f"{g.fall(i, 51, 10.8, 4):.3f}"
        g.text += f"\rEpoch 0: : {i * 2:3d}%|{chr(0x2588) * (i // 5)}{' ' * (10 - i // 5)}| {i}/50 [00:{i:02d}<00:{50 - i:02d}, v_num=, reduced_train_loss={g.take('l', l)}, global_step={i - 1.0}, consumed_samples={i * 256.0}, train_step_timing in s=1.2{i:02d}]"
    g.line()
    g.ok("l")
    g.ask("reduced_train_loss", "l")
    return g


@log
def torchtune():
    g = Log("torchtune")
    for i in range(1, 41):
        l = f"{g.fall(i, 40, 1.6, .7):.4f}"
        g.text += f"\r1|{i}|Loss: {g.take('l', l)}: {i * 100 // 40:3d}%|{chr(0x2588) * (i // 4)}{' ' * (10 - i // 4)}| {i}/40 [00:{i:02d}<00:{40 - i:02d},  1.01s/it]"
    g.line()
    g.ok("l")
    g.ask("Loss", "l")
    return g


@log
def litgpt():
    g = Log("litgpt")
    for i in range(1, 41):
        l = f"{g.fall(i, 40, 2.6, .9):.3f}"
        g.line(f"Epoch {1 + i // 20} | iter {i} step {i // 4} | loss train: {g.take('l', l)}, val: n/a | iter time: {300 + g.noise(20):.2f} ms{' (step)' if i % 4 == 0 else ''}")
        if i % 10 == 0:
            v = g.fall(i, 40, 2.5, 1)
            g.line(f"iter {i}: val loss {g.take('v', f'{v:.4f}')}, val time: 4{i}.12 ms")
    g.ok("l").ok("v")
    g.ask("val loss", "v").ask("loss train", "l")
    return g


@log
def coqui():
    g = Log("coqui-tts")
    g.line(" > Model has 28612257 parameters\n\n\x1b[4m\x1b[1m > EPOCH: 0/5\x1b[0m")
    for e in range(5):
        if e:
            g.line(f"\n\x1b[4m\x1b[1m > EPOCH: {e}/5\x1b[0m")
        for k in range(1, 5):
            i = e * 4 + k
            l = f"{g.fall(i, 24, 3.4, .5):.5f}"
            g.line(f"\n\x1b[1m   --> STEP: {k * 25}/100 -- GLOBAL_STEP: {i * 25}\x1b[0m")
            g.line(f"     | > decoder_loss: {g.fall(i, 24, 2, .3):.5f}  ({g.fall(i, 24, 2, .3):.5f})\n     | > postnet_loss: {g.fall(i, 24, 1, .2):.5f}  ({g.fall(i, 24, 1, .2):.5f})\n     | > loss: {g.take('l', l)}  ({g.fall(i, 24, 3.4, .5):.5f})\n     | > grad_norm: {g.fall(i, 24, 9, 1, .3):.5f}  ({g.fall(i, 24, 9, 1, .3):.5f})\n     | > current_lr: 0.00010 \n     | > step_time: 0.40010  (0.41{k}12)\n     | > loader_time: 0.00210  (0.00{k}2)\n")
    g.ok("l")
    g.ask("loss", "l")
    return g


@log
def flair():
    g = Log("flair")
    for e in range(1, 6):
        for k in range(1, 6):
            i = (e - 1) * 5 + k
            l = f"{g.fall(i, 25, 2.9, .2):.8f}"
            g.line(f"2022-03-04 05:{i:02d}:00,000 epoch {e} - iter {k * 20}/100 - loss {g.take('l', l)} - time (sec): {k * 2.2:.2f} - samples/sec: {300 + g.noise(20):.2f} - lr: 0.100000")
        t, d, f = f"{g.fall(e, 5, 2.5, .2):.8f}", f"{g.fall(e, 5, 2, .3):.8f}", f"{g.rise(e, 5, .3, .9):.4f}"
        g.line(f"2022-03-04 06:{e:02d}:00,000 EPOCH {e} done: loss {g.take('t', t)} - lr 0.100000")
        g.line(f"2022-03-04 06:{e:02d}:05,000 DEV : loss {g.take('d', d)} - f1-score (micro avg)  {g.take('f', f)}")
        g.line(f"2022-03-04 06:{e:02d}:06,000 BAD EPOCHS (no improvement): 0")
    g.ok("l").ok("t").ok("d").ok("f", "max")
    g.ask("loss", "l").ask("f1-score (micro avg)", "f", "max")
    return g


@log
def allennlp_bar():
    g = Log("allennlp-bar")
    for e in range(4):
        g.line(f"2021-01-01 00:0{e}:00,000 - INFO - allennlp.training.trainer - Epoch {e}/3")
        for b in range(0, 101, 20):
            a, l = f"{g.rise(e * 5 + b / 20, 25, .5, .95):.4f}", f"{g.fall(e * 5 + b / 20, 25, .69, .1):.4f}"
            g.text += f"\raccuracy: {a}, loss: {l} ||: {b:3d}%|{'#' * (b // 10)}{' ' * (10 - b // 10)}| {b}/100 [00:0{b // 20}<00:0{5 - b // 20}, 20.11it/s]"
        g.take("a", a), g.take("l", l)
        g.line()
    g.ok("l").ok("a", "max")
    g.ask("loss", "l")
    return g


@log
def deepspeech():
    g = Log("deepspeech")
    for e in range(6):
        for s in range(0, 61, 20):
            l = f"{g.fall(e * 4 + s / 20, 24, 180, 22):.6f}"
            g.text += f"\rEpoch {e} |   Training | Elapsed Time: 0:00:{s:02d} | Steps: {s} | Loss: {g.take('l', l)}"
        g.line()
        v = f"{g.fall(e, 6, 150, 30):.6f}"
        g.line(f"Epoch {e} | Validation | Elapsed Time: 0:00:04 | Steps: 20 | Loss: {g.take('v', v)} | Dataset: dev.csv")
        g.line("I Saved new best validating model with loss 30.1 to: /ckpt/best_dev-100")
    g.ok("l").ok("v")
    return g


@log
def cntk():
    g = Log("cntk")
    for e in range(1, 4):
        for b in range(1, 100, 10):
            i = (e - 1) * 10 + b // 10
            c, x = f"{g.fall(i, 30, 2.3, .1):.8f}", f"{g.fall(i, 30, .9, .03):.8f}"
            g.line(f" Epoch[{e:2d} of 3]-Minibatch[{b:4d}-{b + 9:4d}, {b + 9:.2f}%]: CrossEntropyWithSoftmax = {g.take('c', c)} * 640; EvalErrorPrediction = {g.take('x', x)} * 640; time = 0.1{b:02d}s; samplesPerSecond = {6000 + b}.4")
    g.ok("c").ok("x")
    g.ask("CrossEntropyWithSoftmax", "c")
    return g


@log
def matlab():
    g = Log("matlab-table")
    g.line("Training on single CPU.\nInitializing input data normalization.")
    rule = "|" + "=" * 88 + "|"
    g.line(rule)
    g.line("|  Epoch  |  Iteration  |  Time Elapsed  |  Mini-batch  |  Mini-batch  |  Base Learning  |")
    g.line("|         |             |   (hh:mm:ss)   |   Accuracy   |     Loss     |      Rate       |")
    g.line(rule)
    for i in range(0, 20):
        a, l = f"{100 * g.rise(i, 20, .1, .98):.2f}%", f"{g.fall(i, 20, 2.31, .06):.4f}"
        g.line(f"| {1 + i // 5:7d} | {max(1, i * 50):11d} |       00:00:{i + 3:02d} | {g.take('a', a):>12} | {g.take('l', l):>12} |          0.0100 |")
    g.line(rule)
    g.ok("l").ok("a", "max")
    g.ask("Mini-batch Loss", "l").ask("Accuracy", "a", "max")
    return g


@log
def seq2seq_tutorial():
    g = Log("seq2seq-tutorial")
    for i in range(1, 16):
        l = f"{g.fall(i, 15, 3.5, .3):.4f}"
        g.line(f"{i}m {(i * 7) % 60}s (- {15 - i}m {(i * 11) % 60}s) ({i * 5000} {i * 100 // 15}%) {g.take('l', l)}")
    g.ok("l")
    return g


@log
def chainer_print():
    g = Log("chainer-printreport")
    g.line("epoch       main/loss   validation/main/loss  main/accuracy  validation/main/accuracy  elapsed_time")
    for e in range(1, 11):
        a, b, c, d = f"{g.fall(e, 10, .6, .02):.6g}", f"{g.fall(e, 10, .3, .07):.6g}", f"{g.rise(e, 10, .8, .99):.6g}", f"{g.rise(e, 10, .85, .98):.6g}"
        for f in range(20, 101, 20):
            g.text += f"\x1b[J     total [{'#' * (f // 4)}{'.' * (25 - f // 4)}] {f / 10:5.2f}%\nthis epoch [{'#' * (f // 2)}{'.' * (50 - f // 2)}] {f:5.2f}%\n{e * 600:10d} iter, {e - 1} epoch / 20 epochs\n    123.45 iters/sec. Estimated time to finish: 0:01:02.123456.\n\x1b[4A"
        g.line(f"\x1b[J{e:<11d} {g.take('a', a):<11} {g.take('b', b):<21} {g.take('c', c):<14} {g.take('d', d):<25} {e * 3.21:<12.6g}")
    g.ok("a").ok("b").ok("c", "max").ok("d", "max")
    g.ask("main/loss", "a").ask("validation/main/accuracy", "d", "max")
    return g


@log
def theano_tutorial():
    g = Log("theano-tutorial")
    for e in range(1, 16):
        v = f"{g.fall(e, 15, 12, 7.1, .01):f}"
        g.line(f"epoch {e}, minibatch 83/83, validation error {g.take('v', v)} %")
        g.line(f"     epoch {e}, minibatch 83/83, test error of best model {float(v) + .1:f} %")
    g.ok("v")
    g.ask("validation error", "v")
    return g


@log
def keras_verbose2():
    g = Log("keras-verbose2")
    for e in range(1, 13):
        l, a, vl, va = f"{g.fall(e, 12, .9, .1):.4f}", f"{g.rise(e, 12, .6, .97):.4f}", f"{g.fall(e, 12, .8, .2):.4f}", f"{g.rise(e, 12, .65, .94):.4f}"
        g.line(f"Epoch {e}/12")
        g.line(f"\nEpoch {e}: val_loss improved from {'inf' if e == 1 else '0.50000'} to {vl}0, saving model to best.h5")
        g.line(f"469/469 - 2s - loss: {g.take('l', l)} - accuracy: {g.take('a', a)} - val_loss: {g.take('vl', vl)} - val_accuracy: {g.take('va', va)} - lr: 0.0010 - 2s/epoch - 4ms/step")
    g.ok("l").ok("a", "max").ok("vl").ok("va", "max")
    g.ask("val_loss", "vl").ask("loss", "l").ask("val_accuracy", "va", "max")
    g.progress = {"done": 12, "total": 12}
    return g


@log
def gensim_lda():
    g = Log("gensim-lda")
    for i in range(12):
        p = f"{g.fall(i, 12, 1500, 420):.1f}"
        g.line(f"2021-09-09 10:10:{i:02d},123 : INFO : PROGRESS: pass {i}, at document #2000/2000")
        g.line(f"2021-09-09 10:10:{i:02d},456 : INFO : topic #0 (0.100): 0.012*\"time\" + 0.010*\"year\" + 0.00{i}*\"people\"")
        b = f"-{math.log2(float(p)):.3f}"
        g.line(f"2021-09-09 10:10:{i:02d},789 : INFO : {g.take('b', b)} per-word bound, {g.take('p', p)} perplexity estimate based on a held-out corpus of 2000 documents with 123456 words")
    g.ok("p").ok("b", "max")
    g.ask("perplexity", "p")
    return g


@log
def dpo():
    g = Log("trl-dpo")
    for i in range(1, 26):
        l = f"{g.fall(i, 25, .693, .31):.4f}"
        g.line(f"{{'loss': {g.take('l', l)}, 'grad_norm': {g.fall(i, 25, 9, 4, .3):.4f}, 'learning_rate': {5e-7 * (1 - i / 25):.6e}, 'rewards/chosen': {g.rise(i, 25, 0, .8):.4f}, 'rewards/rejected': {-g.rise(i, 25, 0, .9):.4f}, 'rewards/accuracies': {g.rise(i, 25, .5, .8):.4f}, 'rewards/margins': {g.rise(i, 25, 0, 1.7):.4f}, 'logps/rejected': -3{i}.12, 'logps/chosen': -2{i}.45, 'logits/rejected': -2.{i}1, 'logits/chosen': -2.{i}2, 'epoch': {i / 25:.2f}}}")
    g.ok("l")
    g.ask("loss", "l")
    return g


@log
def optuna():
    g = Log("optuna")
    best = 9
    for i in range(20):
        v = abs(g.fall(i, 20, 2.5, .4, .3))
        best = min(best, v)
        g.line(f"[I 2023-01-01 12:{i:02d}:00,000] Trial {i} finished with value: {g.take('v', repr(v))} and parameters: {{'lr': {abs(g.noise(.1))!r}, 'n_layers': {g.random.randint(1, 4)}, 'dropout': {abs(g.noise(.5))!r}}}. Best is trial {i // 3} with value: {best!r}.")
    g.ok("v")
    return g


@log
def pyro_svi():
    g = Log("svi-thousands")
    for i in range(0, 101, 5):
        l = g.fall(i, 101, 48211, 1203)
        g.take("l", f"{l:.2f}")
        g.line(f"step {i:4d} ELBO loss: {l:,.2f} ({1.2 + g.noise(.2):.1f} s)")
    g.ok("l")
    g.ask("loss", "l")
    return g


@log
def h2o():
    g = Log("h2o-table")
    g.line("Scoring History: \n    timestamp            duration    number_of_trees    training_rmse    training_mae    training_deviance    validation_rmse")
    g.line("--  -------------------  ----------  -----------------  ---------------  --------------  -------------------  -----------------")
    for i in range(12):
        a, b, c, d = (f"{g.fall(i, 12, x, x / 4, .001):.6f}" for x in (2.1, 1.7, 4.4, 2.2))
        g.line(f"    2022-01-01 10:00:{i:02d}  0.{100 + i * 30} sec   {i * 5:<17d}  {g.take('a', a):<15}  {g.take('b', b):<14}  {g.take('c', c):<19}  {g.take('d', d)}")
    g.ok("a").ok("b").ok("c").ok("d")
    g.ask("training_rmse", "a").ask("validation_rmse", "d")
    return g


@log
def eval_train_pairs():
    g = Log("eval-train-pairs")
    for e in range(1, 11):
        a, b, c, d = f"{g.fall(e, 10, 3, .3):.6f}", f"{g.rise(e, 10, .3, .98):.6f}", f"{g.fall(e, 10, 2.5, .9):.6f}", f"{g.rise(e, 10, .3, .8):.6f}"
        g.line(f"07/04/2023 12:{e:02d}:00 - INFO - __main__ -   ***** epoch {e} *****")
        g.line(f"07/04/2023 12:{e:02d}:01 - INFO - __main__ -     train_loss = {g.take('a', a)}\n07/04/2023 12:{e:02d}:01 - INFO - __main__ -     train_acc = {g.take('b', b)}\n07/04/2023 12:{e:02d}:01 - INFO - __main__ -     eval_loss = {g.take('c', c)}\n07/04/2023 12:{e:02d}:01 - INFO - __main__ -     eval_acc = {g.take('d', d)}\n07/04/2023 12:{e:02d}:01 - INFO - __main__ -     global_step = {e * 230}")
    g.ok("a").ok("b", "max").ok("c").ok("d", "max")
    g.ask("eval_loss", "c").ask("train_loss", "a").ask("eval_acc", "d", "max")
    return g


@log
def openai_baselines():
    g = Log("baselines-box")
    for i in range(1, 13):
        r = f"{g.rise(i, 12, -21, 18, .5):.3g}"
        g.line("-" * 38)
        g.line(f"| eplenmean          | {900 + i * 30:<13.3g} |\n| eprewmean          | {g.take('r', r):<13} |\n| fps                | {700 + i:<13d} |\n| loss/approxkl      | {abs(g.noise(.01)):<13.3g} |\n| loss/clipfrac      | {abs(g.noise(.2)):<13.3g} |\n| loss/policy_entropy | {g.fall(i, 12, 1.8, 1):<12.3g} |\n| loss/policy_loss   | {-abs(g.noise(.02)):<13.3g} |\n| loss/value_loss    | {g.fall(i, 12, .4, .02):<13.3g} |\n| misc/explained_variance | {g.rise(i, 12, 0, .9):<8.3g} |\n| misc/nupdates      | {i:<13d} |\n| misc/serial_timesteps | {i * 128:<10d} |\n| misc/time_elapsed  | {i * 1.5:<13.3g} |\n| misc/total_timesteps | {i * 1024:<11.3g} |")
        g.line("-" * 38)
    g.ok("r", "max")
    g.ask("eprewmean", "r", "max")
    return g


@log
def pytorch_rl_examples():
    g = Log("reinforce")
    for i in range(10, 410, 10):
        last, avg = f"{g.rise(i, 410, 15, 480, 60):.2f}", f"{g.rise(i, 410, 12, 450, 3):.2f}"
        g.line(f"Episode {i}\tLast reward: {g.take('l', last)}\tAverage reward: {g.take('a', avg)}")
    g.ok("l", "max").ok("a", "max")
    g.ask("Average reward", "a", "max")
    return g


@log
def kmeans():
    g = Log("kmeans")
    g.line("Initialization complete")
    for i in range(15):
        v = f"{g.fall(i, 15, 22000, 11000, .0001):.6f}"
        g.line(f"Iteration {i}, inertia {g.take('v', v)}.")
    g.line("Converged at iteration 14: center shift 0.0001 within tolerance 0.0002.")
    g.ok("v")
    g.ask("inertia", "v")
    return g


@log
def chinese():
    g = Log("chinese-keys")
    for i in range(1, 31):
        l, a = f"{g.fall(i, 30, 2.3, .2):.4f}", f"{g.rise(i, 30, .1, .95):.4f}"
        g.line(f"\u7b2c {i} \u8f6e, \u8bad\u7ec3\u635f\u5931: {g.take('l', l)}, \u51c6\u786e\u7387: {g.take('a', a)}, \u7528\u65f6: {12 + g.noise(2):.2f}\u79d2")
    g.ok("l").ok("a", "max")
    g.ask("\u8bad\u7ec3\u635f\u5931", "l")
    return g


@log
def sagemaker_keras():
    g = Log("sagemaker-keras")
    for e in range(1, 6):
        g.line(f"\x1b[34mEpoch {e}/5\x1b[0m")
        text = "\x1b[34m"
        width = 0
        for b in range(1, 6):
            l, a = f"{g.fall(e * 5 + b, 30, 1.9, .2):.4f}", f"{g.rise(e * 5 + b, 30, .3, .95):.4f}"
            bar = f"{b * 20:3d}/100 [{'=' * (b * 6 - 1)}{'>' if b < 5 else '='}{'.' * (30 - b * 6)}] - ETA: {5 - b}s - loss: {l} - acc: {a}"
            text += "#010" * width + ("#015" if width else "") + bar
            width = len(bar)
        vl, va = f"{g.fall(e, 5, 1.5, .4):.4f}", f"{g.rise(e, 5, .5, .9):.4f}"
        g.line(text + "#010" * width + "#015" + f"100/100 [{'=' * 30}] - 4s 40ms/step - loss: {g.take('l', l)} - acc: {g.take('a', a)} - val_loss: {g.take('vl', vl)} - val_acc: {g.take('va', va)}\x1b[0m")
    g.ok("l").ok("a", "max").ok("vl").ok("va", "max")
    g.ask("val_loss", "vl")
    return g


if __name__ == "__main__":
    for make in ALL:
        make().write()
    print(len(ALL), "logs")
