"""A part of the network between two programs, which can break."""
import socket
import threading
import time


def free_port(host="127.0.0.1"):
    with socket.socket() as one:
        one.bind((host, 0))
        return one.getsockname()[1]


class Relay:
    """Passes the connections to one port on to another.

    `mood` is "ok", "cut" (all connections break, and new ones are refused at once), or "hole" (packets vanish: connections stay open, but nothing arrives
    until the mood is "ok" again, as with TCP's retransmissions).
    """

    def __init__(self, target, host="127.0.0.1", port=None):
        self.target, self.mood, self.pairs, self.lock = target, "ok", set(), threading.Lock()
        self.listener = socket.create_server((host, port or 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            if self.mood == "cut":
                client.close()
                continue
            threading.Thread(target=self.connect, args=(client,), daemon=True).start()

    def connect(self, client):
        while self.mood == "hole":
            time.sleep(0.02)
        try:
            server = socket.create_connection(("127.0.0.1", self.target), timeout=5)
        except OSError:
            client.close()
            return
        server.settimeout(None)
        for one in (client, server):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pair = (client, server)
        with self.lock:
            self.pairs.add(pair)
        for one, other in (pair, pair[::-1]):
            threading.Thread(target=self.pump, args=(one, other, pair), daemon=True).start()

    def pump(self, one, other, pair):
        try:
            while octets := one.recv(1 << 16):
                while self.mood == "hole":
                    time.sleep(0.02)
                other.sendall(octets)
        except OSError:
            pass
        self.end(pair)

    def end(self, pair):
        with self.lock:
            self.pairs.discard(pair)
        for one in pair:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()

    def set(self, mood):
        self.mood = mood
        if mood == "cut":
            with self.lock:
                pairs = list(self.pairs)
            for pair in pairs:
                self.end(pair)
