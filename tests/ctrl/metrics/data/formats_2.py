# SPDX-License-Identifier: Apache-2.0
"""Formats of training logs, a function each; make_logs.py says how they are used."""
from log_writer import Log, log


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
