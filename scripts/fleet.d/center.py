"""The center of a fleet on this machine: a cluster of NATS brokers, a PostgreSQL server with a synchronous standby, and collectors."""
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import threading
import time

from relay import Relay, free_port

ROOT = os.geteuid() == 0
# A client that sees and repeats all messages, which the broker lets in beside the users of the fleet.
OBSERVER = {"user": "observer", "password": "observer"}
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"{what}: not after {seconds} s")
        time.sleep(0.1)


def is_running(number):
    """Whether a process is there, and not only waiting for its parent."""
    try:
        with open(f"/proc/{number}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class Broker:
    """A node of the cluster. Clients and the other nodes reach it through relays."""

    def __init__(self, folder, number):
        self.folder, self.number, self.starts = folder, number, 0
        self.client_port, self.cluster_port = free_port(), free_port()
        self.clients, self.routes = Relay(self.client_port), Relay(self.cluster_port)
        self.process = None

    def start(self, nodes):
        self.starts += 1
        path = f"{self.folder}/node{self.number}.conf"
        routes = ", ".join(f'"nats://127.0.0.1:{node.routes.port}"' for node in nodes if node is not self)
        with open(path, "w", encoding="utf-8") as file:
            file.write(
                f'include "users.conf"\nserver_name: "node{self.number}-{self.starts}"\nlisten: "127.0.0.1:{self.client_port}"\n'
                f'client_advertise: "127.0.0.1:{self.clients.port}"\nping_interval: "2s"\n'
                f'cluster {{ name: "fleet", listen: "127.0.0.1:{self.cluster_port}", advertise: "127.0.0.1:{self.routes.port}", routes: [{routes}] }}\n')
        with open(f"{self.folder}/node{self.number}.log", "ab") as log:
            self.process = subprocess.Popen(["nats-server", "-c", path], stdout=log, stderr=log)
        until(self.listens, f"broker {self.number} starts")

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.client_port), timeout=1).close()
            return True
        except OSError:
            return False

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        self.process.wait()


class Server:
    """A PostgreSQL server. As root it has a small file system of its own, which can be full."""

    octets = 600 << 20

    def __init__(self, folder, number):
        self.home, self.number, self.port = f"{folder}/db{number}", number, free_port()
        self.data = self.home + "/data"
        versions = sorted(os.listdir("/usr/lib/postgresql"), key=int)
        self.binaries = f"/usr/lib/postgresql/{versions[-1]}/bin"
        os.mkdir(self.home)
        self.is_small = ROOT and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={self.octets}", "vitalgate-chaos", self.home], check=False, **QUIET).returncode == 0
        if ROOT:
            owner = pwd.getpwnam("postgres")
            os.chown(self.home, owner.pw_uid, owner.pw_gid)

    def as_postgres(self, *words, check=True):
        prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if ROOT else []
        return subprocess.run(prefix + list(words), check=check, cwd="/", **QUIET).returncode

    def create(self):
        self.as_postgres(self.binaries + "/initdb", "-D", self.data, "-A", "trust", "-U", "vitalgate", "-E", "UTF8", "--no-locale", "--no-sync")
        with open(self.data + "/postgresql.conf", "a", encoding="utf-8") as file:
            file.write("wal_level = replica\nmax_wal_senders = 10\nhot_standby = on\nwal_keep_size = 128MB\nmax_wal_size = 96MB\nmin_wal_size = 32MB\nfsync = off\n"
                       "max_connections = 60\nlisten_addresses = '127.0.0.1'\nwal_receiver_timeout = 5s\nwal_sender_timeout = 5s\n")

    def start(self, check=True):
        options = f"-c port={self.port} -c unix_socket_directories={self.home}"
        return self.as_postgres(self.binaries + "/pg_ctl", "-D", self.data, "-o", options, "-w", "-l", self.home + "/log", "start", check=check) == 0

    def process(self):
        """The number of the first process, or None."""
        try:
            with open(self.data + "/postmaster.pid", encoding="utf-8") as file:
                number = int(file.readline())
            os.kill(number, 0)
            return number
        except (OSError, ValueError):
            return None

    def processes(self):
        """The numbers of the first process and of all that it has started, such as its sessions."""
        number = self.process()
        if number is None:
            return []
        with open(f"/proc/{number}/task/{number}/children", encoding="utf-8") as file:
            return [number] + [int(word) for word in file.read().split()]

    def kill(self):
        """Kills all its processes at once, as a power cut does."""
        some = self.processes()
        for number in some:
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                pass
        until(lambda: not any(is_running(number) for number in some), f"PostgreSQL {self.number} has ended")
        if os.path.exists(self.data + "/postmaster.pid"):
            os.unlink(self.data + "/postmaster.pid")

    def start_again(self):
        """Starts it after a kill, and tries again if it does not start at once."""
        until(lambda: self.process() is not None or self.start(check=False), f"PostgreSQL {self.number} starts")

    def psql(self, text):
        found = subprocess.run(
            [self.binaries + "/psql", "-qAt", "-F", "\t", "-h", "127.0.0.1", "-p", str(self.port), "-U", "vitalgate", "-d", "postgres", "-c", text],
            check=True, capture_output=True, text=True, timeout=120)
        return [line.split("\t") for line in found.stdout.splitlines()]

    def copy(self, primary):
        """Becomes the standby of a server, from a copy of it."""
        shutil.rmtree(self.data, ignore_errors=True)
        self.as_postgres(
            self.binaries + "/pg_basebackup", "-D", self.data, "-R", "-X", "stream", "-c", "fast", "--no-sync",
            "-d", f"host=127.0.0.1 port={primary.port} user=vitalgate application_name=standby")

    def delete(self):
        self.as_postgres(self.binaries + "/pg_ctl", "-D", self.data, "-m", "immediate", "stop", check=False)
        if self.is_small:
            subprocess.run(["umount", "-l", self.home], check=False, **QUIET)


