"""Looks whether Home Assistant takes what a broker is told for it: check.py DISCOVERY.json

Its own schemas are asked, of the version that is on the path; a warning counts as a refusal. Prints one line.
"""

import copy
import importlib.abc
import importlib.machinery
import json
import logging
import sys
import types

# Servers, cryptography and cameras, which importing the schemas asks for and checking does not use.
ABSENT = {
    "aiohttp", "aiohttp_cors", "aiohttp_asyncmdnsresolver", "aiohttp_fast_zlib", "async_interrupt", "atomicwrites", "bcrypt",
    "cryptography", "hass_nabucasa", "ifaddr", "jwt", "packaging", "ulid_transform", "webrtc_models", "aiodns", "requests",
}  # fmt: skip


class AnyClass(type):
    """A class that has everything, and does nothing."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return anything(name)

    def __getitem__(cls, key):
        return cls

    def __or__(cls, other):
        return cls

    __ror__ = __or__


def anything(name):
    return AnyClass(name, (), {"__init__": lambda *_, **__: None, "__call__": lambda *a, **_: a[1] if len(a) > 1 else None})


class AbsentModule(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        setattr(self, name, anything(name))
        return getattr(self, name)


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.partition(".")[0] in ABSENT else None

    def create_module(self, spec):
        return AbsentModule(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.append(Absent())

from homeassistant.components.mqtt.schemas import DEVICE_DISCOVERY_SCHEMA  # noqa: E402
from homeassistant.components.mqtt import binary_sensor, event, sensor as sensors  # noqa: E402
from homeassistant.components.sensor.const import DEVICE_CLASS_STATE_CLASSES  # noqa: E402
from homeassistant.const import __version__  # noqa: E402
from homeassistant.helpers import config_validation, frame  # noqa: E402

import voluptuous  # noqa: E402


# Templates are read outside of a running Home Assistant here, of which it would complain.
frame.report_usage = lambda *_, **__: None
hass = types.ModuleType("hass")
hass.data = {}
if __version__ > "2025.8":
    config_validation._async_get_hass_or_none = lambda: hass


class Warnings(logging.Handler):
    def emit(self, record):
        raise voluptuous.Invalid(record.getMessage())


logging.getLogger().addHandler(Warnings(level=logging.WARNING))


def check(payload):
    """Raises voluptuous.Invalid where a device or one of its sensors is not taken as it is."""
    DEVICE_DISCOVERY_SCHEMA(copy.deepcopy(payload))
    for component in payload["components"].values():
        platform = {"sensor": sensors, "binary_sensor": binary_sensor, "event": event}[component["platform"]]
        sensor = platform.DISCOVERY_SCHEMA(component | {"device": payload["device"], "origin": payload["origin"]})
        known = DEVICE_CLASS_STATE_CLASSES.get(sensor.get("device_class"))
        if component["platform"] == "sensor" and known is not None and sensor["state_class"] not in known:
            raise voluptuous.Invalid(f"{component['unique_id']}: {sensor['device_class']} is no {sensor['state_class']}")
        # Both read it as it was meant.
        for key in ("device_class", "unit_of_measurement", "unique_id", "state_topic"):
            if sensor.get(key) != component.get(key):
                raise voluptuous.Invalid(f"{component['unique_id']}: {key} was read as {sensor.get(key)}")


with open(sys.argv[1], encoding="utf-8") as file:
    payload = json.load(file)
check(payload)

# What has to be refused is: else this would look at nothing.
faults = {
    "a unit of another class": lambda p: p["components"]["bodyMass"].update(unit_of_measurement="°C"),
    "no unique_id": lambda p: p["components"]["bodyMass"].pop("unique_id"),
    "an unknown class": lambda p: p["components"]["bodyMass"].update(device_class="mass"),
    "a topic with a wildcard": lambda p: p["components"]["bodyMass"].update(state_topic="a/#/b"),
    "energy as a measurement": lambda p: p["components"]["activeEnergyBurned"].update(
        state_class="measurement", last_reset_value_template=None
    ),
    "somebody asleep without a topic": lambda p: p["components"]["sleepAnalysis"].pop("state_topic"),
    "somebody asleep in degrees": lambda p: p["components"]["sleepAnalysis"].update(unit_of_measurement="°C"),
    "a workout of an unknown class": lambda p: p["components"]["workout"].update(device_class="running"),
    "no identifiers": lambda p: p["device"].update(identifiers=[]),
    "no origin": lambda p: p.pop("origin"),
}
if "event" in payload["components"]:
    faults = {
        "an alert without a topic": lambda p: p["components"]["alert3"].pop("state_topic"),
        "an alert of an unknown class": lambda p: p["components"]["alert3"].update(device_class="alert"),
        "an event without types": lambda p: p["components"]["event"].pop("event_types"),
        "an event without a topic": lambda p: p["components"]["event"].pop("state_topic"),
        "an event with a wrong template": lambda p: p["components"]["event"].update(value_template="{{ {"),
        "no identifiers": lambda p: p["device"].update(identifiers=[]),
    }
for name, spoil in faults.items():
    spoiled = copy.deepcopy(payload)
    spoil(spoiled)
    try:
        check(spoiled)
    except voluptuous.Invalid:
        continue
    sys.exit(f"Home Assistant {__version__} takes what it should not: {name}")
print(f"Home Assistant {__version__}: {len(payload['components'])} sensors taken, {len(faults)} faults refused")
