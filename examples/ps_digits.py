#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Digits learnt by workers that come and go, around a parameter server: numpy and TCP.

The server has the weights of a small network. Each worker asks for them, computes the gradient of a
batch and sends it; the server takes it at once (asynchronous SGD), whoever is there. When the
server is gone for a while a worker goes, too.

    docker flowcon submit --name ps --workers 1:4 --ps 1 --elastic join IMAGE python3 ps_digits.py
"""
import argparse
import io
import os
import signal
import socket
import socketserver
import struct
import sys
import threading
import time

import numpy as np
from sklearn.datasets import load_digits

PORT = int(os.environ.get("FLOWCON_PORT", "29500"))  # where a server listens
PATIENCE = 60  # seconds without a server


def send(connection, **arrays):
    """Numbers and arrays, by name."""
    text = io.BytesIO()
    np.savez(text, **arrays)
    connection.sendall(struct.pack("!I", text.tell()) + text.getvalue())


def read(connection, size):
    """As many bytes, less where the other side has closed."""
    text = b""
    while len(text) < size and (piece := connection.recv(min(size - len(text), 1 << 20))):
        text += piece
    return text


def receive(connection):
    """None where the other side has closed."""
    head = read(connection, 4)
    if len(head) < 4:
        return None
    size, = struct.unpack("!I", head)
    text = read(connection, size)
    if len(text) < size:
        return None
    with np.load(io.BytesIO(text), allow_pickle=False) as arrays:
        return dict(arrays)


class Server:
    """Weights, and how many gradients they have taken."""

    def __init__(self, steps, rate, hidden):
        random = np.random.default_rng(2)
        self.weights = {"first": random.normal(0, 0.1, (64, hidden)), "bias": np.zeros(hidden),
                        "second": random.normal(0, 0.1, (hidden, 10)), "shift": np.zeros(10)}
        self.steps, self.rate, self.taken = steps, rate, 0
        self.lock = threading.Lock()

    def answer(self, message):
        with self.lock:
            if "first" in message and self.taken < self.steps:
                for name, weight in self.weights.items():
                    weight -= self.rate * message[name]
                behind = self.taken - message["step"]
                self.taken += 1
                if self.taken % 50 == 0:
                    print(f"step {self.taken}/{self.steps} loss: {message['loss']:.4f} staleness: {behind}",
                          flush=True)
            return {"step": self.taken, "steps": self.steps, "is_over": self.taken >= self.steps,
                    **{name: weight.copy() for name, weight in self.weights.items()}}

    def serve(self):
        server = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                try:
                    while (message := receive(self.request)) is not None:
                        send(self.request, **server.answer(message))
                except ConnectionError:
                    pass  # a worker has gone

        socketserver.ThreadingTCPServer.allow_reuse_address = True
        with socketserver.ThreadingTCPServer(("", PORT), Handler) as tcp:
            tcp.daemon_threads = True
            tcp.serve_forever()


def gradient_of(state, x, y):
    """The loss of a batch and its slope for each weight: one hidden layer, softmax."""
    hidden = np.maximum(x @ state["first"] + state["bias"], 0)
    scores = hidden @ state["second"] + state["shift"]
    scores -= scores.max(axis=1, keepdims=True)
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    loss = -np.log(chances[np.arange(len(y)), y] + 1e-12).mean()
    chances[np.arange(len(y)), y] -= 1
    chances /= len(y)
    back = (chances @ state["second"].T) * (hidden > 0)
    return loss, {"first": x.T @ back, "bias": back.sum(axis=0),
                  "second": hidden.T @ chances, "shift": chances.sum(axis=0)}


def connect(address):
    host, _, port = address.rpartition(":")
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection((host or "127.0.0.1", int(port or 29500)), timeout=10)
        except OSError:
            if time.monotonic() > end:
                raise SystemExit(f"there is no parameter server at {address}") from None
            time.sleep(0.2)


def work(address, rank, batch, pause):
    digits = load_digits()
    x, y = digits.data / 16.0, digits.target
    random = np.random.default_rng(rank)
    mine = 0
    while True:
        with connect(address) as connection:
            try:
                send(connection)
                while (state := receive(connection)) is not None:
                    if state["is_over"]:
                        print(f"worker {rank}: {mine} steps were mine", flush=True)
                        return
                    part = random.integers(0, len(x), batch)
                    loss, slopes = gradient_of(state, x[part], y[part])
                    mine += 1
                    if mine % 50 == 0:
                        print(f"step {state['step']}/{state['steps']} loss: {loss:.4f}", flush=True)
                    time.sleep(pause)
                    send(connection, step=state["step"], loss=loss, **slopes)
            except ConnectionError:
                continue  # it may come back


def main(hidden=64, batch=64, steps=4000):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=steps, help="gradients in all, whoever computes them")
    parser.add_argument("--batch", type=int, default=batch)
    parser.add_argument("--hidden", type=int, default=hidden, help="units between the digits and what they are")
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--pause", type=float, default=0.0, metavar="SECONDS", help="of a worker after each step")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if os.environ.get("FLOWCON_ROLE") == "ps":
        Server(args.steps, args.rate, args.hidden).serve()
    else:
        server = os.environ.get("FLOWCON_PS", "").split(",")[0]
        work(server, int(os.environ.get("FLOWCON_RANK", "0")), args.batch, args.pause)


if __name__ == "__main__":
    main()
