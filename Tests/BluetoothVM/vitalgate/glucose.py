"""A meter with 500 records: pair, adopt, collect by record access, every record once; then only what is new; a kill half way."""
import calendar
import signal
import time

from bluez import until, wait

SENSORS = 'glucose'
LOSES = True  # a hub is killed half way


def seconds(text):
    return calendar.timegm(time.strptime(text[:19], '%Y-%m-%dT%H:%M:%S'))


def collected(hub):
    return until(lambda: 'stored records collected' in hub.output())


def check_times(vm, samples, newest):
    """Times and values as the meter has them, with its clock's two hours taken away."""
    by_time = sorted((seconds(sample['start']), round(sample['value'], 6)) for sample in samples)
    # Record 500 is of control solution, and 499 three hours older.
    vm.check('a clock two hours slow is corrected', abs(by_time[-1][0] - (newest - 3 * 3600)) < 120, by_time[-1][0] - newest)
    numbers = [number for number in range(1, 501) if number % 100]
    vm.check('values, in the order of their times', [value for _, value in by_time] == [70 + number % 180 for number in numbers])
    apart = [(after - before) // 3600 for (before, _), (after, _) in zip(by_time, by_time[1:])]
    vm.check('times three hours apart', all(gap == 3 * (n - m) for gap, m, n in zip(apart, numbers, numbers[1:])), apart[:12])
    vm.check('and says so', all(sample['time']['origin'] == 'device-corrected' for sample in samples))


def scenario(vm):
    newest = int(time.time()) - 30 * 60  # when the meter took its last one: it has just come on the air
    vm.pair('glucose')
    vm.adopt('glucose', options=('--name', 'meter'))

    vm.radio('pace glucose 20')
    hub = vm.run()
    until(lambda: len(vm.sent('glucose', '2A18')) >= 150)
    hub.stop(signal.SIGKILL)
    sent = len(vm.sent('glucose', '2A18'))
    vm.check('killed half way', 150 <= sent < 500, f'{sent} sent')
    vm.radio('pace glucose 100')  # BlueZ keeps the link, and the meter goes on telling

    hub = vm.run()
    vm.check('all collected', collected(hub))
    records = vm.records('glucose', '2A18')
    controls = sum(octets[(12 if octets[0] & 1 else 10) + 2] == 0x4A for octets in records.values())
    vm.check('all were sent, five of control solution', (len(records), controls) == (500, 5))
    until(lambda: len(vm.stored('bloodGlucose')) >= 495)
    samples = vm.stored('bloodGlucose')
    vm.check('every record once', len(samples) == 495, f'{len(samples)} stored')
    vm.check('no start twice', len({sample['start'] for sample in samples}) == len(samples))
    check_times(vm, samples, newest)
    vm.check('stops', hub.stop(signal.SIGTERM) == 0)

    before = len(vm.sent('glucose', '2A18'))
    until(lambda: not vm.state('glucose')['connected'])
    hub = vm.run()
    vm.check('again', collected(hub))
    wait(1.5)
    again = len(vm.sent('glucose', '2A18')) - before
    vm.check('only the last ones are asked for', again <= 3, f'{again} sent')
    vm.check('stops', hub.stop(signal.SIGINT) == 0)
    vm.check('nothing twice', len(vm.stored('bloodGlucose')) == 495)
    vm.check('nothing was deleted on the meter', not any(line.get('event') == 'deleted' for line in vm.ledger('glucose')))
    vm.check_account()
