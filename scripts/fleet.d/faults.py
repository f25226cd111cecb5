"""The faults of a fleet. Each function breaks something, mends it, and returns what it has done. All choices are of the fleet's random numbers."""
import json
import os
import signal
import subprocess
import threading
import time

from center import OBSERVER, ROOT, until
from nats_client import Client


def stop_for(processes, seconds):
    """Stops processes, as a machine that swaps or a virtual machine that is moved."""
    for number in processes:
        signal_to(number, signal.SIGSTOP)
    time.sleep(seconds)
    for number in processes:
        signal_to(number, signal.SIGCONT)


def signal_to(number, what):
    try:
        os.kill(number, what)
    except ProcessLookupError:
        pass


def some_seconds(fleet, low=0.5, high=2.0):
    return round(fleet.random.uniform(low, high), 1)


NO_STANDBY = "left out: there is no standby"

# Programs that die

def exporters_killed(fleet):
    some = fleet.random.sample(fleet.hubs, min(5, len(fleet.hubs)))
    for _ in range(4):
        time.sleep(0.2)
        for hub in some:
            hub.kill()
            hub.start()
    return "hubs " + ", ".join(str(hub.number) for hub in some) + ", four times each"


def node_killed(fleet):
    node, seconds = fleet.random.choice(fleet.center.nodes), some_seconds(fleet)
    node.kill()
    time.sleep(seconds)
    node.start(fleet.center.nodes)
    return f"node {node.number} for {seconds} s"


def all_nodes_killed(fleet):
    for node in fleet.center.nodes:
        node.kill()
    time.sleep(0.5)
    for node in fleet.center.nodes:
        node.start(fleet.center.nodes)
    return "no broker for 0.5 s"


def node_removed_and_another_added(fleet):
    """A hub that starts knows only the nodes of its configuration, so two of these stay."""
    if fleet.center.nodes[-1].number > 3:
        return "left out: one node was replaced already"
    node = fleet.random.choice(fleet.center.nodes)
    new = fleet.center.replace_node(node)
    return f"node {node.number} for ever, and node {new.number} with another address"


def collector_killed(fleet):
    one, seconds = fleet.random.choice(fleet.center.collectors), some_seconds(fleet)
    one.kill()
    time.sleep(seconds)
    one.start()
    return f"collector {one.number} for {seconds} s"


def both_collectors_killed(fleet):
    for one in fleet.center.collectors:
        one.kill()
    time.sleep(1)
    for one in fleet.center.collectors:
        one.start()
    return "no collector for 1 s"


def primary_killed(fleet):
    fleet.center.primary.kill()
    fleet.center.primary.start_again()
    return f"server {fleet.center.primary.number}, started again"


def standby_killed(fleet):
    if not fleet.center.standby:
        return NO_STANDBY
    seconds = some_seconds(fleet)
    fleet.center.standby.kill()
    time.sleep(seconds)
    fleet.center.standby.start_again()
    return f"server {fleet.center.standby.number} for {seconds} s, in which nothing can commit"


def failover(fleet):
    if not fleet.center.standby:
        return NO_STANDBY
    fleet.center.fail_over()
    return f"server {fleet.center.primary.number} took over, and server {fleet.center.standby.number} was made again as its standby"


def shard_killed(fleet):
    if not fleet.center.shards:
        return "left out: there is one server"
    server, seconds = fleet.random.choice(fleet.center.servers[1:]), some_seconds(fleet)
    server.kill()
    time.sleep(seconds)
    server.start_again()
    return f"server {server.number} for {seconds} s, in which nothing can commit"


def server_added(fleet):
    if not fleet.center.shards or len(fleet.center.servers) > 3:
        return "left out: there is one server, or a fourth one already"
    return f"server {fleet.center.add_server().number} has got a partition of server 2"


# Programs that stop for a while

def collector_stopped(fleet):
    one, seconds = fleet.random.choice(fleet.center.collectors), some_seconds(fleet)
    stop_for([one.process.pid], seconds)
    return f"collector {one.number} for {seconds} s"


def node_stopped(fleet):
    node, seconds = fleet.random.choice(fleet.center.nodes), some_seconds(fleet)
    stop_for([node.process.pid], seconds)
    return f"node {node.number} for {seconds} s"


def exporter_stopped(fleet):
    hub, seconds = fleet.random.choice(fleet.hubs), some_seconds(fleet)
    stop_for([hub.process.pid], seconds)
    return f"hub {hub.number} for {seconds} s"


