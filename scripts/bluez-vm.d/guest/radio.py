"""The radio neighbourhood as a process: starts the adapter and the sensors, and does what it is told.

A command is a line, written to the FIFO /run/radio.ctl or, to have an answer, to the socket /run/radio.sock (which the
program `radio` does): a verb, names of sensors with commas between (or "all"), values. `radio help` lists them.
"""
import asyncio
import inspect
import json
import os

from peripherals.catalogue import SENSORS
from peripherals.ledger import Ledger, log
from peripherals.link import Adapter, Link

CONTROL, SOCKET = '/run/radio.ctl', '/run/radio.sock'
# The words of a test where Python or a sensor's own attributes have the method's name.
METHODS = {'silent': 'silence'}
HIDDEN = {'start', 'subscribed', 'send', 'send_next', 'run_stream'}


class Radio:
    def __init__(self):
        self.link, self.ledger = Link(), Ledger()
        self.adapter = Adapter(self.link)
        self.sensors = {}

    async def start(self):
        await self.adapter.add()
        self.sensors = {name: kind(self.link, self.ledger) for name, kind in SENSORS.items()}
        for sensor in self.sensors.values():
            await sensor.start()

    async def obey(self, line):
        """Does it, and answers in words or JSON; raises what went wrong."""
        match line.split():
            case []:
                return ''
            case ['help']:
                return json.dumps(self.help(), indent=2)
            case ['adapter', 'add' | 'remove' as verb]:
                self.ledger.write('adapter', '', event=verb)
                await getattr(self.adapter, verb)()
            case ['clone', name, count]:
                await self.clone(name, int(count))
            case ['bluetoothd', 'start' | 'stop' | 'kill' | 'restart' | 'freeze' | 'thaw' as verb]:
                self.ledger.write('bluetoothd', '', event=verb)
                process = await asyncio.create_subprocess_exec('/vm/bluetoothd', verb)
                if await process.wait() != 0:
                    raise RuntimeError('bluetoothd did not')
            case ['state']:
                return json.dumps({name: await sensor.state() for name, sensor in self.sensors.items()})
            case [verb, names, *values]:
                return await self.tell(verb, names, values)
            case _:
                raise ValueError('not understood')
        return ''

    async def clone(self, name, count):
        """So many more of a kind, as heart-2, heart-3 …; `state` tells their addresses."""
        for _ in range(count):
            kind = type(self.sensors[name])
            number = 1 + sum(isinstance(sensor, kind) for sensor in self.sensors.values())
            octets = kind.address.split(':')
            octets[4] = f'{number + 0x10:02X}'
            copy = type(kind.__name__, (kind,), {'name': f'{name}-{number}', 'address': ':'.join(octets)})
            self.sensors[copy.name] = copy(self.link, self.ledger)
            await self.sensors[copy.name].start()

    async def tell(self, verb, names, values):
        answers = []
        for name in self.sensors if names == 'all' else names.split(','):
            sensor = self.sensors.get(name)
            if sensor is None:
                raise ValueError(f'no sensor {name}; there are {" ".join(self.sensors)}')
            method = getattr(sensor, METHODS.get(verb, verb), None)
            if verb in HIDDEN or verb.startswith('_') or not inspect.iscoroutinefunction(method):
                raise ValueError(f'{name} does not know {verb}')
            answer = await method(*values)
            answers.append(json.dumps(answer) if isinstance(answer, dict) else answer or '')
        return '\n'.join(filter(None, answers))

    def help(self):
        verbs = {}
        words = {method: word for word, method in METHODS.items()}
        for name, sensor in self.sensors.items():
            for verb, method in inspect.getmembers(sensor, inspect.iscoroutinefunction):
                if not verb.startswith('_') and verb not in HIDDEN:
                    verbs.setdefault(words.get(verb, verb), []).append(name)
        return {'adapter add|remove': 'hci0', 'bluetoothd start|stop|kill|restart|freeze|thaw': 'bluetoothd',
                'clone NAME COUNT': 'more of a kind', 'state': 'all', **verbs}

    async def answer(self, line):
        try:
            reply = await self.obey(line)
            if line != 'state':
                log('done:', line)
            return f'ok {reply}'
        except Exception as problem:
            log('failed:', line, repr(problem))
            return f'error {problem}'


async def main():
    os.mkfifo(CONTROL)
    fifo = os.open(CONTROL, os.O_RDWR | os.O_NONBLOCK)
    radio = Radio()
    await radio.start()

    async def client(reader, writer):
        while line := await reader.readline():
            reply = await radio.answer(line.decode().strip())
            writer.write(json.dumps(reply).encode() + b'\n')
            await writer.drain()
        writer.close()

    await asyncio.start_unix_server(client, SOCKET)
    pending = b''

    def readable():
        nonlocal pending
        pending += os.read(fifo, 4096)
        *lines, pending = pending.split(b'\n')
        for line in lines:
            asyncio.get_running_loop().create_task(radio.answer(line.decode().strip()))

    asyncio.get_running_loop().add_reader(fifo, readable)
    await asyncio.Event().wait()


if __name__ == '__main__':
    asyncio.run(main())
