"""Scan, adopt a strap and a thermometer, be the hub for a while, stop: what they sent is in the store, every value once."""
import json
import signal

from bluez import until
from scenario import ADDRESSES
from values import celsius, heart_rate

SENSORS = 'heart,thermo,cuff'


def scan(vm):
    """Who is near, by address, once all three were heard in one scan."""
    code, output, log = vm.hub('scan', '--seconds', '5', '--format', 'ndjson')
    near = {line['address']: line for line in map(json.loads, output.splitlines())}
    return near if code == 0 and {ADDRESSES[name] for name in SENSORS.split(',')} <= set(near) else None


def scenario(vm):
    near = until(lambda: scan(vm))
    vm.check('scan: all three', near)
    vm.check('scan: the strap and its profile', 'sig-heart-rate' in near[ADDRESSES['heart']]['profiles'], near[ADDRESSES['heart']])
    vm.check('scan: the thermometer', 'sig-health-thermometer' in near[ADDRESSES['thermo']]['profiles'])
    vm.check('scan: nobody is adopted', not any(line['adopted'] for line in near.values()))
    vm.adopt('heart', options=('--name', 'chest strap'))
    vm.adopt('thermo')

    hub = vm.run()
    vm.check('the strap is read', until(lambda: '2A37' in vm.state('heart')['subscribed']))
    vm.check('the thermometer is read', until(lambda: '2A1C' in vm.state('thermo')['subscribed']))
    vm.radio('burst heart 100 20')
    vm.radio('unit thermo F')
    vm.radio('burst thermo 3')
    # Nothing is on its way while the hub stops.
    vm.radio('silent heart,thermo on')
    rates, temperatures = [heart_rate(value) for value in vm.sent('heart', '2A37')], list(map(celsius, vm.sent('thermo', '2A1C')))
    vm.arrive('every heart rate', 'heartRate', rates)
    vm.arrive('every temperature', 'bodyTemperature', temperatures)
    vm.check('stops', hub.stop(signal.SIGTERM) == 0)

    vm.only('each heart rate once', 'heartRate', rates)
    vm.only('each temperature once', 'bodyTemperature', temperatures)
    vm.check('at least a hundred', len(rates) >= 100)
    samples = vm.stored()
    of_strap = [sample for sample in samples if sample['type'] == 'heartRate']
    device = of_strap[0]['device']
    vm.check('maker and model', (device['manufacturer'], device['model'], device['serial']) == ('Vitalgate', 'HR-1', '0001'), device)
    vm.check('unit', all(sample['unit'] == '/min' for sample in of_strap))
    vm.check('times are of receipt', all(sample['time']['origin'] == 'receipt' for sample in of_strap))
    units = {sample['original']['unit'] for sample in samples if sample['type'] == 'bodyTemperature'}
    vm.check('the wire decides the unit', units == {'Cel', '[degF]'}, units)
    vm.check('nothing of the cuff, which nobody adopted', not any(s['type'].startswith('bloodPressure') for s in samples))
    vm.check_account()
    log = hub.output()
    vm.check('no value in the log', not any(f' {int(sample["value"])} ' in log for sample in of_strap[:20]))