def primary_stopped(fleet):
    seconds = some_seconds(fleet)
    stop_for(fleet.center.primary.processes(), seconds)
    return f"server {fleet.center.primary.number} and its sessions for {seconds} s"


# Networks that break

def cut(relays, mood, seconds):
    for relay in relays:
        relay.set(mood)
    time.sleep(seconds)
    for relay in relays:
        relay.set("ok")


def node_cut_off_from_clients(fleet):
    node, seconds = fleet.random.choice(fleet.center.nodes), some_seconds(fleet)
    cut([node.clients], "cut", seconds)
    return f"node {node.number} for {seconds} s"


def packets_to_a_node_lost(fleet):
    node, seconds = fleet.random.choice(fleet.center.nodes), some_seconds(fleet)
    cut([node.clients], "hole", seconds)
    return f"node {node.number} for {seconds} s"


def cluster_split(fleet):
    node, seconds = fleet.random.choice(fleet.center.nodes), some_seconds(fleet, 1, 3)
    # The routes that other nodes have opened to this one, and those that it has opened to them.
    cut([one.routes for one in fleet.center.nodes], "cut", seconds)
    return f"every node alone for {seconds} s, seen from node {node.number}"


def collector_cut_off_from_the_database(fleet):
    one, seconds = fleet.random.choice(fleet.center.collectors), some_seconds(fleet)
    cut(one.relays, "cut", seconds)
    return f"collector {one.number} for {seconds} s"


def packets_to_the_database_lost(fleet):
    one, seconds = fleet.random.choice(fleet.center.collectors), some_seconds(fleet)
    cut(one.relays, "hole", seconds)
    return f"collector {one.number} for {seconds} s"


def answers_of_the_database_lost(fleet):
    """Connections break again and again, many of them while a COMMIT is on its way."""
    for _ in range(15):
        for one in fleet.center.collectors:
            cut(one.relays, "cut", 0.02)
        time.sleep(fleet.random.uniform(0.02, 0.15))
    return "15 times"


# Disks, blocks, and clocks

def fill(path):
    """Writes a file until nothing more fits beside it."""
    with open(path, "wb", buffering=0) as file:
        for length in (1 << 20, 1 << 12):
            try:
                while file.write(bytes(length)) == length:
                    pass
            except OSError:
                pass


def full_disk(fleet):
    server, seconds = fleet.center.primary, some_seconds(fleet, 2, 3)
    if not server.is_small:
        return "left out: only root can fill a small file system"
    ballast = server.home + "/ballast"
    fill(ballast)
    time.sleep(seconds)
    os.unlink(ballast)
    until(lambda: server.process() is not None or server.start(check=False), "PostgreSQL starts after its disk was full")
    with open(server.home + "/log", encoding="utf-8", errors="replace") as file:
        count = file.read().count("No space left on device")
    return f"server {server.number} for {seconds} s, {count} times in its log so far"


def every_block_twice(fleet):
    """Repeats every request at once, so that both collectors may have the same block, and all requests once more a little later."""
    client, requests, ended = Client(fleet.center.nodes[0].client_port, **OBSERVER), [], threading.Event()
    client.subscribe("vitalgate.chaos.hub.*")

    def repeat():
        try:
            while not ended.is_set():
                for subject, _, payload in client.messages():
                    client.publish(subject, payload, "vitalgate.chaos.reply.nobody")
                    requests.append((subject, payload))
        except OSError:
            pass

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    for _ in range(3):
        fleet.keep_busy()
        time.sleep(0.5)
    ended.set()
    late = list(requests)
    for subject, payload in late:
        client.publish(subject, payload, "vitalgate.chaos.reply.nobody")
    time.sleep(0.5)
    client.close()
    return f"{len(late)} requests repeated at once, and again later"


def clock_an_hour_off(fleet):
    """The hub's exporter and its imports see another time."""
    library = fleet.folder + "/clock.so"
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clock.c")
    if not os.path.exists(library):
        try:
            subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
        except (OSError, subprocess.CalledProcessError):
            return "left out: it needs a C compiler"
    hub, offset = fleet.random.choice(fleet.hubs), fleet.random.choice([-3600, 3600])
    with hub.lock:
        hub.kill()
        hub.environment = {"LD_PRELOAD": library, "CLOCK_OFFSET": str(offset)}
        hub.import_file()
        hub.start()
    time.sleep(1.5)
    with hub.lock:
        hub.import_file()
        hub.kill()
        hub.environment = {}
        hub.start()
    return f"hub {hub.number} by {offset} s"