class Collector:
    """A `vitalgate collect`. It reaches each database server through a relay of its own."""

    def __init__(self, center, number):
        self.center, self.number = center, number
        port = center.database_port
        self.relays = [Relay(server.port, f"127.0.{number + 1}.{server.number}", port) for server in center.heads]
        self.configuration = f"{center.folder}/collector{number}.json5"
        self.process = None
        hosts = ",".join(f"127.0.{number + 1}.{server.number}" for server in center.heads)
        database = {"host": hosts, "port": port, "database": "postgres", "user": "vitalgate", "tls": "disable", **center.partitions}
        with open(self.configuration, "w", encoding="utf-8") as file:
            json.dump({"collect": {
                "broker": {**center.broker_settings(), "nkey": center.key, "seedFile": center.key_file}, "database": database, "workers": 4,
                "brokerUsers": {"file": f"{center.folder}/users{number}.conf"}, "sealing": {"seedFile": center.sealing_file}}}, file)

    def command(self, *words):
        return [self.center.program, "--config", self.configuration, "collect", *words]

    def start(self):
        with open(f"{self.center.folder}/collector{self.number}.log", "ab") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Center:
    """With `shards`, the readings are divided among three servers, and there is no standby."""

    count = 16

    def __init__(self, folder, program, shards=False):
        self.folder, self.program, self.shards = folder, program, shards
        self.partitions = {"partitions": self.count} if shards else {}
        self.sealing_file = f"{folder}/sealing.seed"
        self.key_file = f"{folder}/collector.seed"
        self.key, _ = [
            subprocess.run([program, "fleet", "key", *words], check=True, capture_output=True, text=True).stdout.strip()
            for words in ([self.key_file], ["--sealing", self.sealing_file])]
        self.users, self.ended = None, threading.Event()
        self.nodes = [Broker(folder, number) for number in (1, 2, 3)]
        self.servers = [Server(folder, number) for number in ((1, 2, 3) if shards else (1, 2))]
        self.primary, self.standby = self.servers[0], None if shards else self.servers[1]
        # The servers that collectors know.
        self.heads = self.servers[:1] if shards else self.servers
        self.database_port = free_port()
        self.collectors = []

    def write_users(self):
        """Gives the brokers the newest of the collectors' lists of users, as systemd does when the file changes."""
        lists = [path for path in (f"{self.folder}/users{one.number}.conf" for one in self.collectors) if os.path.exists(path)]
        with open(max(lists, key=os.path.getmtime), encoding="utf-8") as file:
            text = file.read()
        if text == self.users:
            return
        self.users = text
        with open(f"{self.folder}/users.conf.new", "w", encoding="utf-8") as file:
            observer = ", ".join(f'{name}: "{value}"' for name, value in OBSERVER.items())
            file.write(text.replace("users: [\n", f"users: [\n        {{ {observer} }}\n", 1))
        os.rename(f"{self.folder}/users.conf.new", f"{self.folder}/users.conf")
        for node in self.nodes:
            if node.process and node.process.poll() is None:
                # A stopped node gets it later.
                node.process.send_signal(signal.SIGHUP)

    def watch_users(self):
        while not self.ended.wait(0.2):
            self.write_users()

    def start(self):
        self.primary.create()
        self.primary.start()
        self.collectors = [Collector(self, number) for number in (1, 2)]
        if self.shards:
            self.divide()
        # The tables exist before the standby, because every commit waits for a standby from then on.
        subprocess.run(self.collectors[0].command("--create"), check=True, **QUIET)
        if self.standby:
            self.primary.psql("ALTER SYSTEM SET synchronous_standby_names = '*'")
            self.add_standby()
            self.primary.psql("SELECT pg_reload_conf()")
        # Each collector writes its list before it connects, and the brokers start with the list.
        for collector in self.collectors:
            collector.start()
            until(lambda path=f"{self.folder}/users{collector.number}.conf": os.path.exists(path), "the list of users")
        self.write_users()
        for node in self.nodes:
            node.start(self.nodes)
        threading.Thread(target=self.watch_users, daemon=True).start()

    def create_tables(self, server):
        """Creates the tables of one of several servers."""
        path = f"{self.folder}/create{server.number}.json5"
        database = {"host": "127.0.0.1", "port": server.port, "database": "postgres", "user": "vitalgate", "tls": "disable", **self.partitions}
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"collect": {"broker": {"fleet": "chaos", "servers": ["nats://127.0.0.1:1"]}, "database": database}}, file)
        subprocess.run([self.program, "--config", path, "collect", "--create"], check=True, **QUIET)

    def link(self, server, partitions, drop):
        """Statements that give partitions to a server, as docs/how-to/fleet.md has them."""
        name = f"shard{server.number}"
        text = f"""
            CREATE SERVER {name} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '{server.port}', dbname 'postgres', batch_size '1000');
            CREATE USER MAPPING FOR vitalgate SERVER {name} OPTIONS (user 'vitalgate');"""
        for number in partitions:
            text += f"""
                {drop} vitalgate.sample_{number};
                CREATE FOREIGN TABLE vitalgate.sample_{number} PARTITION OF vitalgate.sample FOR VALUES WITH (MODULUS {self.count}, REMAINDER {number})
                    SERVER {name} OPTIONS (schema_name 'vitalgate', table_name 'sample_{number}');"""
        return text

    def divide(self):
        """Divides the readings among the servers."""
        for server in self.servers[1:]:
            server.create()
            server.start()
        for server in self.servers:
            self.create_tables(server)
        text = "BEGIN; CREATE EXTENSION postgres_fdw; ALTER TABLE vitalgate.sample DROP CONSTRAINT sample_pkey;"
        for number in range(6):
            text += f"ALTER TABLE vitalgate.sample_{number} ADD PRIMARY KEY (subject, start_time, uuid, variant);"
        self.primary.psql(text + self.link(self.servers[1], range(6, 11), "DROP TABLE") + self.link(self.servers[2], range(11, 16), "DROP TABLE") + "COMMIT")

    def add_server(self):
        """Gives a partition of the second server to a new one, while the collectors are stopped."""
        old, new = self.servers[1], Server(self.folder, len(self.servers) + 1)
        new.create()
        new.start()
        self.create_tables(new)
        for one in self.collectors:
            one.kill()
        # A session of a killed collector may still commit.
        until(lambda: self.primary.psql("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'vitalgate%'") == [["0"]], "no session is left")
        words = f"-h 127.0.0.1 -U vitalgate -p {old.port} --data-only --table 'vitalgate.sample_10*' postgres"
        subprocess.run(
            ["/bin/sh", "-c", f"{old.binaries}/pg_dump {words} | {old.binaries}/psql -q -v ON_ERROR_STOP=1 -h 127.0.0.1 -U vitalgate -p {new.port} postgres"],
            check=True, **QUIET)
        self.primary.psql("BEGIN;" + self.link(new, [10], "DROP FOREIGN TABLE") + "COMMIT")
        old.psql("TRUNCATE vitalgate.sample_10")
        self.servers.append(new)
        for one in self.collectors:
            one.start()
        return new

    def replace_node(self, node):
        """Adds a node, and removes another one for ever. The others and the clients learn of the new one from the cluster."""
        new = Broker(self.folder, max(one.number for one in self.nodes) + 1)
        new.start(self.nodes)
        time.sleep(1)
        node.kill(signal.SIGTERM)
        self.nodes = [one for one in self.nodes if one is not node] + [new]
        for relay in (node.clients, node.routes):
            relay.set("cut")
        return new

    def fleet(self, *words):
        """Runs a command of the operator."""
        return subprocess.run(
            [self.program, "--config", self.collectors[0].configuration, "fleet", *words], capture_output=True, text=True, timeout=120, check=False)

    def hubs(self):
        """The hubs as the operator sees them, by name."""
        # A server that was killed a moment ago is not there yet.
        until(lambda: self.fleet("hubs").returncode == 0, "'fleet hubs' answers")
        found = self.fleet("hubs", "--format", "ndjson")
        return {one["name"]: one for one in map(json.loads, found.stdout.splitlines())}

    def uuids(self, store):
        """The UUIDs of a hub's reports."""
        hub = f"(SELECT id FROM vitalgate.hub WHERE store = '{store}')"
        tables = [f"SELECT uuid FROM vitalgate.{table} WHERE hubs @> ARRAY[{hub}]" for table in ("sample", "category", "workout")]
        return {row[0] for row in self.primary.psql(" UNION ALL ".join([*tables, f"SELECT held FROM vitalgate.superseded WHERE hub = {hub}"]))}

    def broker_settings(self):
        return {"fleet": "chaos", "servers": [f"nats://127.0.0.1:{node.clients.port}" for node in self.nodes]}

    def add_standby(self):
        self.standby.copy(self.primary)
        self.standby.start_again()

    def fail_over(self):
        """The primary is lost with all it has, the standby takes over, and a new standby is made."""
        self.primary.kill()
        self.as_server(self.standby, "promote")
        self.primary, self.standby = self.standby, self.primary
        time.sleep(1)
        self.add_standby()

    @staticmethod
    def as_server(server, action):
        server.as_postgres(server.binaries + "/pg_ctl", "-D", server.data, "-w", action)

    def rows(self):
        """The reports of all hubs, also those that a row of another report represents."""
        def moment(name):
            return f"to_char(r.{name} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
        fields = {
            "uuid": "r.uuid", "type": "r.type", "start": moment("start_time"), "end": moment("end_time"), "subject": "r.subject", "metadata": "r.metadata",
            "zone": "r.zone_offset", "source": "r.source_name",
            "device": "CASE WHEN r.device_key IS NOT NULL THEN json_build_array(r.device_key, r.device_name, r.device_manufacturer, r.device_model, r.device_serial) END",
        }
        own = {
            "sample": {"numeral": "r.numeral", "numeral_unit": "r.numeral_unit", "value": "r.value", "unit": "r.unit"},
            "category": {"value": "r.value", "case": "r.value_name"}, "workout": {"activity": "r.activity", "duration": "r.duration"},
        }
        found = []
        for table, more in own.items():
            row = ", ".join(f"'{name}', {value}" for name, value in {**fields, **more}.items())
            for source, hubs in [
                    (f"vitalgate.{table} r", "r.hubs"),
                    (f"vitalgate.superseded k, jsonb_populate_record(NULL::vitalgate.{table}, k.content) r WHERE k.place = '{table}'", "ARRAY[k.hub]")]:
                text = f"SELECT json_build_object({row}, 'hubs', ARRAY(SELECT store FROM vitalgate.hub WHERE id = ANY({hubs}))) FROM {source}"
                found += [json.loads("\t".join(line)) for line in self.primary.psql(text)]
        return found

    def relays(self):
        return [relay for node in self.nodes for relay in (node.clients, node.routes)] + [relay for one in self.collectors for relay in one.relays]

    def close(self):
        self.ended.set()
        for one in self.collectors + self.nodes:
            if one.process and one.process.poll() is None:
                one.process.send_signal(signal.SIGCONT)
                one.kill()
        for server in self.servers:
            server.delete()
