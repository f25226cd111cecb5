"""Runs in the machine of scripts/bluez-vm: how long after a strap sent a value a reader of `changes` has it. latency.py VITALGATE PROFILES COUNT

Prints JSON: the seconds of each value, in the order of sending."""

import json
import signal
import subprocess
import sys
import time

STRAP = "C0:01:02:03:04:01"


def sent():
    """When each value of the strap was handed to the link."""
    with open("/run/radio.sent", encoding="utf-8") as ledger:
        lines = [json.loads(line) for line in ledger if line.endswith("\n")]
    return [line["time"] for line in lines if line.get("characteristic") == "2A37"]


def main(vitalgate, profiles, count):
    command = [vitalgate, "--store", "/tmp/store.db", "--profiles", profiles]
    subprocess.run([*command, "devices", "adopt", STRAP, "--seconds", "300"], check=True, stderr=subprocess.DEVNULL)
    hub = subprocess.Popen([*command, "run"], stderr=subprocess.DEVNULL)
    reader = subprocess.Popen([*command, "changes", "--follow", "--types", "heartRate"], stdout=subprocess.PIPE)
    seen = []
    for _ in range(count):
        reader.stdout.readline()
        seen.append(time.time())
    for process in (hub, reader):
        process.send_signal(signal.SIGINT)
        process.wait()
    print(json.dumps({"seconds": [after - before for before, after in zip(sent(), seen)]}))


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
