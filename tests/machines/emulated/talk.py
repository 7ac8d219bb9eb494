# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Run on emulated hosts: `talk.py serve PORT` answers each message with a byte, and `talk.py send HOST PORT
BYTES COUNT` prints when each of COUNT messages began and when its answer had arrived, in seconds by the clock
of all emulated hosts."""

import os
import socket
import sys
import time


def receive(peer: socket.socket, size: int) -> bool:
    left = size
    while left:
        data = peer.recv(min(left, 1 << 16))
        if not data:
            return False
        left -= len(data)
    return True


def serve(port: int) -> None:
    with socket.create_server(("0.0.0.0", port)) as server:
        peer, _ = server.accept()
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        size = int.from_bytes(peer.recv(8), "big")
        while receive(peer, size):
            peer.sendall(b"x")


def send(host: str, port: int, size: int, count: int) -> None:
    while True:
        try:
            peer = socket.create_connection((host, port))
            break
        except OSError:
            time.sleep(0.02)
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    peer.sendall(size.to_bytes(8, "big"))
    time.sleep(0.1)
    times = []
    for _ in range(count):
        began = time.clock_gettime(time.CLOCK_MONOTONIC)
        peer.sendall(bytes(size))
        receive(peer, 1)
        times.append((began, time.clock_gettime(time.CLOCK_MONOTONIC)))
    # in one piece: others write to the same pipe
    os.write(1, "".join(f"{began!r} {ended!r}\n" for began, ended in times).encode())


if sys.argv[1] == "serve":
    serve(int(sys.argv[2]))
else:
    send(sys.argv[2], *map(int, sys.argv[3:]))
