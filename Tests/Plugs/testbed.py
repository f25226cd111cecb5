"""Plays udev with umockdev: plugs that come and go, for a program that is run with the same UMOCKDEV_DIR. To be run by umockdev-wrapper.

Prints the folder to give as UMOCKDEV_DIR, then answers each line of standard input with "done":
    plug NODE LINK TARGET VENDOR PRODUCT SERIAL   a serial port NODE (ttyUSB0) named LINK (serial/by-id/…) whose bytes are those of TARGET
    pull NODE                                     it is gone
"""

import ctypes
import os
import sys

library = ctypes.CDLL("libumockdev.so.0")
library.umockdev_testbed_new.restype = ctypes.c_void_p
library.umockdev_testbed_get_root_dir.restype = ctypes.c_char_p
library.umockdev_testbed_get_root_dir.argtypes = [ctypes.c_void_p]
library.umockdev_testbed_add_from_string.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
library.umockdev_testbed_uevent.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
library.umockdev_testbed_remove_device.argtypes = [ctypes.c_void_p, ctypes.c_char_p]

DEVICE = """P: /devices/usb1/{node}
E: DEVNAME=/dev/{node}
E: DEVLINKS=/dev/{link}
E: SUBSYSTEM=tty
E: ID_BUS=usb
E: ID_VENDOR_ID={vendor}
E: ID_MODEL_ID={product}
E: ID_SERIAL_SHORT={serial}
"""

testbed = library.umockdev_testbed_new()
root = library.umockdev_testbed_get_root_dir(testbed).decode()
links = {}


def link(path, target):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink(target, path)


def plug(node, name, target, vendor, product, serial):
    description = DEVICE.format(node=node, link=name, vendor=vendor, product=product, serial=serial)
    if not library.umockdev_testbed_add_from_string(testbed, description.encode(), None):
        raise SystemExit("umockdev takes no such device")
    links[node] = [f"{root}/dev/{node}", f"{root}/dev/{name}"]
    for path in links[node]:
        link(path, target)
    library.umockdev_testbed_uevent(testbed, f"/sys/devices/usb1/{node}".encode(), b"add")


def pull(node):
    for path in links.pop(node):
        os.unlink(path)
    # As udev does: what it knew of the device goes with the event.
    library.umockdev_testbed_uevent(testbed, f"/sys/devices/usb1/{node}".encode(), b"remove")
    library.umockdev_testbed_remove_device(testbed, f"/sys/devices/usb1/{node}".encode())


print(root, flush=True)
for line in sys.stdin:
    verb, *words = line.split()
    {"plug": plug, "pull": pull}[verb](*words)
    print("done", flush=True)
