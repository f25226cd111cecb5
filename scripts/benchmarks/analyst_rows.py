"""The rows of analysts' questions to a center: the weekly mean of each person over a year, from one server and from three.

The readings are written by SQL into the tables that `vitalgate collect --create` makes, with all columns, in the order of time. The three servers are divided by the
statements of docs/how-to/fleet.md. All of them are on this machine.
"""
import contextlib
import json
import pathlib
import statistics
import subprocess

import export_rows
from result import Result

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEOPLE = 100
# The partitions of each server, as in the documentation.
PARTITIONS = (range(6), range(6, 11), range(11, 16))
MINUTES = 365 * 24 * 60
YEAR = "start_time >= '2026-01-01 00:00:00+00' AND start_time < '2027-01-01 00:00:00+00'"
WEEKLY = f"""SELECT subject, date_bin('7 days', start_time, '2026-01-05 00:00:00+00') AS week, avg(value) FROM vitalgate.sample
    WHERE type = 'heartRate' AND {YEAR} GROUP BY 1, 2"""
ONE_PERSON = f"""SELECT date_bin('7 days', start_time, '2026-01-05 00:00:00+00') AS week, avg(value) FROM vitalgate.sample
    WHERE subject = '{{}}' AND type = 'heartRate' AND {YEAR} GROUP BY 1"""
# The rows of some people at each minute of a week, or at each STEP minutes.
ROWS = """INSERT INTO {table}(
        start_time, uuid, end_time, type, value, unit, numeral, numeral_unit, zone_offset, subject, source_id, source_name, device_key, device_name,
        device_manufacturer, device_model, time_origin, received, metadata, hubs)
    SELECT t, (lpad(to_hex((extract(epoch FROM t) * 1000)::bigint), 12, '0') || '8' || substr(hash, 2, 3) || '8' || substr(hash, 6, 15))::uuid, t, 'heartRate',
        value, '/min', value::text, '/min', 3600, p, 'ble.heart-rate', 'Strap', 'AA:BB:CC:DD:' || right(p, 5), 'Strap', 'Maker', 'Model', 'device',
        t + interval '1 second', '{{}}', '{{1}}'
    FROM generate_series('2026-01-01 00:00:00+00'::timestamptz + {first} * interval '1 minute',
            '2026-01-01 00:00:00+00'::timestamptz + {last} * interval '1 minute', interval '{step} minutes') t,
        unnest('{{{people}}}'::text[]) p, md5(p || t) hash, CAST(60 + ascii(hash) % 40 AS integer) value
    ORDER BY t, p"""


def sql(host, text):
    done = subprocess.run(
        ["psql", "-qAt", "-h", host, "-U", "vitalgate", "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-f", "-"], input=text, check=False, capture_output=True,
        text=True)
    if done.returncode != 0:
        raise SystemExit(f"bench: PostgreSQL: {done.stderr.strip()}")
    return done.stdout.strip()


def timed(host, question, settings=""):
    """The seconds of a question in an open session, and the number of rows of its answer."""
    *answer, took = sql(host, f"{settings}\n\\timing on\n{question};\n").splitlines()
    return float(took.removeprefix("Time: ").split()[0]) / 1000, len(answer)


def create(bench, host, **more):
    """The tables of a center."""
    config = bench.folder / "analysts.json5"
    database = {"host": host, "database": "postgres", "user": "vitalgate", **more}
    config.write_text(json.dumps({"collect": {"broker": {"fleet": "bench", "servers": ["nats://127.0.0.1:1"]}, "database": database}}), encoding="utf-8")
    subprocess.run([bench.vitalgate, "--config", config, "collect", "--create"], check=True, stdout=subprocess.DEVNULL)


def divided(hosts):
    """The statements of the documentation that divide the table among three servers, for these servers."""
    page = (ROOT / "docs" / "how-to" / "fleet.md").read_text(encoding="utf-8")
    recipe = next(part for part in page.split("```sql\n") if "CREATE FOREIGN TABLE" in part.split("```")[0]).split("```")[0]
    for number in (1, 2):
        recipe = recipe.replace(f"shard{number}.example.org", hosts[number])
    return recipe.replace("dbname 'study'", "dbname 'postgres'").replace("FOR collector", "FOR vitalgate").replace("user 'collector'", "user 'vitalgate'")


