#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An engine's socket that passes everything on to the real engine, but fails where files in FOLDER say so:
refuse  inspects of containers whose ids are in it, or of all where it is empty, are answered with 500
hang    inspects of containers whose ids are in it are not answered while it is there
images  inspects of images are answered with 500
It writes there which containers it was asked for (asked), how many inspects it has refused (refused) and the most that
it held at the same time (held).
usage: unreliable.py REAL-SOCKET OWN-SOCKET FOLDER"""
import os
import re
import select
import socket
import sys
import threading

real_socket, own_socket, folder = sys.argv[1:]
lock = threading.Lock()
refused = most = 0
held = set()  # connections


def said(name):
    """The words of a file of FOLDER; None without it."""
    try:
        with open(os.path.join(folder, name)) as file:
            return file.read().split()
    except FileNotFoundError:
        return None


def note(name, number):
    path = os.path.join(folder, name)
    with open(path + ".new", "w") as file:
        file.write(f"{number}\n")
    os.rename(path + ".new", path)


def refuse(client):
    global refused
    body = b'{"message":"busy"}'
    client.sendall(b"HTTP/1.1 500 Busy\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    with lock:
        refused += 1
        note("refused", refused)


def has_gone(client):
    """Who asks sends nothing more, so that what is to be read is the end."""
    waits = select.poll()
    waits.register(client, select.POLLIN)
    return bool(waits.poll(0))


def hang(client, identity):
    global most
    if identity not in (said("hang") or []):
        return
    with lock:
        held.add(client)
        most = max(most, sum(not has_gone(one) for one in held))
        note("held", most)
    client.settimeout(0.1)
    while identity in (said("hang") or []):
        try:
            if not client.recv(1):  # who asked has gone
                break
        except TimeoutError:
            pass
    with lock:
        held.remove(client)
    client.settimeout(None)


def pipe(source, sink):
    try:
        for piece in iter(lambda: source.recv(1 << 16), b""):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def serve(client):
    try:
        head = b""
        while b"\r\n\r\n" not in head:
            piece = client.recv(1 << 16)
            if not piece:
                return
            head += piece
        path = head.split()[1].decode()
        container = re.search(r"/containers/([0-9a-f]{64})/json$", path)
        if container:
            with lock, open(os.path.join(folder, "asked"), "a") as asked:
                asked.write(container[1] + "\n")
            names = said("refuse")
            if names is not None and (not names or container[1] in names):
                return refuse(client)
            hang(client, container[1])
        elif "/images/" in path and said("images") is not None:
            return refuse(client)
        engine = socket.socket(socket.AF_UNIX)
        engine.connect(real_socket)
        engine.sendall(head)
        threading.Thread(target=pipe, args=(client, engine), daemon=True).start()
        pipe(engine, client)
    except OSError:
        pass
    finally:
        client.close()


server = socket.socket(socket.AF_UNIX)
server.bind(own_socket)
server.listen(128)
while True:
    one, _ = server.accept()
    threading.Thread(target=serve, args=(one,), daemon=True).start()
