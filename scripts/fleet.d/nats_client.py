"""A client of a NATS broker, without any library: the lines CONNECT, SUB, PUB, and MSG of its protocol over a socket."""
import json
import socket


class Client:
    """A connection to a broker. Its own messages are not sent back to it."""

    def __init__(self, port, host="127.0.0.1", timeout=10, user=None, password=None):
        self.socket = socket.create_connection((host, port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""
        self.line()  # INFO
        options = {"verbose": False, "pedantic": False, "echo": False, "headers": True, "no_responders": True, "lang": "python", "version": "1"}
        if user:
            options |= {"user": user, "pass": password}
        self.socket.sendall(b"CONNECT " + json.dumps(options).encode() + b"\r\nPING\r\n")
        while self.line() != b"PONG":
            pass

    def subscribe(self, subject, number=1):
        self.socket.sendall(f"SUB {subject} {number}\r\n".encode())

    def publish(self, subject, payload, reply=""):
        self.socket.sendall(f"PUB {subject} {reply} {len(payload)}\r\n".encode() + payload + b"\r\n")

    def fill(self):
        found = self.socket.recv(1 << 18)
        if not found:
            raise ConnectionError("the broker has closed the connection")
        self.rest += found

    def line(self):
        while b"\r\n" not in self.rest:
            self.fill()
        line, self.rest = self.rest.split(b"\r\n", 1)
        return line

    def messages(self):
        """The messages that have arrived completely, each with subject, reply subject, and payload. Waits for octets if there are none."""
        found = []
        while True:
            end = self.rest.find(b"\r\n")
            if end < 0:
                break
            words = self.rest[:end].split()
            if words[:1] == [b"PING"]:
                self.socket.sendall(b"PONG\r\n")
            if words[:1] not in ([b"MSG"], [b"HMSG"]):
                self.rest = self.rest[end + 2:]
                continue
            length = int(words[-1])
            if len(self.rest) < end + 2 + length + 2:
                break
            payload = self.rest[end + 2:end + 2 + length]
            self.rest = self.rest[end + 4 + length:]
            # With headers, the line has one more number, the length of the headers. An empty one is the broker's "no responders".
            words = words[:-2] if words[0] == b"HMSG" else words[:-1]
            found.append((words[1].decode(), words[3].decode() if len(words) > 3 else "", payload))
        if not found:
            self.fill()
        return found

    def close(self):
        self.socket.close()
