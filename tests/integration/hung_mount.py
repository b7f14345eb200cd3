#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A file system that has stopped answering, as NFS does whose server is gone: FUSE without anybody behind it.

usage: hung_mount.py FOLDER

Mounts it there, prints "mounted", and keeps it until it is ended; who waits for it then gets an error."""
import ctypes
import os
import struct
import sys
import time

INIT = 26

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
device = os.open('/dev/fuse', os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
options = f'fd={device},rootmode=40000,user_id=0,group_id=0,allow_other'
if libc.mount(b'hung', folder.encode(), b'fuse', 6, options.encode()) != 0:
    sys.exit(f'mounting: {os.strerror(ctypes.get_errno())}')
_, kind, number = struct.unpack('<IIQ', os.read(device, 65536)[:16])
assert kind == INIT
said = struct.pack('<IIIIHHIIHH8I', 7, 31, 65536, 0, 12, 10, 65536, 1, 1, 0, *[0] * 8)[:64]
os.write(device, struct.pack('<IiQ', 16 + len(said), 0, number) + said)
print('mounted', flush=True)
while True:
    time.sleep(60)
