"""Sensors that only advertise, one of them encrypted: each content at most once, with its values; nothing without the key."""
import signal

from bluez import until

SENSORS = 'bthome,sealed'
KEY = '231d39c1d7cc1ab1aee224cd096db932'


def temperatures(vm):
    """What was advertised so far, in degrees Celsius."""
    plain = [int.from_bytes(value[6:8], 'little') / 100 for value in vm.sent('bthome', 'adv:FCD2')]
    sealed = [(2000 + number) / 100 for number, _ in enumerate(vm.sent('sealed', 'adv:FCD2'), start=1)]
    return plain, sealed


def scenario(vm):
    vm.adopt('bthome', 'sealed')
    hub = vm.run()
    until(lambda: len(vm.stored('relativeHumidity')) >= 3)
    vm.check('nothing of the encrypted one without its key', all(sample['value'] < 50 for sample in vm.stored('relativeHumidity')))
    vm.adopt('sealed', options=('--bind-key', KEY))
    hub.process.send_signal(signal.SIGHUP)
    # A scan has pauses: what is sent meanwhile is not heard, so there is no saying which contents arrive.
    vm.check('five contents of the encrypted one', until(lambda: len([v for v in vm.stored_values('roomTemperature') if v < 30]) >= 5))
    vm.check('five contents of the plain one', until(lambda: len([v for v in vm.stored_values('roomTemperature') if v > 30]) >= 5))
    vm.radio('vanish bthome,sealed')
    vm.check('stops', hub.stop(signal.SIGTERM) == 0)
    plain, sealed = temperatures(vm)
    vm.only('each temperature once, as it was sent', 'roomTemperature', plain + sealed)
    vm.check('the key is nowhere in the log', KEY not in hub.output())
    vm.check('the store is sound', vm.hub('store', 'check')[1].strip() == 'ok')
