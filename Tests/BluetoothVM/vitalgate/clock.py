"""The machine's own clock, set while the hub runs, as NTP does on a Pi without a battery: what was stamped before has its right time, in its
order, once; and nothing is moved once the kernel was told that the clock is right."""
import ctypes
import datetime
import os
import signal
import subprocess

from bluez import until
from values import heart_rate

SENSORS = 'heart'
STRAY = datetime.datetime(2017, 1, 1, tzinfo=datetime.timezone.utc)  # before Vitalgate was written: held
BEHIND = datetime.datetime(2026, 3, 1, 11, 0, tzinfo=datetime.timezone.utc)
RIGHT = datetime.datetime(2026, 3, 1, 14, 0, tzinfo=datetime.timezone.utc)
RULE = 'clock-unknown'


def set_clock(time):
    subprocess.run(['date', '--utc', '--set', time.isoformat()], check=True, stdout=subprocess.DEVNULL)


def tell_kernel_it_is_right():
    """adjtimex(2) with ADJ_STATUS, ADJ_MAXERROR and ADJ_ESTERROR, as a daemon of NTP does."""
    class Timex(ctypes.Structure):
        _fields_ = [('modes', ctypes.c_uint), ('numbers', ctypes.c_long * 4), ('status', ctypes.c_int), ('rest', ctypes.c_char * 160)]

    state = Timex(modes=0x10 | 0x4 | 0x8)
    if ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(state)) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def starts(vm):
    return [datetime.datetime.fromisoformat(sample['start'].replace('Z', '+00:00')) for sample in vm.stored('heartRate')]


def rates(vm):
    """The rates that were sent, in their order."""
    return [heart_rate(value) for value in vm.sent('heart', '2A37')]


def more(vm, fact, count=5):
    """So many more rates are sent; how many there are then."""
    before = len(rates(vm))
    vm.check(fact, until(lambda: len(rates(vm)) >= before + count))
    return before + count


def scenario(vm):
    set_clock(STRAY)
    vm.adopt('heart')
    hub = vm.run()
    more(vm, 'rates by a clock of 2017')
    vm.check('they are held', until(lambda: len(vm.quarantined()) >= 5))
    vm.check('none is stored', not starts(vm) and {entry['rule'] for entry in vm.quarantined()} == {RULE})

    set_clock(BEHIND)
    vm.check('the hub saw the clock set', until(lambda: 'clock: set by' in hub.output()))
    vm.check('none is held any more', until(lambda: not vm.quarantined()))
    count = more(vm, 'rates by a clock that is hours behind')
    vm.check('they are stored', until(lambda: len(starts(vm)) >= count))
    earliest = min(starts(vm))
    vm.check('those of before have their time', BEHIND - datetime.timedelta(minutes=10) < earliest < BEHIND, earliest)

    set_clock(RIGHT)
    count = more(vm, 'rates by a right clock')
    vm.check('all are stored', until(lambda: len(starts(vm)) >= count))
    vm.check('all were moved', until(lambda: min(starts(vm)) > RIGHT - datetime.timedelta(minutes=20)), min(starts(vm)))

    tell_kernel_it_is_right()
    more(vm, 'rates by a clock that the kernel calls right')
    vm.check('the hub has noticed', until(lambda: 'clock' in hub.output()))
    last = max(starts(vm))
    set_clock(RIGHT + datetime.timedelta(days=1))
    more(vm, 'rates on the next day', count=3)
    vm.check('the day of before is as it was', sum(start <= last for start in starts(vm)) >= count)

    vm.radio('silent heart on')
    sent = rates(vm)
    vm.arrive('every heart rate', 'heartRate', sent)
    vm.check('stops', hub.stop(signal.SIGTERM) == 0)
    vm.only('each once', 'heartRate', sent)
    stored = [round(sample['value']) for sample in vm.stored('heartRate')]
    vm.check('in the order in which they came', stored == sent, (stored, sent) if stored != sent else '')
    vm.accounts()
    vm.check('the store is sound', vm.hub('store', 'check', '--deep')[1].strip() == 'ok')
