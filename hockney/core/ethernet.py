# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A described Ethernet that is emulated by this host: everything that is needed to build it."""

from __future__ import annotations

from typing import Literal

import msgspec

Medium = Literal["bus", "switch"]
Status = Literal["printed", "measured", "guess"]

# IEEE 802.3, clauses 3 and 4, in octets
PREAMBLE, HEADER, CHECK_SEQUENCE, SMALLEST, GAP = 8, 14, 4, 64, 12
# RFC 791 and 9293 without options; RFC 7323: the timestamps that Linux adds to each segment, with padding
IP_HEADER, TCP_HEADER, TIMESTAMPS = 20, 20, 12
SEGMENTS_PER_ACKNOWLEDGEMENT = 2
"""RFC 9293, section 3.8.6.3: at least every second full segment is acknowledged."""


class EthernetOrigin(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The origin of the value of `key`: `source` is the line of the paper, what was measured, or the reason
    for a guess."""

    key: str
    status: Status
    source: str


class Ethernet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`hosts` hosts, h1, h2 and so on, on one `medium`: a bus carries one frame at a time, a switch one in
    each direction of each host. `rate` is in bytes a second, of frames with all that belongs to them.

    `mtu` is the size of the largest IP packet. `delay_s` is the time from the end of a frame at its sender to
    its end at its receiver, on a switch for each of the two cables. `send_buffer` is what TCP keeps of a
    connection until it is acknowledged (0: the system's default). `wait_s` is the longest sleep of an MPI
    that would poll its sockets, `wait_shared_s` where ranks of a host also exchange messages by shared
    memory.
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
    origins: tuple[EthernetOrigin, ...] = ()
    notes: tuple[str, ...] = ()

    def wire_s(self, payload: int) -> float:
        """How long a frame with a TCP segment of `payload` bytes occupies the medium."""
        packet = HEADER + IP_HEADER + TCP_HEADER + TIMESTAMPS + payload + CHECK_SEQUENCE
        return (PREAMBLE + max(packet, SMALLEST) + GAP) / self.rate

    @property
    def segment(self) -> int:
        """The payload of a full frame in bytes."""
        return self.mtu - IP_HEADER - TCP_HEADER - TIMESTAMPS

    @property
    def payload_rate(self) -> float:
        """Bytes a second of one connection in one direction, without other traffic. On a bus its
        acknowledgements take their part; a receiver that reads late sends fewer, so that a few per cent more
        are possible."""
        count = SEGMENTS_PER_ACKNOWLEDGEMENT
        taken_s = count * self.wire_s(self.segment)
        if self.medium == "bus":
            taken_s += self.wire_s(0)
        return count * self.segment / taken_s