def fill(bench, host, table, people, step):
    week = 7 * 24 * 60
    for first in range(0, MINUTES, week):
        if step == 1:
            bench.say(f"week {first // week + 1} of {len(people)} people")
        # The first minute of the week that is a multiple of the step.
        begin = -(-first // step) * step
        sql(host, ROWS.format(table=table, first=begin, last=min(first + week, MINUTES) - 1, step=step, people=",".join(people)))
    sql(host, f"VACUUM ANALYZE {table}; CHECKPOINT")


def asked(bench, host, question, settings=""):
    """The median seconds of some runs after one that is not counted, and the rows of the answer."""
    runs = [timed(host, question, settings) for _ in range(bench.runs + 1)][1:]
    return statistics.median(seconds for seconds, _ in runs), runs[0][1]


def analysts(bench):
    step = 1 if bench.rows >= 1_000_000 else 50
    people = [f"00000000-0000-4000-8000-{number:012}" for number in range(PEOPLE)]
    scale = "" if step == 1 else f", computed from 1/{step} of it"
    count = PEOPLE * len(range(0, MINUTES, step))
    with contextlib.ExitStack() as stack:
        host = stack.enter_context(export_rows.server())
        create(bench, host)
        bench.say(f"{count:,} readings on one server")
        fill(bench, host, "vitalgate.sample", people, step)
        size = float(sql(host, "SELECT pg_total_relation_size('vitalgate.sample') / count(*)::float FROM vitalgate.sample"))
        one, weeks = asked(bench, host, WEEKLY)
        person, _ = asked(bench, host, ONE_PERSON.format(people[7]))
    with contextlib.ExitStack() as stack:
        hosts = [stack.enter_context(export_rows.server()) for _ in range(3)]
        for host in hosts:
            create(bench, host, partitions=PARTITIONS[-1].stop)
        sql(hosts[0], divided(hosts))
        bench.say(f"{count:,} readings on three servers")
        for host, partitions in zip(hosts, PARTITIONS):
            own = " OR ".join(f"satisfies_hash_partition('vitalgate.sample'::regclass, {PARTITIONS[-1].stop}, {number}, p)" for number in partitions)
            fill(bench, host, "vitalgate.sample", sql(host, f"SELECT p FROM unnest('{{{','.join(people)}}}'::text[]) p WHERE {own}").splitlines(), step)
        sql(hosts[0], "ANALYZE vitalgate.sample")
        settings = "SET enable_partitionwise_aggregate = on;"
        plan = sql(hosts[0], f"{settings} EXPLAIN (VERBOSE, COSTS off) {WEEKLY}")
        foreign = sum(map(len, PARTITIONS[1:]))
        if plan.count("Relations: Aggregate on") != foreign or plan.count("Async Foreign Scan") != foreign:
            raise SystemExit(f"bench: the servers do not answer for their own people at the same time:\n{plan}")
        three, weeks_of_three = asked(bench, hosts[0], WEEKLY, settings)
        without, _ = asked(bench, hosts[0], WEEKLY)
        person_of_three, _ = asked(bench, hosts[0], ONE_PERSON.format(people[7]))
        found = int(sql(hosts[0], "SELECT count(*) FROM vitalgate.sample"))
    if (weeks_of_three, found) != (weeks, count):
        raise SystemExit(f"bench: {found:,} readings and {weeks_of_three:,} weeks, not {count:,} and {weeks:,}")
    part = "" if step == 1 else f", on 1/{step} of it"
    values = {"readings": count, "step_minutes": step}

    def whole(seconds):
        return f"{seconds:.2f} s" if step == 1 else f"{seconds * step:.0f} s ({seconds:.2f} s x {step})"

    return [
        Result(
            "analysts", f"weekly means of {PEOPLE} people over a year at 1/min, one server{scale} ({count:,} readings)", "", "", whole(one),
            values=values | {"seconds": one}),
        Result(
            "analysts", "  three servers on the same machine, which add up their own people at the same time", "", "", whole(three),
            peer=whole(one), ratio=one / three, values=values | {"seconds": three}),
        Result("analysts", "  three servers without `enable_partitionwise_aggregate`", "", "", whole(without), values={"seconds": without}),
        Result(
            "analysts", f"  weekly means of one person over a year, one server and three{part}", "", "", f"{person * 1000:.0f} ms, {person_of_three * 1000:.0f} ms",
            values={"seconds": [person, person_of_three]}),
        Result("analysts", "  a row of a reading with its indexes", "", "", f"{size:.0f} bytes", values={"bytes": size}),
    ]
