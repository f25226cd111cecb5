"""The radio neighbourhood of the machine: BlueZ's controller and virtual sensors (Bumble) on one in-process link.

link        the link, and the controller BlueZ drives through /dev/vhci
formats     numbers and times as the Bluetooth SIG writes them
ledger      what was sent, as NDJSON, so that a test can compare it with what arrived
peripheral  what every sensor does: services, streams, faults
records     stored records and the Record Access Control Point
advertisers sensors that nobody connects to
scales      scales that want to be spoken with
catalogue   all sensors: the file to add one to
"""
