"""Stored records and the Record Access Control Point, 0x2A52 (GATT Specification Supplement, record_access_control_point)."""
import asyncio
import struct
from dataclasses import dataclass
from datetime import datetime

from bumble import att

from .formats import read_date_time
from .ledger import log
from .peripheral import Value

REPORT, DELETE, ABORT, COUNT = 1, 2, 3, 4
ALL, UP_TO, FROM, RANGE, FIRST, LAST = 1, 2, 3, 4, 5, 6
SUCCESS, NOT_SUPPORTED, INVALID_OPERATOR, OPERATOR_NOT_SUPPORTED, INVALID_OPERAND, NO_RECORDS = 1, 2, 3, 4, 5, 6
OPERAND_NOT_SUPPORTED, BUSY = 9, 10
SEQUENCE_NUMBER, FACING_TIME = 1, 2


@dataclass
class Record:
    number: int
    moment: datetime
    frames: list[tuple[int, bytes]]  # (characteristic, octets), in the order in which they are sent


class Refused(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


class RecordAccess:
    """The server's side of the procedures, over `sensor.records`."""

    def __init__(self, sensor, measurement, filters=(SEQUENCE_NUMBER, FACING_TIME)):
        self.sensor, self.measurement, self.filters = sensor, measurement, filters
        self.running = None
        self.busy = 0  # so many requests are answered "busy"
        self.pace = 0.01  # seconds between two records

    def write(self, connection, octets):
        sensor = self.sensor
        if connection not in sensor.subscribers(0x2A52, bits=2) or connection not in sensor.subscribers(self.measurement):
            raise att.ATT_Error(att.ErrorCode.CCCD_IMPROPERLY_CONFIGURED)
        running = self.running is not None and not self.running.done()
        if octets[:1] == bytes([ABORT]):
            if running:
                self.running.cancel()
            self._start(self._answer(ABORT, SUCCESS), connection)
        elif running:
            raise att.ATT_Error(att.ErrorCode.PROCEDURE_ALREADY_IN_PROGRESS)
        else:
            self._start(self._run(connection, octets), connection)

    def _start(self, procedure, connection):
        self.running = asyncio.get_running_loop().create_task(self._logged(procedure))
        connection.gone.add_done_callback(lambda _: self.running.cancel())

    async def _logged(self, procedure):
        try:
            await procedure
        except asyncio.CancelledError:
            self.sensor.record(event='aborted')
            raise
        except Exception as problem:  # the link was lost half way
            log(self.sensor.name, 'record access:', repr(problem))

    async def _answer(self, operation, code):
        await self.sensor.send(0x2A52, bytes([6, 0, operation, code]))

    async def _run(self, connection, octets):
        operation = octets[0] if octets else 0
        try:
            if self.busy:
                self.busy -= 1
                raise Refused(BUSY)
            if operation not in (REPORT, DELETE, COUNT):
                raise Refused(NOT_SUPPORTED)
            chosen = self._choose(octets)
            if operation == COUNT:
                await self.sensor.send(0x2A52, struct.pack('<BBH', 5, 0, len(chosen)))
                return
            if not chosen:
                raise Refused(NO_RECORDS)
            await (self._delete if operation == DELETE else self._report)(connection, chosen)
            await self._answer(operation, SUCCESS)
        except Refused as refusal:
            await self._answer(operation, refusal.code)

    async def _report(self, connection, chosen):
        for record in chosen:
            for uuid, octets in record.frames:
                if connection.gone.done():
                    raise ConnectionError('the link was lost')
                await self.sensor.send(uuid, octets, record=record.number)
            await asyncio.sleep(self.pace)

    async def _delete(self, _connection, chosen):
        for record in chosen:
            self.sensor.records.remove(record)
            self.sensor.record(event='deleted', record=record.number)

    def _choose(self, octets):
        records = self.sensor.records
        operator, operand = (octets[1] if len(octets) > 1 else 0), octets[2:]
        if operator in (ALL, FIRST, LAST):
            if operand:
                raise Refused(INVALID_OPERAND)
            return {ALL: records[:], FIRST: records[:1], LAST: records[-1:]}[operator]
        if operator == 0 or operator > LAST:
            raise Refused(INVALID_OPERATOR if operator == 0 else OPERATOR_NOT_SUPPORTED)
        if not self.filters:
            raise Refused(OPERATOR_NOT_SUPPORTED)
        if not operand:
            raise Refused(INVALID_OPERAND)
        low, high = self._bounds(operand, operator)
        key = (lambda record: record.number) if operand[0] == SEQUENCE_NUMBER else (lambda record: record.moment)
        return [record for record in records if (low is None or key(record) >= low) and (high is None or key(record) <= high)]

    def _bounds(self, operand, operator):
        if operand[0] not in self.filters:
            raise Refused(OPERAND_NOT_SUPPORTED)
        size, read = {SEQUENCE_NUMBER: (2, lambda octets: struct.unpack('<H', octets)[0]),
                      FACING_TIME: (7, read_date_time)}[operand[0]]
        values = operand[1:]
        if len(values) != (2 * size if operator == RANGE else size):
            raise Refused(INVALID_OPERAND)
        try:
            first, second = read(values[:size]), read(values[-size:])
        except ValueError as problem:
            raise Refused(INVALID_OPERAND) from problem
        if first > second:
            raise Refused(INVALID_OPERAND)
        return (None if operator == UP_TO else first), (None if operator == FROM else second)


def control_point():
    return Value(0x2A52, 'write indicate', write=lambda sensor, connection, octets: sensor.access.write(connection, octets))


class Recorder:
    """The commands of a sensor that stores records."""

    async def busy(self, count='1'):
        """`busy NAME [COUNT]`: so many requests are answered "server busy"."""
        self.access.busy = int(count)

    async def pace(self, hertz):
        """`pace NAME HERTZ`: stored records a second."""
        self.access.pace = 1 / float(hertz)

    async def measure(self, count='1'):
        """`measure NAME [COUNT]`: stores so many new records, and tells the last one's number."""
        for _ in range(int(count)):
            self.records.append(self.make_record(self.next_number, self.now()))
            self.next_number = (self.next_number + 1) % 65536
        return f'record {self.records[-1].number}'

    async def restart(self, number='0'):
        """`restart NAME [NUMBER]`: an empty store, that numbers from there: a sensor after a reset."""
        self.records.clear()
        self.next_number = int(number)
