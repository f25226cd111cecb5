"""The rows of the profiles: what 150 of them cost a start."""

import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import tempfile
import time

import measure
from result import Result, verdict

SHIPPED = pathlib.Path(__file__).resolve().parent.parent.parent / "DeviceProfiles"
COUNT, RUNS = 150, 15


def profiles(bench):
    """The shipped profiles, and copies of them by another name up to 150; the program lies where no checkout is near."""
    bench.say("the profiles: starting a hub that reads 150")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        vitalgate = folder / "vitalgate"
        shutil.copy(bench.vitalgate, vitalgate)
        many, none = folder / "many", folder / "none"
        none.mkdir()
        fill(many)
        starts = {many: [], none: []}
        for _ in range(RUNS):  # by turns, so that both meet the same machine
            for place, runs in starts.items():
                runs.append(start(vitalgate, folder, place))
        helps = [measure.run([vitalgate, "--help"]).seconds * 1000 for _ in range(RUNS)]
    seconds = [seconds * 1000 for seconds, _ in starts[many]]
    middle, help_middle = statistics.median(seconds), statistics.median(helps)
    more = (statistics.median(peak for _, peak in starts[many]) - statistics.median(peak for _, peak in starts[none])) / 1e6
    return [
        Result(
            "profiles", f"from the start of a hub with {COUNT} profiles until it is ready (p50 of {RUNS})", "< 200 ms", "",
            f"{middle:.0f} ms", verdict=verdict(middle < 200),
            values={"milliseconds": seconds, "milliseconds_of_none": [seconds * 1000 for seconds, _ in starts[none]]}),
        Result(
            "profiles", f"its memory at the peak, above that of a hub without profiles (p50 of {RUNS})", "<= 3 MB", "",
            f"{more:.1f} MB", verdict=verdict(more <= 3), values={"bytes": [peak for _, peak in starts[many]]}),
        Result(
            "profiles", f"`vitalgate --help` (p50 of {RUNS})", "< 20 ms", "", f"{help_middle:.1f} ms",
            verdict=verdict(help_middle < 20), values={"milliseconds": helps}),
    ]


def fill(folder):
    folder.mkdir()
    shipped = sorted(SHIPPED.glob("*.json5"))
    for number in range(COUNT):
        file, again = shipped[number % len(shipped)], number // len(shipped)
        text, name = file.read_text(encoding="utf-8"), file.stem
        if again:
            name = f"{file.stem}-{again}"
            text = text.replace(f'id: "{file.stem}"', f'id: "{name}"', 1)
        (folder / f"{name}.json5").write_text(text, encoding="utf-8")


def start(vitalgate, folder, place):
    """Seconds until the hub tells its service manager that it is ready, and the peak of its memory by then."""
    heard, inbox, store = folder / "notify", folder / "inbox", folder / "hub.vitalgate"
    inbox.mkdir(exist_ok=True)
    for old in [heard, *folder.glob("hub.vitalgate*")]:
        old.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(heard))
        manager.settimeout(60)
        begin = time.perf_counter()
        with subprocess.Popen(
            [*measure.pinned(), vitalgate, "--store", store, "--profiles", place, "run", "--inbox", inbox],
            env=os.environ | {"NOTIFY_SOCKET": str(heard)}, stderr=subprocess.PIPE) as hub:
            try:
                while not manager.recv(4096).startswith(b"READY=1"):
                    pass
                seconds = time.perf_counter() - begin
                status = pathlib.Path(f"/proc/{hub.pid}/status").read_text(encoding="utf-8")
            finally:
                hub.terminate()
                told = hub.communicate()[1].decode()
            if hub.returncode != 0:
                raise SystemExit(f"bench: the hub ended with {hub.returncode}: {told[-2000:]}")
    return seconds, next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))
