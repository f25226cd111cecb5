"""Weighs somebody over Vitalgate's API: asks for authorization, reads, follows, saves, deletes. Python's own library is all that it needs.

    client.py http://127.0.0.1:8642 KILOGRAMS    with the client's token in VITALGATE_TOKEN
"""

import json
import os
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import datetime, timezone


class Vitalgate:
    """The API as one client sees it."""

    def __init__(self, address, token):
        self.address, self.token = address.rstrip("/"), token

    def open(self, method, path, body=None, timeout=30, **headers):
        request = urllib.request.Request(self.address + path, method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        for name, value in headers.items():
            request.add_header(name.replace("_", "-"), value)
        if body is not None:
            request.add_header("Content-Type", "application/json")
            request.data = json.dumps(body).encode()
        try:
            return urllib.request.urlopen(request, timeout=timeout)
        except urllib.error.HTTPError as error:
            # A problem tells what is wrong in a sentence (RFC 9457).
            raise SystemExit(f"{method} {path}: {json.load(error)['detail']}") from None

    def ask(self, method, path, body=None, **headers):
        with self.open(method, path, body, **headers) as answer:
            return json.loads(answer.read() or b"null")

    def get(self, path, **query):
        return self.ask("GET", path + "?" + urllib.parse.urlencode(query))

    def request_authorization(self, read, write):
        """Asks the person, and waits until they have answered; what they answered is not told."""
        self.ask("POST", "/v1/authorization", {"read": read, "write": write})
        while self.get("/v1/authorization/status", read=",".join(read), write=",".join(write))["status"] == "shouldRequest":
            time.sleep(0.2)

    def save(self, sample):
        return self.ask("POST", "/v1/samples", sample)["samples"][0]

    def delete(self, uuid):
        self.ask("DELETE", f"/v1/samples/{uuid}")

    def changes(self, types, last=None):
        """Changes as they happen, without end: what happened, and to what. A heartbeat comes every 15 seconds, so a silent line is a broken one."""
        while True:
            try:
                with self.open("GET", "/v1/changes/stream?types=" + ",".join(types), **({"Last_Event_ID": last} if last else {})) as stream:
                    event = {}
                    for line in stream:
                        name, _, value = line.decode().rstrip("\n").partition(": ")
                        if name:
                            event[name] = value
                            continue
                        # A blank line ends an event; its id is where to go on after a break.
                        last = event.get("id", last)
                        if "event" in event:
                            yield event["event"], json.loads(event["data"])
                        elif "id" in event:
                            yield "ready", {}
                        event = {}
            except OSError:
                time.sleep(2)


def main(address, kilograms):
    hub = Vitalgate(address, os.environ["VITALGATE_TOKEN"])
    print("asking for heartRate and bodyMass; answer with 'vitalgate clients grant'", flush=True)
    hub.request_authorization(read=["heartRate"], write=["bodyMass"])
    # No answer may also mean that reading was refused: the two look alike.
    for sample in hub.get("/v1/latest", types="heartRate")["samples"]:
        print(f"latest heart rate: {sample['value']:g} {sample['unit']} at {sample['start']}")
    for day in hub.get("/v1/statistics", type="heartRate", every="1d", zone="UTC")["statistics"]:
        print(f"{day['start'][:10]}: {day['min']:g} to {day['max']:g}, on average {day['average']:.1f}")

    changes = hub.changes(["bodyMass"])
    next(changes)  # it listens
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    # The same record again, in another version, would take this one's place.
    weight = {
        "type": "bodyMass", "start": now, "value": kilograms, "unit": "kg",
        "metadata": {"syncIdentifier": f"python-scale-{now}", "syncVersion": 1}}
    saved = {}
    thread = threading.Thread(target=lambda: saved.update(hub.save(weight)))
    thread.start()
    happened, sample = next(changes)
    thread.join()
    print(f"{saved['outcome']}, and {happened}: {sample['value']:g} {sample['unit']}")
    hub.delete(saved["uuid"])
    happened, gone = next(changes)
    print(f"{happened}: {'the same' if gone['deleted'] == saved['uuid'] else 'another'}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], float(sys.argv[2]))
