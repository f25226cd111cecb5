"""The scale: weight and body composition with the same time, one pair for each weighing."""
from bluez import Bluez, until
from scenario import ADDRESSES

SENSORS = 'scale'


def scenario(vm):
    bluez = Bluez()
    bluez.discover()
    scale = bluez.find(ADDRESSES['scale'])
    bluez.stop_discovery()
    bluez.connect(scale)
    weights = bluez.subscribe(scale, 0x2A9D)
    bodies = bluez.subscribe(scale, 0x2A9C)
    vm.radio('measure scale 3')
    until(lambda: len(bodies) >= 3)
    vm.same('weights', weights, lambda: vm.sent('scale', '2A9D'))
    vm.same('body compositions', bodies, lambda: vm.sent('scale', '2A9C'))
    vm.check('pairs of the same time', [value[3:10] for value in weights] == [value[4:11] for value in bodies] and len(weights) == 3)
