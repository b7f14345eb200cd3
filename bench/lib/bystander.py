#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The measurement of bench/bystander: requests at a steady rate to a small HTTP server, each timed from the moment at
which it was due, so that one that waits behind a slow one counts in full."""
import argparse
import http.client
import json
import os
import socket
import threading
import time
import urllib.parse

from bench_stats import heading, load, median, percentile, row
from engine_http import Engine

WAYS = ("alone", "free", "controlled", "reserve")
TITLES = {"alone": "alone", "free": "beside three trainings, free", "controlled": "beside the same, controlled",
          "reserve": "the same, with reserve"}
WIDTH = 34
SETTLE_SECONDS = 20  # until the trainings train and have their limits
CLIENTS = 32
LABEL = "docker-flowcon.bystander"
SERVER = """
import hashlib, http.server
class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        page = hashlib.pbkdf2_hmac("sha256", b"page", b"bench", 2000).hex().encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)
    def log_message(self, *arguments):
        pass
class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128  # with the default of 5 the kernel refuses the sixth, who asks again after 1, 3, 7 s
Server(("127.0.0.1", PORT), Page).serve_forever()
"""
TRAININGS = ("vae_digits.py", "cnn_digits.py", "char_gru.py")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def run(engine, name, options, command, network="none", labels=None, binds=(), environment=()):
    body = {"Image": options.image, "Cmd": command, "Env": list(environment),
            "Labels": {LABEL: name, **(labels or {})}, "HostConfig": {"NetworkMode": network, "Binds": list(binds)}}
    engine.start(engine.call("POST", f"/containers/create?name={name}", body)["Id"])


def remove_all(engine):
    filters = urllib.parse.quote(json.dumps({"label": [LABEL]}))
    for one in engine.call("GET", f"/containers/json?all=1&filters={filters}"):
        engine.finish(engine.send("DELETE", f"/containers/{one['Id']}?force=1&v=1"))


def get(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/")
    answer = connection.getresponse()
    answer.read()
    connection.close()
    if answer.status != 200:
        raise SystemExit(f"the server answered {answer.status}")


def wait_for(port):
    for _ in range(300):
        try:
            return get(port)
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server does not answer")


def be_first():
    """What asks shall not wait for a core itself."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        pass


def ask_steadily(port, seconds, rate):
    """Milliseconds of each request."""
    taken, lock, due = [], threading.Lock(), iter(range(int(seconds * rate)))
    begin = time.perf_counter()

    def client():
        while True:
            with lock:
                number = next(due, None)
            if number is None:
                return
            at = begin + number / rate
            time.sleep(max(0.0, at - time.perf_counter()))
            get(port)
            taken.append((time.perf_counter() - at) * 1000)

    clients = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for one in clients:
        one.start()
    for one in clients:
        one.join()
    return taken


def measure(options):
    engine, port = Engine(options.engine), free_port()
    try:
        run(engine, "server", options, ["python3", "-c", SERVER.replace("PORT", str(port))], network="host")
        if options.way != "alone":
            for script in TRAININGS:
                run(engine, script.partition(".")[0], options, ["python3", f"/examples/{script}"],
                    labels={"flowcon.enable": "true"}, binds=[f"{options.examples}:/examples:ro"],
                    environment=["EPOCHS=100000"])
        wait_for(port)
        time.sleep(SETTLE_SECONDS)
        be_first()
        taken = ask_steadily(port, options.seconds, options.rate)
    finally:
        remove_all(engine)
    with open(options.results, "a", encoding="utf-8") as results:
        print(json.dumps([options.way, taken]), file=results)


def table(options):
    with open(options.results, encoding="utf-8") as results:
        runs = [json.loads(line) for line in results]
    print(load())
    print(heading("milliseconds", WIDTH))
    taken = {way: [time for name, times in runs if name == way for time in times] for way in WAYS}
    for way in WAYS:
        print(row(TITLES[way], taken[way], WIDTH))
    ratios = {way: percentile(taken[way], 99) / percentile(taken["alone"], 99) for way in WAYS}
    print("\np99, times that of alone: " + ", ".join(f"{way} {ratios[way]:.1f}" for way in WAYS[1:]))
    print("median, times that of alone: " + ", ".join(
        f"{way} {median(taken[way]) / median(taken['alone']):.1f}" for way in WAYS[1:]))
    print(f"aim met: {'yes' if 2 * ratios['reserve'] <= ratios['controlled'] else 'no'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("way", choices=[*WAYS, "table"])
    parser.add_argument("--results", required=True)
    for name in ("--engine", "--image", "--examples"):
        parser.add_argument(name)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--rate", type=float)
    options = parser.parse_args()
    if options.way == "table":
        table(options)
    else:
        measure(options)


if __name__ == "__main__":
    main()
