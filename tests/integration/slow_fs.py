#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A FUSE file system that shows the files of one folder, read-only, and stops answering when told.

It stands for a network file system whose server may hang. SIGUSR1: nothing is answered any more.
SIGUSR2: what was asked meanwhile is answered, and all that comes. SIGTERM: it ends, and whoever waits
for it is let go of. Says "mounted" once it is.

usage: slow_fs.py FOLDER MOUNTPOINT [silent]   silent: it takes requests while it does not answer
"""

import ctypes
import errno
import os
import select
import signal
import stat
import struct
import sys

ROOT = 1
LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE = 1, 2, 3, 14, 15, 17, 18
INIT, OPENDIR, READDIR, RELEASEDIR, INTERRUPT, BATCH_FORGET = 26, 27, 28, 29, 36, 42
UNANSWERED = (FORGET, INTERRUPT, BATCH_FORGET)
DIRECT_IO = 1


class Server:
    def __init__(self, folder, point):
        self.folder = folder
        self.names = {ROOT: ""}
        self.ids = {"": ROOT}
        self.fd = os.open("/dev/fuse", os.O_RDWR)
        libc = ctypes.CDLL(None, use_errno=True)
        options = f"fd={self.fd},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
        if libc.mount(b"slow", os.fsencode(point), b"fuse.slow", 6, options):
            raise OSError(ctypes.get_errno(), "mount")

    def attributes(self, node):
        info = os.stat(os.path.join(self.folder, self.names[node]))
        times = [info.st_atime_ns, info.st_mtime_ns, info.st_ctime_ns]
        kind = stat.S_IFDIR | 0o755 if node == ROOT else stat.S_IFREG | 0o644
        return struct.pack(
            "<QQQQQQIIIIIIIIII", node, info.st_size, 0, *(t // 10**9 for t in times),
            *(t % 10**9 for t in times), kind, 1, 0, 0, 0, 4096, 0)

    def answer(self, request):
        """The bytes of the answer; None where none is due."""
        _, code, unique, node = struct.unpack("<IIQQ", request[:24])
        body = request[40:]
        if code in UNANSWERED:
            return None
        try:
            error, out = 0, self.act(code, node, body)
        except OSError as trouble:
            error, out = -(trouble.errno or errno.EIO), b""
        return struct.pack("<IiQ", 16 + len(out), error, unique) + out

    def act(self, code, node, body):
        if code == INIT:
            return struct.pack("<IIIIHHIIHH8I", 7, 31, 65536, 0, 12, 10, 65536, 1, 1, 0, *[0] * 8)[:64]
        if code == LOOKUP:
            name = os.fsdecode(body.split(b"\0")[0])
            os.stat(os.path.join(self.folder, name))
            found = self.ids.setdefault(name, len(self.ids) + 1)
            self.names[found] = name
            return struct.pack("<QQQQII", found, 0, 0, 0, 0, 0) + self.attributes(found)
        if code == GETATTR:
            return struct.pack("<QII", 0, 0, 0) + self.attributes(node)
        if code in (OPEN, OPENDIR):
            return struct.pack("<QII", 0, DIRECT_IO if code == OPEN else 0, 0)
        if code == READ:
            _, offset, size = struct.unpack("<QQI", body[:20])
            with open(os.path.join(self.folder, self.names[node]), "rb") as file:
                return os.pread(file.fileno(), size, offset)
        if code == STATFS:
            return struct.pack("<5QIII", 0, 0, 0, 0, 0, 4096, 255, 0) + bytes(28)
        if code in (READDIR, RELEASE, RELEASEDIR):
            return b""
        raise OSError(errno.ENOSYS, "not here")


def main():
    server = Server(sys.argv[1], sys.argv[2])
    takes = sys.argv[3:] == ["silent"]
    hangs = False
    waiting = []
    wake, woken = os.pipe()

    def on_signal(number, _):
        nonlocal hangs
        hangs = number == signal.SIGUSR1
        os.write(woken, b"x")

    signal.signal(signal.SIGUSR1, on_signal)
    signal.signal(signal.SIGUSR2, on_signal)
    print("mounted", flush=True)
    while True:
        listens = [wake] if hangs and not takes else [wake, server.fd]
        ready, _, _ = select.select(listens, [], [])
        if wake in ready:
            os.read(wake, 100)
            if not hangs:
                for request in waiting:
                    reply(server, request)
                waiting = []
            continue
        try:
            request = os.read(server.fd, 1 << 17)
        except OSError as trouble:
            if trouble.errno == errno.ENOENT:
                continue  # who asked has gone meanwhile
            return
        if hangs:
            waiting.append(request)
        else:
            reply(server, request)


def reply(server, request):
    answer = server.answer(request)
    if answer is not None:
        try:
            os.write(server.fd, answer)
        except OSError:
            pass  # who asked has gone meanwhile


if __name__ == "__main__":
    main()
