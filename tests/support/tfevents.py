#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Appends scalar records to a TensorBoard event file, with nothing but the standard library.

usage: tfevents.py FILE [--step N] [--wall SECONDS] [--tensor] [--damaged] [--half] TAG=VALUE...

Written after tensorflow/core/lib/io/record_writer.h and the .proto files, apart from flowcond's own
reader, so that the two check each other. A new file begins with the version record.
"""
import argparse
import os
import struct
import time


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(data):
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked(length)) + data + struct.pack("<I", masked(data))


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, kind, payload):
    return varint(number << 3 | kind) + payload


def text(number, payload):
    return field(number, 2, varint(len(payload)) + payload)


def event(wall, step, body):
    out = field(1, 1, struct.pack("<d", wall))
    if step:
        out += field(2, 0, varint(step))
    return out + body


def scalar(tag, value, as_tensor):
    if not as_tensor:
        return text(1, text(1, tag.encode()) + field(2, 5, struct.pack("<f", value)))
    # As TensorFlow 2 writes it: a tensor without dimensions, and the plugin that it is meant for.
    tensor = field(1, 0, varint(1)) + text(2, b"") + text(4, struct.pack("<f", value))
    plugin = text(1, text(1, b"scalars"))
    return text(1, text(1, tag.encode()) + text(8, tensor) + text(9, plugin))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--step", type=int, default=0)
    parser.add_argument("--wall", type=float)
    parser.add_argument("--tensor", action="store_true")
    parser.add_argument("--damaged", action="store_true", help="with a wrong checksum")
    parser.add_argument("--half", action="store_true", help="without the second half of the last one")
    parser.add_argument("scalars", nargs="*", metavar="TAG=VALUE")
    options = parser.parse_intermixed_args()
    wall = time.time() if options.wall is None else options.wall
    out = b""
    if not os.path.exists(options.file):
        out += record(event(wall, 0, text(3, b"brain.Event:2")))
    for word in options.scalars:
        tag, value = word.rsplit("=", 1)
        summary = scalar(tag, float(value), options.tensor)
        out += record(event(wall, options.step, text(5, summary)))
    if options.damaged:
        out = out[:-1] + bytes([out[-1] ^ 1])
    if options.half:
        out = out[: len(out) - 20]
    with open(options.file, "ab") as file:
        file.write(out)


main()
