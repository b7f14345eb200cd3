#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls every endpoint of docs/api.md and docs/peers.md with what nobody should send: fields that are missing, said
twice, of another type, hostile, far too large; names and questions likewise. Each call has to be answered, by JSON, with
a sentence where it is an error, and never by 500.

usage: api_fuzz.py SOCKET PEER_SOCKET PEER PEER_ID OWN_ID CONTAINER LOOSE [SEED [MOST]]

PEER is a peer of the flowcond that listens at both sockets, PEER_ID and OWN_ID are the ids of the two hosts; CONTAINER
is one that may be changed and is not moved, and LOOSE one that is not under control. At most MOST
bodies and names are picked for each endpoint (default 60, 0: all of them). Prints the seed and the count of calls; status 1 and the call where one is answered wrongly.
"""
import json
import random
import socket
import sys
import urllib.parse

HUGE = 10**400
HOSTILE = [
    "", " ", "\0", "a\0b", "\n", "\r\nX: y", "..", "../../etc/passwd", "/", "//", "%", "%s%n%x", "%2F", "-", "--rm",
    "'; rm -rf /", "$(reboot)", "\x1b[2J", "\u202eevil", "\ud83d\ude00" * 3, "\ufffe", "x" * 256, "x" * 70000, "nan", "inf",
    "-inf", "1e999", "0x10", "1" * 400, "none", "null", "true", "[" * 50, "{", '"', "\\", "(" * 300, "(?P<value>", "a{1000}",
    "*", "[a", "0", "-1", "1e-320", "18446744073709551616", "9223372036854775808", "2", "0.5",
]
NOT_UTF8 = [b"\xff\xfe", b"\xc3\x28", b"\xed\xa0\x80"]
OTHER_TYPES = [None, True, False, 0, -1, 1, 0.5, 1e308, 2**63, 2**64, -(2**63) - 1, HUGE, -0.0, "", "x", [], [[]], {},
               {"": {}}, ["x", None], {"name": {"name": []}}]
BODIES = [b"", b" ", b"null", b"true", b"0", b'"x"', b"[]", b"{}", b"{", b"}", b'{"', b'{"a":}', b'{"a":1,}', b"{}{}", b"\xff",
          b"\0" * 8, b"[" * 5000, b'{"a":' * 5000, b'{"a":"\\ud800"}', b"NaN", b'{"a":1e999}', b" " * 70000,
          b'{"a":"' + b"x" * 70000 + b'"}']
QUERIES = ["", "?", "??", "?x", "?last=", "?last=0", "?last=-1", "?last=1001", "?last=99999999999999999999", "?last=1&last=2",
           "?since=", "?since=nan", "?since=1e999", "?since=-1e308", "?since=1e308", "?since=0&after=", "?since=0&after=-1",
           "?since=0&after=99999999999999999999", "?since=0&after=9223372036854775807", "?after=1", "?from=", "?from=-1",
           "?from=9223372036854775807", "?from=18446744073709551615", "?recent=", "?recent=-1", "?recent=201", "?recent=200",
           "?since=%00", "?%", "?since=0;drop", "?last=1%20", "?recent=1&recent=2", "?last=" + "9" * 3000]

CONTROL = {"pause": {}, "resume": {}, "pin": {"cpu": "0.5", "for": "1"}, "unpin": {},
           "set": {"weight": "2", "floor": "0.1", "ceiling": "0.5", "only-grow": "true"}}
ADOPT = {"metric": "loss", "goal": "min", "pattern": "loss (\\S+)", "weight": "2", "floor": "0.1", "log": "/out/train.log"}
HEX = "0123456789abcdef"


class Wrong(Exception):
    """An answer that may not be."""


class Twice:
    """An object with a member that is said twice."""

    def __init__(self, members, name, second):
        self.members, self.name, self.second = members, name, second


def text_of(value):
    """JSON, with what json.dumps does not do."""
    if isinstance(value, Twice):
        parts = [json.dumps(key) + ":" + text_of(one) for key, one in value.members.items()]
        parts.append(json.dumps(value.name) + ":" + text_of(value.second))
        return "{" + ",".join(parts) + "}"
    if isinstance(value, dict):
        return "{" + ",".join(json.dumps(key) + ":" + text_of(one) for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(text_of(one) for one in value) + "]"
    if value is HUGE:
        return "1" + "0" * 400
    return json.dumps(value)


class Line:
    """One connection; for a peer's socket it says whose it is."""

    def __init__(self, path, speaker=None):
        self.path, self.speaker, self.file, self.socket = path, speaker, None, None

    def open(self):
        self.close()
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(self.path)
        if self.speaker is not None:
            self.socket.sendall(b"FLOWCON-PEER " + self.speaker + b"\n")
        self.file = self.socket.makefile("rb")

    def close(self):
        if self.file:
            self.file.close()
            self.socket.close()
        self.file = None

    def call(self, method, target, body):
        """Status and body of the answer."""
        fresh = self.file is None
        if fresh:
            self.open()
        head = (f"{method} {target} HTTP/1.1\r\nHost: flowcon\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode("utf-8", "surrogateescape")
        try:
            # A server may answer and end the connection before it has read all of a long body.
            try:
                self.socket.sendall(head + body)
            except (BrokenPipeError, ConnectionResetError):
                pass
            return self.answer()
        except (ConnectionError, EOFError) as failure:
            self.close()
            if fresh:
                raise Wrong(f"no answer: {failure!r}") from failure
            return self.call(method, target, body)

    def answer(self):
        line = self.file.readline(65536)
        words = line.split(None, 2)
        if not line:
            raise EOFError("the connection ended")
        if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not words[1].isdigit():
            raise Wrong(f"no HTTP: {line[:200]!r}")
        length, closes = 0, False
        while True:
            name, _, value = self.file.readline(65536).strip().partition(b":")
            if not name:
                break
            if name.lower() == b"content-length":
                length = int(value)
            closes = closes or (name.lower() == b"connection" and value.strip().lower() == b"close")
        body = self.file.read(length)
        if len(body) != length:
            raise EOFError("the answer is cut")
        if closes:
            self.close()
        return int(words[1]), body


def judge(status, body, is_text=False):
    """An error has a sentence; what is none is JSON."""
    if is_text and status == 200:
        return
    try:
        said = json.loads(body.decode("utf-8"))
    except (UnicodeDecodeError, ValueError) as failure:
        raise Wrong(f"status {status}, and no JSON: {body[:200]!r}") from failure
    if not isinstance(said, dict):
        raise Wrong(f"status {status}, and no object: {body[:200]!r}")
    if status == 200 or status == 202:
        return
    # 5xx only where something else does not answer or is full.
    if not 400 <= status < 500 and status not in (502, 503, 507):
        raise Wrong(f"status {status}: {body[:200]!r}")
    sentence = said.get("error")
    if not isinstance(sentence, str) or len(sentence) < 5 or any(ord(c) < 32 for c in sentence):
        raise Wrong(f"status {status} without a sentence: {body[:200]!r}")
    if len(sentence) > 20000:
        raise Wrong(f"status {status} with a sentence of {len(sentence)} characters")


class Fuzz:
    """All calls, in an order that the seed decides."""

    def __init__(self, arguments):
        self.api_path, self.peer_path, self.peer, self.peer_id, self.own_id, self.container, self.loose = arguments[:7]
        self.seed = int(arguments[7]) if len(arguments) > 7 else 1
        self.most = int(arguments[8]) if len(arguments) > 8 else 60
        self.random = random.Random(self.seed)
        self.people = Line(self.api_path)
        self.calls = 0
        self.by_status = {}

    # ---- bodies

    def paths(self, value, here=()):
        """Where there is something to change in a body."""
        found = []
        if isinstance(value, dict):
            for key, one in value.items():
                found.append(here + (key,))
                found += self.paths(one, here + (key,))
        elif isinstance(value, list):
            for at, one in enumerate(value):
                found.append(here + (at,))
                found += self.paths(one, here + (at,))
        return found

    def changed(self, value, path, change):
        """A copy in which `change` has been made to the parent of what is at `path`."""
        copy = json.loads(json.dumps(value))
        if len(path) == 1:
            return change(copy, path[0])
        parent = copy
        for key in path[:-2]:
            parent = parent[key]
        parent[path[-2]] = change(parent[path[-2]], path[-1])
        return copy

    def picked(self, many):
        many = list(many)
        return many if self.most == 0 or len(many) <= self.most else self.random.sample(many, self.most)

    def bodies(self, good):
        return self.picked(self.all_bodies(good))

    def names(self):
        return self.picked(self.all_names())

    def all_bodies(self, good):
        """`good` with each of its fields missing, said twice, of every other type and hostile, then what is none."""
        def without(parent, key):
            del parent[key]
            return parent

        def put(new):
            def change(parent, key):
                parent[key] = new
                return parent
            return change

        def twice(new):
            return lambda parent, key: Twice(parent, key, new) if isinstance(parent, dict) else parent

        for path in self.paths(good):
            yield text_of(self.changed(good, path, without)).encode()
            yield text_of(self.changed(good, path, twice(self.random.choice(OTHER_TYPES)))).encode()
            for other in OTHER_TYPES:
                yield text_of(self.changed(good, path, put(other))).encode()
            for other in self.random.sample(HOSTILE, 12):
                yield text_of(self.changed(good, path, put(other))).encode()
            mark = "FLOWCON" + "MARK"
            cut = text_of(self.changed(good, path, put(mark))).encode()
            for other in NOT_UTF8:
                yield cut.replace(mark.encode(), other)
        for key in self.random.sample(HOSTILE, 4):
            yield text_of({**good, key: 1}).encode()
        yield from BODIES

    def all_names(self):
        """Names as a path has them."""
        for name in HOSTILE:
            # A short hexadecimal one may be the beginning of any container's id.
            if len(name) < 3000 and not (0 < len(name) < 12 and set(name) <= set(HEX)):
                yield urllib.parse.quote(name.encode("utf-8", "surrogatepass"), safe="")
        yield from ("%", "%zz", "%0", "%ff", "a/b", "..", ".", "", "a%00b", "f" * 64, "f" * 63, "0" * 12, "é", "%C3%28")

    # ---- one call

    def call(self, line, method, target, body=b""):
        status, said = None, b""
        try:
            status, said = line.call(method, target, body)
            # What HTTP itself does not let pass may be answered without JSON of ours.
            if not (status == 400 and not said):
                judge(status, said, target == "/metrics")
        except (Wrong, OSError) as failure:
            raise SystemExit(f"seed {self.seed}, call {self.calls}: {method} {target[:300]}\n  {body[:600]!r}\n"
                             f"  {len(body)} bytes\n{failure}") from failure
        self.calls += 1
        self.by_status[status] = self.by_status.get(status, 0) + 1
        return status, said

    def shuffled(self, many):
        many = list(many)
        self.random.shuffle(many)
        return many

    # ---- docs/api.md

    def people_once(self):
        containers = "/v1/containers/"
        calls = []
        for word in ("version", "status", "runs", "changes", "doctor", "peers", "cluster", "moves", "nothing", ""):
            for query in self.random.sample(QUERIES, 12) if word not in ("doctor", "cluster") else ["", "?x=1"]:
                calls.append(("GET", f"/v1/{word}{query}", b""))
        for word in ("history", "past-log", "explain"):
            for query in QUERIES:
                calls.append(("GET", f"{containers}{self.container}/{word}{query}", b""))
            for name in self.names():
                calls.append(("GET", f"{containers}{name}/{word}", b""))
        calls.append(("GET", "/metrics", b""))
        for word, good in CONTROL.items():
            for body in self.bodies(good):
                calls.append(("POST", f"{containers}{self.container}/{word}", body))
            for name in self.names():
                calls.append(("POST", f"{containers}{name}/{word}", text_of(good).encode()))
        for word, good in (("adopt", ADOPT), ("release", {}), ("migrate", {"host": "nobody", "method": "app", "dry_run": True}),
                           ("cancel-move", {}), ("take-back", {}), ("keep", {})):
            name = self.loose if word in ("adopt", "release") else self.container
            for body in self.bodies(good):
                calls.append(("POST", f"{containers}{name}/{word}", body))
            for name in self.names():
                calls.append(("POST", f"{containers}{name}/{word}", text_of(good).encode()))
        for body in self.random.sample(BODIES, 6):
            calls.append(("POST", "/v1/pause", body))
            calls.append(("POST", "/v1/resume", body))
        for body in self.bodies({"dry_run": True}):
            calls.append(("POST", "/v1/rebalance", body))
        for body in self.bodies({"image": "nobody", "command": "python3 x.py --n 3", "environment": [["A", "1"]]}):
            calls.append(("POST", "/v1/estimate", body))
        calls.append(("GET", "/v1/estimate/check", b""))
        for body in self.bodies({"host": "nobody.invalid", "user": "x", "port": 22}):
            calls.append(("POST", "/v1/peers", body))
        for word in ("remove", "drain", "undrain"):
            for name in self.names():
                calls.append(("POST", f"/v1/peers/{name}/{word}", b""))
            for body in self.bodies({"force": True}):
                calls.append(("POST", f"/v1/peers/nobody/{word}", body))
        for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "HEAD2", "get", "X" * 40):
            calls.append((method, "/v1/status", b"{}"))
        for target in ("/", "//", "/v1", "/v1/", "/v2/status", "/v1/containers", "/v1/containers/", "/v1/containers//history",
                       "/v1/peers/", "/v1/peers//remove", "*", "/v1/status/" + "a/" * 500, "/" + "a" * 5000, "/v1/status#x",
                       "http://flowcon/v1/status", "/v1/peer/hello", "/v1/peer/moves/check"):
            calls += [("GET", target, b""), ("POST", target, b"{}")]
        for method, target, body in self.shuffled(calls):
            self.call(self.people, method, target, body)

    # ---- docs/peers.md

    def entry(self):
        return {"id": "".join(self.random.choice(HEX) for _ in range(32)), "side": "source", "container": "c" * 64,
                "name": "fuzzed", "source": self.peer_id, "target": self.own_id, "method": "app", "step": "reserve",
                "has_saved": False, "attempt": 0, "reason": ""}

    @staticmethod
    def plan():
        image = "sha256:" + "a" * 64
        mount = {"Type": "volume", "Source": "fuzzed", "Target": "/data"}
        return {"body": {"Image": image, "Cmd": ["true"], "Labels": {"flowcon.enable": "true"}, "Env": ["A=b"],
                         "HostConfig": {"Mounts": [mount], "PortBindings": {"80/tcp": [{"HostPort": "8080"}]},
                                        "Devices": [{"PathOnHost": "/dev/x"}], "CapAdd": ["SYS_ADMIN"],
                                        "Ulimits": [{"Name": "nofile", "Soft": 1, "Hard": 1}]}},
                "restart_policy": {"Name": "on-failure", "MaximumRetryCount": 3},
                "image": {"id": image, "layers": ["sha256:" + "b" * 64]}, "image_name": "fuzzed:1",
                "volumes": [{"name": "fuzzed", "labels": {"a": "b"}}],
                "parts": [{"name": "volume-0", "kind": "volume", "where": "/data"}, {"name": "log", "kind": "log", "where": ""}],
                "bytes": 1000, "cause": "person", "has_brought_image": False,
                "checkpoint": {"path": "/data", "signal": 15, "command": ["save"], "timeout": 60}}

    def peers_once(self):
        moves = "/v1/peer/moves"
        state = {"protocol": 1, "id": self.peer_id, "name": "fuzz", "incarnation": 1, "sequence": 1, "pc": 1, "wc": 0, "cc": 2,
                 "usage": 0.42, "cores": 2, "memory": 25276510208, "containers": 3, "draining": False}
        order = {"container": "f" * 64, "target": self.peer_id, "cause": "rebalance", "state": {"a": 1}}
        calls = []
        for target, good in (("/v1/peer/state", state), ("/v1/peer/drain", {"draining": False}), ("/v1/peer/move", order),
                             ("/v1/peer/rebalance", {"dry_run": True}), (moves + "/check", {"name": "fuzzed", "plan": self.plan()}),
                             (moves, {"entry": self.entry(), "plan": self.plan()}),
                             (moves + "/" + "e" * 32, {"entry": self.entry(), "running_for": 3})):
            for body in self.bodies(good):
                calls.append(("POST", target, body))
        for target in ("/v1/peer/hello", "/v1/peer/jobs", "/v1/peer/nothing", "/v1/peer/", "/v1/status", "/metrics", moves):
            calls += [("GET", target, b""), ("DELETE", target, b"")]
        for name in self.names():
            for part in ("image", "volume-0", "life", "..", "", "x" * 300):
                calls.append(("PUT", f"{moves}/{name}/{part}", self.random.choice(BODIES)))
            calls.append(("POST", f"{moves}/{name}", b"{}"))
        calls = self.shuffled(calls)
        lines = [Line(self.peer_path, self.peer.encode())] * 8
        lines += [Line(self.peer_path, name) for name in (b"", b"nobody", b"-x", b"a\0b", b"x" * 300)]
        for method, target, body in calls:
            self.call(self.random.choice(lines), method, target, body)
        for line in lines:
            line.close()

    def run(self):
        print(f"seed {self.seed}", flush=True)
        self.people_once()
        self.peers_once()
        shown = ", ".join(f"{status}: {count}" for status, count in sorted(self.by_status.items()))
        print(f"{self.calls} calls answered ({shown})")


if __name__ == "__main__":
    if len(sys.argv) < 8:
        sys.exit(__doc__)
    Fuzz(sys.argv[1:]).run()
