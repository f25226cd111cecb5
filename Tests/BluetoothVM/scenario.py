"""What a scenario is given: the sensors' remote control, what they sent, checks, programs to start."""
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

# Nothing here depends on the speed of the machine: a limit only ends what would hang for ever.
LIMIT = 300
CONFIGURATION = '/tmp/vitalgate.json5'
SOURCE = pathlib.Path(__file__).resolve().parents[2]
LOGS = pathlib.Path('/vm/log')

ADDRESSES = {name: f'C0:01:02:03:04:{number:02X}' for number, name in enumerate(
    ('heart', 'thermo', 'cuff', 'glucose', 'oximeter', 'scale', 'bthome', 'cgm', 'sealed', 'users', 'qn', 'omron', 'o2ring', 'yunmai', 'renpho',
     'miscale', 'etekcity', 'beurer'), start=1)}


def rest(asked):
    """Before something is asked again, by when it was asked last: the machine has one processor, and most of it is for those who are
    waited for."""
    time.sleep(min(max(0.01, 2 * (time.monotonic() - asked)), 2))


class Program:
    """A program a scenario started; its output goes to a file."""

    def __init__(self, arguments, log, **options):
        self.log = log
        self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=open(log, 'ab'), stderr=subprocess.STDOUT, **options)

    def output(self):
        with open(self.log, encoding='utf-8', errors='replace') as file:
            return file.read()

    def running(self):
        return self.process.poll() is None

    def stop(self, number=signal.SIGTERM, seconds=LIMIT):
        """The exit code; negative: the signal it ended by."""
        if self.running():
            self.process.send_signal(number)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class Terminal:
    """A program with a person at its terminal."""

    def __init__(self, arguments):
        self.master, terminal = os.openpty()
        self.process = subprocess.Popen(arguments, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True)
        os.close(terminal)
        self.text = ''

    def read(self):
        """Takes what has come; false at the end of the program's output."""
        try:
            self.text += os.read(self.master, 4096).decode(errors='replace')
            return True
        except OSError:  # the program has closed its end
            return False

    def expect(self, pattern):
        """Waits for a line like this; the match, or None where the program ended without one."""
        while not (found := re.search(pattern, self.text)):
            if not self.read():
                return None
        return found

    def type(self, line):
        os.write(self.master, f'{line}\n'.encode())

    def end(self):
        """The exit code."""
        while self.read():
            pass
        os.close(self.master)
        return self.process.wait(LIMIT)


