# SPDX-License-Identifier: Apache-2.0
"""Formats of training logs, a function each; make_logs.py says how they are used."""
import math

from log_writer import Log, log


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
