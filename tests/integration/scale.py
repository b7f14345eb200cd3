#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An engine's socket with more containers than it has: passes everything on to the real engine and
adds COUNT containers to its list, each wrong in its own way.
usage: scale.py REAL-SOCKET OWN-SOCKET COUNT"""
import hashlib
import http.server
import json
import socket
import socketserver
import sys
import urllib.parse

real_socket, own_socket, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
added = {hashlib.sha256(b"scale%d" % i).hexdigest(): i for i in range(count)}
bad_ids = ["../../etc/passwd", "a/b", "..", "", "A" * 64, "x" * 100000, "\n", "é" * 32]

NAMES = ["/loss%d", "/../../x%d", "/a b%d", "/$(touch x)%d", "/-rf%d", "/%%s%%n%d", "/\x1b[2J%d", "/é\u202e%d"]
PIDS = [2**22 - 7, 2**31, 2**63 - 1]
NO_PIDS = [0, -1, 10**30, "1", None]  # of one in fifty: for the daemon such a container does not run
LOGS = ["", "/nonexistent/x-json.log", "../../etc/shadow", "/dev/zero", "/proc/self/mem", "/" + "a/" * 2000,
        "/etc", "\x00"]
LABELS = [
    {"flowcon.enable": "true"},
    {"flowcon.metric": "loss\n\x1b]0;x\x07", "flowcon.goal": "up"},
    {"flowcon.pattern": "(" * 500},
    {"flowcon.pattern": "(?P<value>(((a{30}){30}){30}))"},
    {"flowcon.weight": "1e999", "flowcon.floor": "nan"},
    {"flowcon.log": "/../../../etc/shadow"},
    {"flowcon." + "x" * 5000: "y" * 50000},
    {"flowcon.log": "tfevents:/" + "a/" * 400, "flowcon.enable": "true"},
]


IMAGE = "sha256:" + "c" * 64  # of all of them; it has no labels, so that theirs are their own


def inspected(identity):
    i = added[identity]
    pids = NO_PIDS if i % 50 == 0 else PIDS
    return {
        "Id": identity,
        "Name": NAMES[i % len(NAMES)] % i,
        "State": {"Running": True, "Pid": pids[i // 8 % len(pids)], "StartedAt": "2026-13-99T99:99:99Z"},
        "HostConfig": {"LogConfig": {"Type": ["json-file", "local", "journald", "x"][i // 3 % 4], "Config": {}},
                       "CpuShares": -5, "CpuQuota": 2**62, "CpuPeriod": 0, "NanoCpus": -1},
        "Image": IMAGE,
        "LogPath": LOGS[i // 5 % len(LOGS)],
        "HostnamePath": "/../hostname",
        "Mounts": [{"Destination": "/", "Source": "/"}] * 3,
        "Config": {"Image": "x", "Labels": LABELS[i // 7 % len(LABELS)]},
    }


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = self.path.split("?")[0].split("/")
        if path[-2:] == ["containers", "json"]:
            listed = json.loads(self.ask_engine()[1])
            listed += [{"Id": identity} for identity in added] + [{"Id": identity} for identity in bad_ids]
            self.answer(200, json.dumps(listed).encode())
        elif path[-1] == "json" and path[-2] in added:
            self.answer(200, json.dumps(inspected(path[-2])).encode())
        elif path[-1] == "json" and urllib.parse.unquote(path[-2]) == IMAGE:
            self.answer(200, json.dumps({"Id": IMAGE, "Config": {"Labels": None}}).encode())
        elif path[-1] == "events":
            self.pass_on()
        else:
            self.answer(*self.ask_engine())

    def handle(self):
        try:
            super().handle()
        except (BrokenPipeError, ConnectionResetError):  # who asked has gone
            pass

    def ask_engine(self):
        engine = socket.socket(socket.AF_UNIX)
        engine.connect(real_socket)
        engine.sendall(f"GET {self.path} HTTP/1.0\r\nHost: docker\r\n\r\n".encode())
        answer = b"".join(iter(lambda: engine.recv(1 << 16), b""))
        engine.close()
        head, _, body = answer.partition(b"\r\n\r\n")
        self.engine_head = [line.split(": ", 1) for line in head.decode().split("\r\n")[1:]]
        return int(head.split()[1]), body

    def answer(self, status, body):
        self.send_response_only(status)
        for name, value in getattr(self, "engine_head", []):
            if name.lower() in ("api-version", "server"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def pass_on(self):
        engine = socket.socket(socket.AF_UNIX)
        engine.connect(real_socket)
        engine.sendall(f"GET {self.path} HTTP/1.1\r\nHost: docker\r\n\r\n".encode())
        for chunk in iter(lambda: engine.recv(1 << 16), b""):
            self.wfile.write(chunk)
        self.close_connection = True

    def address_string(self):
        return "flowcond"

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 128


with Server(own_socket, Handler) as server:
    server.serve_forever()
