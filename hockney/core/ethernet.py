# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The complete description of an Ethernet that this host can emulate."""

from __future__ import annotations

from typing import Literal

import msgspec

Medium = Literal["bus", "switch"]
Status = Literal["printed", "measured", "guess"]

# IEEE 802.3, clauses 3 and 4, in octets
PREAMBLE, HEADER, CHECK_SEQUENCE, MIN_FRAME, INTERFRAME_GAP = 8, 14, 4, 64, 12
# RFC 791 and 9293 without options; RFC 7323: the timestamps that Linux adds to each segment, with padding
IP_HEADER, TCP_HEADER, TIMESTAMPS = 20, 20, 12
SEGMENTS_PER_ACKNOWLEDGEMENT = 2
"""RFC 9293, section 3.8.6.3: at least every second full segment is acknowledged."""


class EthernetOrigin(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Origin of the value of `key`: `source` is the line of the paper, the measurement, or the reason for a
    guess."""

    key: str
    status: Status
    source: str


class EthernetFault(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A host that is slower than the others, or the path between two hosts. `hosts` are the numbers in their
    names. Frames from and to the host, or between both, take `slowdown` times as long on the wire, and are
    lost with the probability `loss`."""

    hosts: tuple[int, ...]
    slowdown: float = 1.0
    loss: float = 0.0


class Ethernet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An Ethernet of `hosts` hosts, h1, h2 and so on, on one `medium`. A bus carries one frame at a time; a
    switch carries one frame in each direction of each host. `rate` is in bytes per second, including all
    overhead of frames.

    `mtu` is the size of the largest IP packet. `delay_s` is the time from the end of a frame at its sender to
    its end at its receiver; on a switch, it applies to each of the two cables. If `trunk` is not 0, there are
    two switches, each with half of the hosts, and `trunk` is the rate of the cable between them in bytes per
    second. `send_buffer` is the number of
    unacknowledged bytes that TCP keeps per connection (0 for the system's default). `wait_s` is the longest
    sleep of an MPI that would otherwise poll its sockets; `wait_shared_s` applies where ranks of a host also
    exchange messages by shared memory.
    """

    name: str
    title: str
    source: str = ""
    hosts: int
    rate: float
    medium: Medium
    mtu: int = 1500
    delay_s: float = 0.0
    send_buffer: int = 65536
    wait_s: float = 300e-6
    wait_shared_s: float = 20e-6
    trunk: float = 0.0
    faults: tuple[EthernetFault, ...] = ()
    origins: tuple[EthernetOrigin, ...] = ()
    notes: tuple[str, ...] = ()

    def wire_s(self, payload: int) -> float:
        """Return the time for which a frame with a TCP segment of `payload` bytes occupies the medium."""
        packet = HEADER + IP_HEADER + TCP_HEADER + TIMESTAMPS + payload + CHECK_SEQUENCE
        return (PREAMBLE + max(packet, MIN_FRAME) + INTERFRAME_GAP) / self.rate

    @property
    def segment(self) -> int:
        """Payload of a full frame in bytes."""
        return self.mtu - IP_HEADER - TCP_HEADER - TIMESTAMPS

    @property
    def payload_rate(self) -> float:
        """Bytes per second of one connection in one direction, without other traffic, over the trunk if it is
        slower. On a bus,
        acknowledgements share the medium. A receiver that reads late sends fewer of them, so the rate may be
        a few per cent higher."""
        count = SEGMENTS_PER_ACKNOWLEDGEMENT
        duration_s = count * self.wire_s(self.segment)
        if self.medium == "bus":
            duration_s += self.wire_s(0)
        slowdown = max(1.0, self.rate / self.trunk) if self.trunk else 1.0
        return count * self.segment / duration_s / slowdown
