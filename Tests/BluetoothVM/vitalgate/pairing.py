"""A cuff is paired at a terminal, with a number typed, shown and compared; then `run --once` collects it: values, units and times."""
import signal

from bluez import until
from scenario import ADDRESSES, LIMIT
from values import moment, systolic

SENSORS = 'cuff'
CUFF = ADDRESSES['cuff']


def shown(vm, event, count):
    """The number on the cuff's display: of the event after so many."""
    numbers = until(lambda: [line['passkey'] for line in vm.ledger('cuff') if line.get('event') == event][count:])
    return numbers[0]


def pair(vm, way, wrong=False):
    """Pairs as a person does, and returns the exit code and what stood on the terminal."""
    displayed = sum(line.get('event') == 'passkey' for line in vm.ledger('cuff'))
    vm.radio(f'pairing cuff {way}')
    terminal = vm.terminal('devices', 'pair', CUFF, '--seconds', str(LIMIT))
    if way == 'display':
        vm.check(f'{way}: asks for the number', terminal.expect(f'Enter the number that {CUFF} shows'))
        number = int(shown(vm, 'passkey', displayed))
        terminal.type(f'{(number + wrong) % 1_000_000:06}')
    elif way == 'keyboard':
        number = terminal.expect(rf'Type this number on {CUFF}: (\d{{6}})')
        vm.check(f'{way}: shows a number', number)
        vm.radio(f'passkey cuff {number[1]}')
    else:
        number = terminal.expect(rf'Does {CUFF} show (\d{{6}})\?')
        vm.check(f'{way}: the number is the one on the cuff', number and number[1] == shown(vm, 'comparison', 0))
        terminal.type('y')
    return terminal.end(), terminal.text


def part(vm):
    """Both forget the bond."""
    code, _, log = vm.hub('devices', 'forget', CUFF, '--bond')
    vm.check('forget the bond', code == 0, log)
    vm.radio('forget cuff')
    until(lambda: not vm.state('cuff')['connected'])


def scenario(vm):
    code, text = pair(vm, 'display', wrong=True)
    vm.check('a wrong number: refused, and said', code not in (0, None) and 'could not be paired' in text, f'exit code {code}')
    vm.radio('forget cuff')
    until(lambda: not vm.state('cuff')['connected'])
    for way in ('display', 'keyboard'):
        code, text = pair(vm, way)
        vm.check(f'{way}: paired', code == 0 and 'is paired' in text, text)
        part(vm)

    vm.adopt('cuff')
    hub = vm.run()
    vm.check('without a bond: said', until(lambda: 'the device requires pairing' in hub.output()))
    vm.check('without a bond: nothing is asked of it', not vm.state('cuff')['subscribed'] and not vm.sent('cuff', '2A35'))
    code, text = pair(vm, 'compare')
    vm.check('compare: paired beside the hub', code == 0 and 'is paired' in text, text)
    vm.check('the hub goes on by itself', until(lambda: len(vm.stored('bloodPressureSystolic')) >= 5))
    vm.check('the hub stops', hub.stop(signal.SIGTERM) == 0)
    # It ends when something of every device is stored; the cuff begins again with its oldest on each connection.
    vm.check('run --once, until all is there', until(lambda: vm.hub('run', '--once')[0] == 0 and len(vm.stored('bloodPressureSystolic')) >= 5))
    records = vm.records('cuff', '2A35')
    samples = vm.stored('bloodPressureSystolic')
    vm.check('five records, each once', (len(records), len(samples)) == (5, 5))
    stored = sorted((sample['start'][:19], round(sample['value'], 3)) for sample in samples)
    vm.check('values and times', stored == sorted((moment(octets[7:]), round(systolic(octets), 3)) for octets in records.values()), stored)
    units = sorted(sample['original']['unit'] for sample in samples)
    vm.check('the wire decides the unit', units == ['kPa', *['mm[Hg]'] * 4], units)
    vm.check('no mean where the cuff says "not a number"', len(vm.stored('bloodPressureMean')) == 4)
    vm.check_account()

    code, _, log = vm.hub('devices', 'adopt', ADDRESSES['scale'], '--profile', 'sig-weight-scale')
    vm.check('adopt a scale that is away, by its profile', code == 0, log)
    code, _, log = vm.hub('run', '--once')
    vm.check('run --once: not all delivered, try again', code == 75, f'exit code {code}')
