# SPDX-License-Identifier: Apache-2.0
"""Formats of training logs, a function each; make_logs.py says how they are used."""
import math

from log_writer import Log, log


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