# Stores

def hub_restored_from_a_backup(fleet):
    hub, copy = fleet.random.choice(fleet.hubs), fleet.folder + "/backup.db"
    with hub.lock:
        hub.kill()
        hub.back_up(copy)
        first = hub.files
        hub.import_file()
        hub.import_file()
        found = hub.deliver()
        if found.returncode != 0:
            raise SystemExit(f"hub {hub.number} does not deliver: {found.stdout}{found.stderr}")
        hub.put_back(copy)
        found = hub.deliver()
        if found.returncode != 0 or "only at the center" not in found.stderr:
            raise SystemExit(f"hub {hub.number} did not compare its restored store: status {found.returncode}\n{found.stderr}")
        # The center still has the readings of these files. They come back to the hub.
        for number in range(first, hub.files):
            hub.import_file(number)
        hub.start()
    return f"hub {hub.number} compared itself with the center, and went on"


def hub_cloned(fleet):
    hub, copy = fleet.random.choice(fleet.hubs), fleet.folder + "/clone.db"
    with hub.lock:
        hub.back_up(copy)
    hub.run("delete", "--type", "heartRate", "--yes", store=copy, codes=None)
    end = time.monotonic() + 60
    while (found := hub.run("export", "center", "--once", store=copy, codes=None)).returncode == 75 and time.monotonic() < end:
        time.sleep(0.2)
    if found.returncode != 69 or "store adopt" not in found.stderr or copy not in found.stderr or hub.store not in found.stderr:
        raise SystemExit(f"a clone of hub {hub.number} was let in, or not both are named: status {found.returncode}\n{found.stderr}")
    return f"the clone of hub {hub.number} was refused"


def hub_verified_while_others_write(fleet):
    """A hub compares itself with the center, and finds nothing to mend once it has delivered everything."""
    hub = fleet.random.choice(fleet.hubs)
    with hub.lock:
        hub.kill()
        found = hub.deliver()
        if found.returncode != 0:
            raise SystemExit(f"hub {hub.number} does not deliver: {found.stdout}{found.stderr}")
        fleet.keep_busy_beside(hub)
        for _ in range(3):
            found = hub.run("targets", "verify", "center", "--dry-run", "--format", "ndjson", codes=None)
            if found.returncode == 75:
                continue
            one = json.loads(found.stdout or "{}")
            # The center lacks the people whom the operator has erased.
            erased = sum(person in fleet.erased for _, person in hub.live().values())
            wrong = {name: one.get(name) for name in ("missing", "differing", "surplus") if one.get(name) != (erased if name == "missing" else 0)}
            if found.returncode != (65 if erased else 0) or wrong:
                raise SystemExit(f"hub {hub.number} differs from the center: status {found.returncode}, {wrong} and {erased} erased\n{found.stderr}")
        hub.start()
    return f"hub {hub.number}, three times"


def person_erased(fleet):
    """The operator erases a person, whose readings the hubs keep and send again."""
    hub = fleet.random.choice(fleet.hubs)
    person = hub.person(hub.number // 2)
    fleet.erased.add(person)
    # It waits 30 s for deliveries that are being written.
    for _ in range(4):
        found = fleet.center.fleet("erase", person, "--yes")
        if found.returncode == 0 or "lock timeout" not in found.stderr:
            break
    if found.returncode != 0:
        raise SystemExit(f"a person cannot be erased: {found.stdout}{found.stderr}")
    with hub.lock:
        hub.import_export()
    left = [row for row in fleet.center.rows() if row["subject"] == person]
    days = fleet.center.primary.psql(f"SELECT 1 FROM vitalgate.day WHERE subject = '{person}'")
    if left or days:
        raise SystemExit(f"{len(left)} rows and {len(days)} days are left of an erased person")
    return "one of " + ", ".join(str(number) for number in range(len(fleet.hubs)) if number // 2 == hub.number // 2)


ALL = [
    exporters_killed, node_killed, all_nodes_killed, node_removed_and_another_added, collector_killed, both_collectors_killed, primary_killed, standby_killed,
    failover, shard_killed, server_added, collector_stopped, node_stopped, exporter_stopped, primary_stopped, node_cut_off_from_clients, packets_to_a_node_lost, cluster_split,
    collector_cut_off_from_the_database, packets_to_the_database_lost, answers_of_the_database_lost, full_disk, every_block_twice, clock_an_hour_off,
    hub_restored_from_a_backup, hub_cloned, hub_verified_while_others_write, person_erased,
]
