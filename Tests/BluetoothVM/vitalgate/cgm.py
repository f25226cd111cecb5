"""A continuous glucose monitor: the session's records by record access, times counted from its start; then what it measures next."""
import calendar
import signal
import time

from bluez import until
from values import moment, sfloat

SENSORS = 'cgm'


def seconds(text):
    return calendar.timegm(time.strptime(text[:19], '%Y-%m-%dT%H:%M:%S'))


def values(vm):
    """Of all records sent, by minutes since the start; without the one that is not a number."""
    by_minutes = {number: sfloat(octets[2:4]) for number, octets in vm.records('cgm', '2AA7').items()}
    return {number: value for number, value in by_minutes.items() if value is not None}


def scenario(vm):
    appeared = time.time()
    vm.pair('cgm')
    vm.adopt('cgm')
    hub = vm.run()
    vm.check('collected', until(lambda: 'stored records collected' in hub.output()))
    until(lambda: '2AA7' in vm.state('cgm')['subscribed'])
    vm.radio('measure cgm 3')
    vm.arrive('every record, and what it measures next', 'bloodGlucose', values(vm).values())
    vm.check('stops', hub.stop(signal.SIGTERM) == 0)
    samples = vm.stored('bloodGlucose')
    wanted = values(vm)
    vm.check('24 records, one without a value, and three more', (len(vm.records('cgm', '2AA7')), len(wanted)) == (27, 26))
    start = seconds(samples[0]['start']) - 5 * 60
    vm.check('the first is 115 minutes old', abs(start - (appeared - 120 * 60)) < 120)
    stored = [((seconds(sample['start']) - start) // 60, round(sample['value'], 6)) for sample in samples]
    vm.check('each once, at its minute', stored == sorted(wanted.items()), stored[:5])
    vm.check_account()
