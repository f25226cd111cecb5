"""A meter's report is cut between a record and its context, and again by the meter going out of range; it is busy at first: every record
is stored once."""
import signal

from bluez import until

SENSORS = 'glucose'


def last_before_cut(vm):
    """What was sent last over the first link."""
    lines = vm.ledger('glucose')
    cut = next((number for number, line in enumerate(lines) if line.get('event') == 'disconnected'), 0)
    return next(((line['characteristic'], line['record']) for line in reversed(lines[:cut]) if 'record' in line), None)


def scenario(vm):
    vm.pair('glucose')
    vm.adopt('glucose')
    vm.radio('busy glucose 2')
    vm.radio('dropafter glucose 48 2A18')  # every third has a context, which follows it
    hub = vm.run()
    vm.check('cut between a record and its context', until(lambda: last_before_cut(vm)) == ('2A18', 48), last_before_cut(vm))
    until(lambda: len(vm.records('glucose', '2A18')) >= 100)
    vm.radio('vanish glucose')
    sent = len(vm.records('glucose', '2A18'))
    vm.check('out of range in the middle of a report', 100 <= sent < 500, f'{sent} sent')
    vm.radio('appear glucose')
    vm.check('collected', until(lambda: 'stored records collected' in hub.output()))
    until(lambda: len(vm.stored('bloodGlucose')) >= 495)
    vm.check('stops', hub.stop(signal.SIGTERM) == 0)
    samples = vm.stored('bloodGlucose')
    numbers = [number for number in range(1, 501) if number % 100]  # every hundredth is control solution
    vm.check('every record once', len(samples) == 495, f'{len(samples)} stored')
    vm.check('every value, in the order of the times', [round(sample['value'], 6) for sample in samples] == [70 + n % 180 for n in numbers])
    vm.check_account()
