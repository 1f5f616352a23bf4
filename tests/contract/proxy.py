"""A Bolt proxy that loses a connection while a COMMIT is under way, as a network does."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

from regraph_kg.backends.address import Address
from regraph_kg.settings import Settings
from tests.stores import address as address_of

COMMIT = b"\x00\x02\xb0\x12\x00\x00"  # the message, as one chunk
AT_ONCE = 2**16


@dataclass
class Proxy:
    """Passes everything on, until it is told to lose something."""

    server: tuple[str, int]
    arrives: bool | None = None
    """The next commit is lost: on its way back (True) or on its way to the server; None: never."""
    lost: int = 0  # commits so far
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))

    def serve(self) -> None:
        """Until the listener is closed."""
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(self.server)
                both = _Connection(self, client, server)
                threading.Thread(target=both.to_server, daemon=True).start()
                threading.Thread(target=both.to_client, daemon=True).start()


@dataclass
class _Connection:
    proxy: Proxy
    client: socket.socket
    server: socket.socket
    losing: bool = False

    def to_server(self) -> None:
        with suppress(OSError):
            while data := self.client.recv(AT_ONCE):
                if COMMIT in data and self.proxy.arrives is not None:
                    self.losing, arrives = True, self.proxy.arrives
                    self.proxy.arrives = None
                    self.proxy.lost += 1
                    if not arrives:
                        break
                self.server.sendall(data)
        if not self.losing:
            self.server.close()
            return
        with suppress(OSError):
            self.server.shutdown(socket.SHUT_WR)

    def to_client(self) -> None:
        with suppress(OSError):
            while data := self.server.recv(AT_ONCE):
                if self.losing:
                    break
                self.client.sendall(data)
        for end in (self.client, self.server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@contextmanager
def lossy(settings: Settings) -> Iterator[tuple[Proxy, Address]]:
    """A proxy before the store of `settings`, and where it listens."""
    direct = address_of(settings)
    host, _, port = direct.uri.rpartition("/")[2].partition(":")
    proxy = Proxy((host, int(port)))
    threading.Thread(target=proxy.serve, daemon=True).start()
    try:
        mine = proxy.listener.getsockname()[1]
        yield proxy, replace(direct, uri=f"bolt://127.0.0.1:{mine}")
    finally:
        proxy.listener.shutdown(socket.SHUT_RDWR)
        proxy.listener.close()
