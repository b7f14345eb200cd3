# SPDX-License-Identifier: Apache-2.0
"""stranger.py HOW COMMAND...: a peer's dial-stdio (HTTP/1.1 over stdin and stdout) whose flowcond is not as this one.

HOW: "old" knows nothing of the queue; "generous" tells of a hundred times its room; "mad" answers what it is asked
about jobs with something that makes no sense.
"""
import json
import subprocess
import sys

PIECE = 65536


class Closed(Exception):
    pass


def head_of(stream):
    lines = []
    while True:
        line = stream.readline(PIECE)
        if not line:
            raise Closed
        if line in (b"\r\n", b"\n"):
            return lines
        lines.append(line)


def field(lines, name):
    for line in lines[1:]:
        key, _, value = line.partition(b":")
        if key.strip().lower() == name:
            return value.strip().lower()
    return b""


def pieces(stream, size):
    while size > 0:
        piece = stream.read(min(size, PIECE))
        if not piece:
            raise Closed
        size -= len(piece)
        yield piece


def body_of(stream, lines):
    """As it stands on the wire, piece by piece."""
    if field(lines, b"transfer-encoding") != b"chunked":
        yield from pieces(stream, int(field(lines, b"content-length") or 0))
        return
    while True:
        line = stream.readline(PIECE)
        yield line
        size = int(line.split(b";")[0], 16)
        yield from pieces(stream, size + 2)
        if size == 0:
            return


def send(stream, lines, body):
    stream.write(b"".join(lines) + b"\r\n")
    for piece in body:
        stream.write(piece)
    stream.flush()


def say(status, body):
    text = json.dumps(body).encode()
    lines = [b"HTTP/1.1 %s\r\n" % status, b"Content-Type: application/json\r\n", b"Content-Length: %d\r\n" % len(text)]
    send(sys.stdout.buffer, lines, [text])


def told(how, target, body):
    """What the stranger says instead."""
    if how == "old" and "sequence" in body:
        body.pop("jobs", None)
    if target != "/v1/peer/queue/jobs":
        return body
    if how == "generous":
        for room in ("offer", "free", "most"):
            body[room] = {"cpu": 100, "mem": 1e12}
    if how == "mad":
        body["free"] = {"cpu": "../../etc", "mem": -1e300}
    return body


def main():
    how, command = sys.argv[1], sys.argv[2:]
    ours = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        while True:
            asked = head_of(sys.stdin.buffer)
            target = asked[0].split()[1].decode()
            if how == "old" and target.startswith("/v1/peer/queue/"):
                for _ in body_of(sys.stdin.buffer, asked):
                    pass
                say(b"404 Not Found", {"error": "there is no such verb; docs/peers.md lists them"})
                continue
            send(ours.stdin, asked, body_of(sys.stdin.buffer, asked))
            lines = head_of(ours.stdout)
            body = b"".join(body_of(ours.stdout, lines))
            try:
                body = json.dumps(told(how, target, json.loads(body))).encode()
            except (ValueError, AttributeError, TypeError):
                pass
            lines = [line for line in lines if not line.lower().startswith(b"content-length:")]
            send(sys.stdout.buffer, [*lines, b"Content-Length: %d\r\n" % len(body)], [body])
    except (Closed, BrokenPipeError):
        ours.kill()


main()
