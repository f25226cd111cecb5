"""Talks to a Home Assistant that was just started, as its page does: real.py HTTP_PORT COMMAND …

setup BROKER_PORT    makes its first user, and adds the MQTT broker
state TYPE VALUE     waits until the sensor of a type has a value, and prints it
sum TYPE SUM         waits until its statistics have counted so much, and prints that
token                prints a token for the target 'homeassistant'
total WORDS SUM      waits until the statistics of that target have this total, and prints it
"""

import asyncio
import json
import sys
import time

import aiohttp

PORT = int(sys.argv[1])
BASE = f"http://127.0.0.1:{PORT}"
TOKEN_FILE = "/check/token"


async def post(session, path, body, token=None):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    encoded = {"data": body} if path == "/auth/token" else {"json": body}
    async with session.post(BASE + path, headers=headers, **encoded) as answer:
        text = await answer.text()
        if answer.status >= 300:
            sys.exit(f"{path}: {answer.status}: {text[:300]}")
        return json.loads(text)


async def setup(session, broker):
    user = {"client_id": BASE + "/", "name": "Check", "username": "check", "password": "checkcheck", "language": "en"}
    code = (await post(session, "/api/onboarding/users", user))["auth_code"]
    token = (await post(session, "/auth/token", {"client_id": BASE + "/", "grant_type": "authorization_code", "code": code}))
    flow = await post(session, "/api/config/config_entries/flow", {"handler": "mqtt"}, token["access_token"])
    entry = await post(
        session, f"/api/config/config_entries/flow/{flow['flow_id']}", {"broker": "127.0.0.1", "port": broker}, token["access_token"]
    )
    if entry["type"] != "create_entry":
        sys.exit(f"the broker is not added: {entry}")
    with open(TOKEN_FILE, "w", encoding="utf-8") as file:
        file.write(token["refresh_token"])


async def enter(session):
    with open(TOKEN_FILE, encoding="utf-8") as file:
        body = {"client_id": BASE + "/", "grant_type": "refresh_token", "refresh_token": file.read()}
    return (await post(session, "/auth/token", body))["access_token"]


async def ask(session, token, **question):
    async with session.ws_connect(BASE + "/api/websocket", max_msg_size=0) as socket:
        await socket.receive_json()
        await socket.send_json({"type": "auth", "access_token": token})
        await socket.receive_json()
        await socket.send_json({"id": 1, **question})
        while True:
            answer = await socket.receive_json()
            if answer.get("id") == 1 and answer["type"] == "result":
                if not answer["success"]:
                    sys.exit(f"{question['type']}: {answer['error']}")
                return answer["result"]


async def sensor(session, token, kind):
    entities = await ask(session, token, type="config/entity_registry/list")
    found = [entity for entity in entities if entity["platform"] == "mqtt" and entity["unique_id"].endswith("_" + kind)]
    return found[0]["entity_id"] if len(found) == 1 else None


async def state(session, token, kind, value, patience=120):
    seen, end = None, time.monotonic() + patience
    while time.monotonic() < end:
        name = await sensor(session, token, kind)
        for each in await ask(session, token, type="get_states") if name else []:
            if each["entity_id"] == name:
                seen = each
        if seen and seen["state"] not in ("unknown", "unavailable") and abs(float(seen["state"]) - value) < 0.01:
            kept = ["state_class", "device_class", "unit_of_measurement", "last_reset"]
            return print(kind, seen["state"], json.dumps({key: seen["attributes"].get(key) for key in kept}))
        await asyncio.sleep(1)
    sys.exit(f"{kind} is not {value}: {seen and (seen['state'], seen['attributes'])}")


async def total(session, token, kind, expected, patience=400):
    seen, end = None, time.monotonic() + patience
    day = time.strftime("%Y-%m-%dT00:00:00+00:00", time.gmtime(time.time() - 86400))
    while time.monotonic() < end:
        name = await sensor(session, token, kind)
        found = await ask(
            session, token, type="recorder/statistics_during_period", start_time=day, statistic_ids=[name], period="5minute",
            types=["sum", "state"])
        rows = found.get(name, [])
        seen = rows[-1] if rows else None
        if seen and abs(seen["sum"] - expected) < 0.01:
            return print(kind, "has", seen["sum"], "in Home Assistant's statistics")
        await asyncio.sleep(5)
    sys.exit(f"{kind} has {seen} in Home Assistant's statistics, and not {expected}")


async def target_total(session, token, words, expected, patience=60):
    seen, end = None, time.monotonic() + patience
    day = time.strftime("%Y-%m-%dT00:00:00+00:00", time.gmtime(time.time() - 86400))
    while time.monotonic() < end:
        known = await ask(session, token, type="recorder/get_statistics_metadata")
        names = [each["statistic_id"] for each in known if each["source"] == "vitalgate" and each["statistic_id"].endswith(words)]
        found = await ask(
            session, token, type="recorder/statistics_during_period", start_time=day, statistic_ids=names or ["vitalgate:none"],
            period="day", types=["change"])
        seen = [row["change"] for rows in found.values() for row in rows]
        if seen and abs(sum(seen) - expected) < 0.01:
            return print(words, "has", sum(seen), "in the target's statistics")
        await asyncio.sleep(1)
    sys.exit(f"{words} has {seen} in the target's statistics, and not {expected}")


async def main():
    command, words = sys.argv[2], sys.argv[3:]
    async with aiohttp.ClientSession() as session:
        if command == "setup":
            return await setup(session, int(words[0]))
        token = await enter(session)
        if command == "token":
            return print(token)
        await {"state": state, "sum": total, "total": target_total}[command](session, token, words[0], float(words[1]))


asyncio.run(main())
