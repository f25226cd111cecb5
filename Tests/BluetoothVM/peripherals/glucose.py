"""The glucose meter: 500 records over RACP, contexts, count, from a number on, abort, busy, none; its clock; a drop half way."""
import struct

from bluez import Bluez, Failed, until, wait
from scenario import ADDRESSES

SENSORS = 'glucose'


def ask(bluez, meter, answers, request):
    before = len(answers)
    bluez.write(meter, 0x2A52, request)
    return until(lambda: answers[before:]) and answers[before]


def scenario(vm):
    bluez = Bluez()
    bluez.discover()
    meter = bluez.find(ADDRESSES['glucose'])
    bluez.stop_discovery()
    bluez.connect(meter)
    bluez.pair(meter)

    now = bluez.read(meter, 0x2A2B)
    vm.check('the clock is two hours off', vm.state('glucose')['clock_offset'] == -7200, now.hex())
    try:
        bluez.write(meter, 0x2A52, b'\x04\x01')
        vm.check('refuses before subscriptions', False)
    except Failed as problem:
        vm.check('refuses before subscriptions', '0xfd' in str(problem).lower(), problem)
    answers = bluez.subscribe(meter, 0x2A52)
    values = bluez.subscribe(meter, 0x2A18)
    contexts = bluez.subscribe(meter, 0x2A34)
    vm.check('count', ask(bluez, meter, answers, b'\x04\x01') == b'\x05\x00\xf4\x01')
    vm.check('count from 401 on', ask(bluez, meter, answers, b'\x04\x03\x01\x91\x01') == b'\x05\x00\x64\x00')
    vm.check('first', ask(bluez, meter, answers, b'\x01\x05') == b'\x06\x00\x01\x01' and until(lambda: len(values) == 1))
    vm.check('last', ask(bluez, meter, answers, b'\x01\x06') == b'\x06\x00\x01\x01' and until(lambda: values[-1][1:3] == b'\xf4\x01'))
    vm.check('none from 501 on', ask(bluez, meter, answers, b'\x01\x03\x01\xf5\x01') == b'\x06\x00\x01\x06')
    vm.check('an unknown operation', ask(bluez, meter, answers, b'\x63\x01') == b'\x06\x00\x63\x02')
    vm.radio('busy glucose')
    vm.check('busy', ask(bluez, meter, answers, b'\x01\x01') == b'\x06\x00\x01\x0a')

    values.clear(), contexts.clear()
    start = len(vm.sent('glucose', '2A18'))
    vm.check('report all', ask(bluez, meter, answers, b'\x01\x01') == b'\x06\x00\x01\x01')
    until(lambda: len(values) >= 500 and len(contexts) >= 166)
    vm.same('500 records', values, vm.sent('glucose', '2A18')[start:])
    vm.check('numbers 1 to 500', [struct.unpack_from('<H', value, 1)[0] for value in values] == list(range(1, 501)))
    vm.check('166 contexts', len(contexts) == 166 and all(value[0] & 0x10 for value in values if value[1] % 3 == 0 and value[2] == 0))
    vm.check('records by number', len(vm.records('glucose', '2A18')) == 500)

    values.clear()
    vm.radio('pace glucose 4')  # so slow that it cannot be over before we say so
    bluez.write(meter, 0x2A52, b'\x01\x01')
    until(lambda: len(values) >= 4)
    try:
        bluez.write(meter, 0x2A52, b'\x04\x01')
        vm.check('refuses while at work', False)
    except Failed as problem:
        vm.check('refuses while at work', '0xfe' in str(problem).lower(), problem)
    vm.check('abort', ask(bluez, meter, answers, b'\x03\x00') == b'\x06\x00\x03\x01')
    count = len(vm.sent('glucose', '2A18'))
    wait(1)
    vm.check('nothing after the abort', len(vm.sent('glucose', '2A18')) == count)
    vm.check('not all was sent', until(lambda: values) and len(values) < 500, len(values))
    vm.radio('pace glucose 100')

    wait(0.5)
    values.clear()
    vm.radio('dropafter glucose 60')
    bluez.write(meter, 0x2A52, b'\x01\x01')
    vm.check('the link drops after 60 values', until(lambda: not bluez.connected(meter)))
    bluez.connect(meter)
    until(lambda: '2A18' in vm.state('glucose')['subscribed'] and '2A52' in vm.state('glucose')['subscribed'])
    last = struct.unpack_from('<H', values[-1], 1)[0]
    vm.check('on from the last record', ask(bluez, meter, answers, b'\x01\x03\x01' + struct.pack('<H', last + 1)) == b'\x06\x00\x01\x01')
    until(lambda: len(values) >= 500)
    numbers = [struct.unpack_from('<H', value, 1)[0] for value in values]
    vm.check('every record once', numbers == list(range(1, 501)), f'{len(numbers)}, continued after {last}')

    bluez.write(meter, 0x2A2B, bytes.fromhex('ea07010203040506000000')[:10])
    vm.check('the clock can be set', any(line.get('event') == 'clock-set' for line in vm.ledger('glucose')))
    vm.check('nothing was deleted', not any(line.get('event') == 'deleted' for line in vm.ledger('glucose')))