class Scenario:
    def __init__(self, name):
        self.name = name
        self.started = time.monotonic()
        self.passed = self.failed = 0
        self.programs = []
        # What each hub heard, with the store that it had.
        self.captures = []
        # What a scenario waits for is committed each second.
        pathlib.Path(CONFIGURATION).write_text('{hub: {commitEvery: 1}}\n', encoding='utf-8')
        # Of what the sensors sent: what is read so far, up to this octet.
        self.lines, self.heard = [], 0

    # ---- checks

    def check(self, fact, holds, note=''):
        """Counts and prints a fact; goes on after a failure. Returns whether it holds."""
        self.passed, self.failed = self.passed + bool(holds), self.failed + (not holds)
        print(f'{"ok  " if holds else "FAIL"} {time.monotonic() - self.started:6.2f} {self.name}: {fact} {note}'.rstrip(), flush=True)
        return bool(holds)

    def same(self, fact, received, expected):
        """Two lists of octets are alike, in the same order. `expected` may be a function, asked again until it fits: the line
        of an indication is written when its confirmation is back, a little after the value has arrived."""
        limit = time.monotonic() + LIMIT
        fixed = None if callable(expected) else list(expected)
        read = expected if fixed is None else lambda: fixed
        received = [value.hex() for value in received]
        while (expected := [value.hex() for value in read()]) != received and fixed is None and time.monotonic() < limit:
            time.sleep(0.05)
        note = f'({len(expected)})'
        if received != expected:
            lost = list((collections.Counter(expected) - collections.Counter(received)).elements())
            added = list((collections.Counter(received) - collections.Counter(expected)).elements())
            note = f'received {len(received)}, sent {len(expected)}; lost {lost[:3]}, too many {added[:3]}'
        return self.check(fact, received == expected, note)

    # ---- sensors

    def radio(self, command):
        """Tells the sensors something, waits until it is done, returns the answer. Raises when it was refused."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect('/run/radio.sock')
            connection.sendall(command.encode() + b'\n')
            status, _, answer = json.loads(connection.makefile().readline()).partition(' ')
        if status != 'ok':
            raise RuntimeError(f'radio {command}: {answer}')
        return answer

    def state(self, device):
        return json.loads(self.radio('state'))[device]

    def ledger(self, device=None):
        """Everything that was sent or happened, oldest first (docs/development/testing-bluetooth.md has the fields)."""
        with open('/run/radio.sent', 'rb') as file:
            file.seek(self.heard)
            for line in file:
                if not line.endswith(b'\n'):
                    break
                self.heard += len(line)
                self.lines.append(json.loads(line))
        return [line for line in self.lines if device in (None, line['device'])]

    def sent(self, device, characteristic):
        """The values sent, as octets: every transmission, without indications that nobody confirmed."""
        return [bytes.fromhex(line['hex']) for line in self.ledger(device)
                if line.get('characteristic') == characteristic and line.get('confirmed', True)]

    def records(self, device, characteristic):
        """The stored records sent, by number: what a store must hold once each, however often they were sent."""
        return {line['record']: bytes.fromhex(line['hex']) for line in self.ledger(device)
                if line.get('characteristic') == characteristic and 'record' in line}

    # ---- programs

    def start(self, *arguments, **options):
        """Starts a program; stopped at the end of the scenario if it still runs."""
        program = Program(arguments, f'/tmp/{self.name}.{len(self.programs)}.log', **options)
        self.programs.append(program)
        return program

    @property
    def vitalgate(self):
        """The path of the program under test, or None."""
        path = os.environ.get('VITALGATE', '')
        return path if path and os.access(path, os.X_OK) else None

    def hub(self, *arguments, store='/tmp/store.db', seconds=LIMIT):
        """Runs the program to its end: its exit code, what it printed, and what it said beside that."""
        done = subprocess.run(self.hub_command(*arguments, store=store), stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def hub_command(self, *arguments, store='/tmp/store.db'):
        if arguments[:1] == ('run',):
            self.captures.append((f'/tmp/{self.name}.{len(self.captures)}.ndjson', store))
            arguments = (*arguments, '--capture', self.captures[-1][0])
        return [self.vitalgate, '--config', CONFIGURATION, '--store', store, '--profiles', SOURCE / 'DeviceProfiles', *arguments]

    def terminal(self, *arguments, store='/tmp/store.db'):
        """The program at a terminal."""
        return Terminal(self.hub_command(*arguments, store=store))

    def adopt(self, *names, options=()):
        """Adopts sensors, as a person does."""
        for name in names:
            code, _, log = self.hub('devices', 'adopt', self.address(name), '--seconds', str(LIMIT), *options, seconds=2 * LIMIT)
            self.check(f'adopt {name}', code == 0, log)

    def pair(self, *names):
        """Bonds with sensors that want no number."""
        for name in names:
            code, _, log = self.hub('devices', 'pair', self.address(name), '--seconds', str(LIMIT), seconds=2 * LIMIT)
            self.check(f'pair {name}', code == 0, log)

    def run(self, *options):
        """Starts the hub."""
        return self.start(*self.hub_command('run', '--verbose', *options))

    def address(self, name):
        return ADDRESSES.get(name) or self.state(name)['address']

    def stored(self, *kinds, store='/tmp/store.db'):
        """The samples of a store, as they are printed, by start; of those types, or all."""
        return [json.loads(line) for line in self.hub('query', ','.join(kinds) or 'all', '--format', 'ndjson', store=store)[1].splitlines()]

    def stored_values(self, kind, origin=None, device=None, store='/tmp/store.db'):
        """How often each value of a type is in the store; of one origin of time, or one device (its model), where they are given."""
        return collections.Counter(round(sample['value'], 3) for sample in self.stored(kind, store=store)
                                   if origin in (None, sample['time']['origin']) and device in (None, sample['device']['model']))

    def arrive(self, fact, kind, sent, **which):
        """Waits until each of these values is in the store, as often as it was sent: a fact to check."""
        sent = collections.Counter(round(value, 3) for value in sent)
        missing = sent
        asked = time.monotonic()
        limit = asked + LIMIT
        while (missing := sent - self.stored_values(kind, **which)) and asked < limit:
            rest(asked)
            asked = time.monotonic()
        return self.check(fact, not missing, f'{sum(sent.values())} sent, {sum(missing.values())} missing {sorted(missing)[:5]}')

    def only(self, fact, kind, sent, **which):
        """Nothing of a type is in the store that was not sent, and nothing more often than it was sent."""
        added = self.stored_values(kind, **which) - collections.Counter(round(value, 3) for value in sent)
        return self.check(fact, not added, f'{len(sent)} sent; too many: {sorted(added)[:5]}')

    def quarantined(self, store='/tmp/store.db'):
        """What is held."""
        return [json.loads(line) for line in self.hub('quarantine', 'list', '--format', 'ndjson', store=store)[1].splitlines()]

    def accounts(self, store='/tmp/store.db'):
        """The ledger's accounts, each of which adds up: a fact to check."""
        accounts = [json.loads(line) for line in self.hub('ingest', 'list', '--format', 'ndjson', store=store)[1].splitlines()]
        sums = [account['read'] == sum(account[end] for end in ('stored', 'duplicate', 'quarantined', 'refused')) for account in accounts]
        self.check('the accounts add up', accounts and all(sums), accounts)
        return accounts

    def check_account(self, held=0, store='/tmp/store.db'):
        """Each account adds up, the samples are those of the accounts, and the store is sound; `held` readings were held at first."""
        accounts = self.accounts(store)
        self.check('nothing was refused', not any(account['refused'] for account in accounts))
        self.check('nothing more was held', sum(account['quarantined'] for account in accounts) == held and not self.quarantined())
        self.check('the store is sound', self.hub('store', 'check', store=store)[1].strip() == 'ok')

    def replay(self, loses):
        """What the hubs heard makes the same samples again, with the same UUIDs: facts to check. Kept among the logs, to be replayed
        without a machine (Tests/HubTests/Captures). `loses`: what was heard need not be stored, as where a hub was killed."""
        # A record that two hubs heard was received twice.
        heard, stored = collections.defaultdict(list), {}
        for path, store in self.captures:
            code, lines, said = self.hub('replay', path, '--format', 'ndjson', store=store)
            # 65: what was refused then is refused again, and a hub that was killed may have left half a line.
            self.check('what was heard can be replayed', code in (0, 65), said)
            for uuid, sample in self.by_uuid(map(json.loads, lines.splitlines())).items():
                heard[uuid].append(sample)
            stored.update(self.by_uuid(self.stored(store=store)))
        missing = [uuid for uuid, sample in stored.items() if sample not in heard[uuid]]
        self.check('all that is stored comes of it', not missing, f'{len(stored)} stored, not so {[stored[uuid] for uuid in missing[:2]]}')
        if not loses:
            added = [samples[0] for uuid, samples in heard.items() if uuid not in stored]
            self.check('and nothing else', not added, added[:2])
        for number, (path, _) in enumerate(self.captures):
            shutil.copy(path, LOGS / f'capture.{number}.ndjson')
        lines = [f'{uuid} {sample["type"]} {sample["original"]["value"]} {sample["original"]["unit"]} {sample["start"]} {sample["end"]}\n'
                 for uuid, sample in sorted(stored.items())]
        (LOGS / 'samples.txt').write_text(''.join(lines), encoding='utf-8')

    @staticmethod
    def by_uuid(samples):
        """Samples without their place in a store."""
        return {sample['uuid']: {key: value for key, value in sample.items() if key not in ('ingest', 'seq')} for sample in samples}

    def close(self, loses=False):
        for program in self.programs:
            if program.running():
                program.stop()
        if self.captures:
            self.replay(loses)
        for program in self.programs:
            if self.failed:
                print(f'---- {self.name}: end of {program.log}\n{program.output()[-4000:]}', flush=True)
