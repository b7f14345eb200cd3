#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A peer that asks for too much: speaks raw HTTP with flowcond's socket for peers, as a stolen key can.

usage: hostile.py SOCKET NAME IDS IMAGE VERB [ARGUMENT...]

NAME is announced as ssh's forced command does; IDS is OWN,TARGET, the ids of both hosts; IMAGE a file with what the
target's engine says of the image. Prints a line of JSON, or what each verb says below."""
import gzip
import http.client
import io
import json
import os
import socket
import sys
import tarfile
import threading

PATH, NAME, IDS, IMAGE, VERB, *REST = sys.argv[1:]
OWN, TARGET = IDS.split(',')
with open(IMAGE, encoding='utf-8') as file:
    KNOWN = json.load(file)[0]
PATIENCE = 120


def connect(name=NAME):
    talk = socket.socket(socket.AF_UNIX)
    talk.settimeout(PATIENCE)
    talk.connect(PATH)
    talk.sendall(f'FLOWCON-PEER {name}\n'.encode())
    return talk


def ask(method, target, body=None, name=NAME):
    client = http.client.HTTPConnection('flowcon')
    client.sock = connect(name)
    client.request(method, target, None if body is None else json.dumps(body))
    answer = client.getresponse()
    text = answer.read()
    client.close()
    return answer.status, json.loads(text)


def plan(host, volumes=(), parts=()):
    return {
        'body': {'Image': KNOWN['Id'], 'Cmd': ['sleep', '600'], 'HostConfig': {'NetworkMode': 'none', **host}},
        'restart_policy': {}, 'image': {'id': KNOWN['Id'], 'layers': KNOWN['RootFS']['Layers']}, 'image_name': 'x',
        'volumes': [{'name': name, 'labels': {}} for name in volumes], 'parts': list(parts), 'bytes': 1,
        'cause': 'person'}


def mounts(paths):
    return {'Mounts': [{'Type': 'bind', 'Source': path, 'Target': f'/m{i}'} for i, path in enumerate(paths)]}


def check(host):
    """What the target has against a container, or why it does not look at it."""
    status, said = ask('POST', '/v1/peer/moves/check', {'name': 'hostile', 'plan': plan(host)})
    return said['reasons'] if status == 200 else [f"{status} {said['error']}"]


def entry(name, identity=None):
    return {'id': identity or os.urandom(16).hex(), 'side': 'source', 'container': 'a' * 64, 'name': name,
            'source': OWN, 'target': TARGET, 'method': 'app', 'step': 'reserve', 'has_saved': False, 'attempt': 0,
            'reason': ''}


def reserve(mine, wanted):
    return ask('POST', '/v1/peer/moves', {'entry': mine, 'plan': wanted})


def mounting():
    """The reasons against mounting each PATH alone, with the path taken out."""
    for path in REST:
        for reason in check(mounts([path])):
            print(reason.replace(path, 'PATH'))


def asking():
    """The reasons against a HostConfig, as JSON."""
    print('\n'.join(check(json.loads(REST[0]))))


def many():
    """The reasons against N ports, mounts or devices."""
    count = int(REST[1])
    print('\n'.join(check({
        'ports': lambda: {'PortBindings': {f'{i + 1}/tcp': [{'HostPort': '2'}] for i in range(count)}},
        'mounts': lambda: mounts([f'/x{i}' for i in range(count)]),
        'devices': lambda: {'Devices': [{'PathOnHost': f'/dev/x{i}'} for i in range(count)]},
    }[REST[0]]())))


def together():
    """N checks of one path at once: how many of them were answered."""
    answered = []
    asks = [threading.Thread(target=lambda: answered.append(check(mounts([REST[0]])))) for _ in range(int(REST[1]))]
    for one in asks:
        one.start()
    for one in asks:
        one.join()
    print(len(answered))


def is_open(talk):
    talk.settimeout(0.05)
    try:
        while talk.recv(4096):
            pass
    except socket.timeout:
        return True
    except OSError:
        pass
    return False


def scale():
    """N silent connections of OTHER: how many stay open, and with what NAME is answered meanwhile."""
    held = [connect(REST[1]) for _ in range(int(REST[0]))]
    # Those that are turned away hear so without having asked; the others hear nothing.
    stayed = len(held)
    while stayed > 16:
        stayed = sum(is_open(talk) for talk in held)
    status, _ = ask('GET', '/v1/peer/hello')
    print(f'{stayed} stay, another peer is answered with {status}')


def seats():
    """N reservations: what each is answered with."""
    for number in range(int(REST[0])):
        status, said = reserve(entry(f'seat{number}'), plan({}))
        print(status, said.get('error', ''))


def fill():
    """A move that announces one byte and sends N MiB of zeros: the answer."""
    volume = {'Mounts': [{'Type': 'volume', 'Source': 'filler', 'Target': '/v', 'ReadOnly': False}]}
    mine = entry('filler')
    status, said = reserve(mine, plan(volume, ['filler'], [{'name': 'volume-0', 'kind': 'volume', 'where': '/v'}]))
    if status != 200:
        sys.exit(f'not reserved: {said}')
    while said['entry']['step'] == 'reserve':
        status, said = ask('POST', '/v1/peer/moves/' + mine['id'], {'entry': mine})
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode='wb', compresslevel=1) as archive:
        header = tarfile.TarInfo('big')
        header.size = int(REST[0]) << 20
        archive.write(header.tobuf(tarfile.GNU_FORMAT))
        for _ in range(int(REST[0])):
            archive.write(bytes(1 << 20))
        archive.write(bytes(1024))
    client = http.client.HTTPConnection('flowcon')
    client.sock = connect()
    try:
        client.request('PUT', f"/v1/peer/moves/{mine['id']}/volume-0", packed.getvalue())
    except OSError:
        pass
    answer = client.getresponse()
    print(answer.status, json.loads(answer.read())['error'])


{'mounting': mounting, 'asking': asking, 'many': many, 'together': together, 'scale': scale, 'seats': seats,
 'fill': fill}[VERB]()
