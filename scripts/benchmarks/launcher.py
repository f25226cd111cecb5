"""Starts programs for measure.py, a JSON line each, and tells what they took.

A process of its own, since the kernel counts the memory of the one that starts a program as the program's own until it is replaced
(getrusage(2), ru_maxrss): this one stays small.
"""

import json
import os
import subprocess
import sys
import time

for line in sys.stdin:
    order = json.loads(line)
    with open(order["output"], "wb") as output, open(order["errors"], "wb") as errors:
        start = time.perf_counter()
        process = subprocess.Popen(order["command"], stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    answer = {
        "seconds": seconds,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * 1024,
        "code": process.returncode,
    }
    print(json.dumps(answer), flush=True)
