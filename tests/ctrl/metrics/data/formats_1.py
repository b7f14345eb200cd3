# SPDX-License-Identifier: Apache-2.0
"""Formats of training logs, a function each; make_logs.py says how they are used."""
import math

from log_writer import Log, log


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
