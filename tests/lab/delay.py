# SPDX-License-Identifier: Apache-2.0
"""delay.py INTERFACE INTERFACE MILLISECONDS: passes each frame on to the other interface, that much later.

A queue for each direction; 4096 frames wait at most, more are dropped, as a switch would.
"""
import collections
import select
import socket
import sys
import time

ETH_P_ALL = 3
PACKET_OUTGOING = 4
QUEUE_FRAMES = 4096
FRAME_BYTES = 65536


def opened(interface):
    end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    end.bind((interface, 0))
    end.setblocking(False)
    return end


def main():
    ends = [opened(sys.argv[1]), opened(sys.argv[2])]
    delay = float(sys.argv[3]) / 1000
    queues = {ends[0]: collections.deque(), ends[1]: collections.deque()}  # by the end they leave from
    while True:
        now = time.monotonic()
        for end, queue in queues.items():
            while queue and queue[0][0] <= now:
                try:
                    end.send(queue.popleft()[1])
                except OSError as error:
                    print("dropped a frame:", error, file=sys.stderr)
        due = [queue[0][0] for queue in queues.values() if queue]
        ready, _, _ = select.select(ends, [], [], max(0, min(due) - now) if due else None)
        for end in ready:
            other = ends[1] if end is ends[0] else ends[0]
            try:
                while True:
                    frame, source = end.recvfrom(FRAME_BYTES)
                    if source[2] != PACKET_OUTGOING and len(queues[other]) < QUEUE_FRAMES:
                        queues[other].append((time.monotonic() + delay, frame))
            except BlockingIOError:
                pass


main()
