"""A FHIR R4 endpoint that keeps to the protocol and fails on purpose: standard library only, in memory.

Usage: fhir_server.py client|server PORT

What it insists on: transactions are all or nothing; PUT under a name of the client's own only where it is told so; If-None-Exist (more than one:
412); the same resource twice in a Bundle (400); unknown patients and devices (422 with an OperationOutcome that quotes the value, as
servers do); a token where one is set. `POST /test` sets what the next writes come to, copies all resources and puts the copy back, and sets the
types that it offers. `GET /test` gives everything that is there.
"""

import copy, http.server, json, re, sys, urllib.parse

MODE = sys.argv[1]
STATE = {("Patient", "7"): {"resourceType": "Patient", "id": "7", "meta": {"versionId": "1"}}}
FAULTS, WRITES, TOKEN, FORBIDDEN = [], [0], [None], []
PAGE, NEXT, COPY, KINDS = [3], [1], [{}], ["Observation", "DocumentReference", "Device"]
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$")


class Refused(Exception):
    def __init__(self, status, code, expression=None, diagnostics=""):
        self.status = status
        self.outcome = {"resourceType": "OperationOutcome", "issue": [
            {"severity": "error", "code": code, "diagnostics": diagnostics, "expression": [expression] if expression else []}]}


class Decimal(float):
    """A number that keeps its digits, as FHIR asks of servers."""
    def __new__(cls, text):
        self = super().__new__(cls, text)
        self.text = text
        return self
    def __repr__(self):
        return self.text


def load(octets):
    return json.loads(octets, parse_float=Decimal, parse_int=Decimal)


def dump(tree):
    if isinstance(tree, dict):
        return "{" + ",".join(json.dumps(k) + ":" + dump(v) for k, v in tree.items()) + "}"
    if isinstance(tree, list):
        return "[" + ",".join(map(dump, tree)) + "]"
    return tree.text if isinstance(tree, Decimal) else json.dumps(tree)


def matches(kind, query, state):
    query = urllib.parse.parse_qs(query, strict_parsing=True)
    found = []
    for (type_, id_), resource in sorted(state.items(), key=lambda entry: (len(entry[0][1]), entry[0])):
        if type_ != kind:
            continue
        for name, (value,) in query.items():
            if name in ("_count", "_elements", "page"):
                continue
            system, bar, code = value.partition("|")
            if name == "identifier":
                listed = [(i.get("system"), i.get("value")) for i in resource.get("identifier", [])]
            elif name == "_tag":
                listed = [(t.get("system"), t.get("code")) for t in resource["meta"].get("tag", [])]
            else:
                raise Refused(400, "not-supported")
            if (system, code) not in listed:
                break
        else:
            found.append(resource)
    return found


def validate(resource, kind, names, state, where):
    if resource.get("resourceType") != kind:
        raise Refused(400, "invalid", where)
    if kind not in ("Observation", "DocumentReference"):
        return
    for name in ("status", "code" if kind == "Observation" else "content", "subject"):
        if name not in resource:
            raise Refused(422, "required", f"{where}.{name}")
    for name in ("subject", "device"):
        reference = resource.get(name, {}).get("reference")
        if reference is None:
            continue
        if reference in names:
            resource[name]["reference"] = names[reference]
        elif tuple(reference.split("/")) not in state:
            raise Refused(422, "not-found", f"{where}.{name}", f"unknown reference {reference}")
    value = resource.get("valueQuantity", {}).get("value")
    if value is not None and value == 66.6:
        raise Refused(422, "value", f"{where}.value", f"the value {value.text} is not liked")


def save(state, kind, id_, resource):
    old = state.get((kind, id_))
    resource = copy.deepcopy(resource)
    resource["id"] = id_
    resource.setdefault("meta", {})["versionId"] = str(int(old["meta"]["versionId"]) + 1 if old else 1)
    state[(kind, id_)] = resource
    return ("200 OK" if old else "201 Created"), f"{kind}/{id_}/_history/{resource['meta']['versionId']}"


def transact(bundle):
    state, entries, names, seen = dict(STATE), bundle["entry"], {}, set()
    number = NEXT[0]
    # First who is who, then what is written.
    targets = []
    for entry in entries:
        request = entry["request"]
        if request["method"] == "PUT":
            kind, id_ = request["url"].split("/")
            if not re.fullmatch(r"[A-Za-z0-9.-]{1,64}", id_) or entry["resource"].get("id") != id_:
                raise Refused(400, "invalid", "Bundle.entry.request")
            old = state.get((kind, id_))
            if old is None and MODE != "client":
                raise Refused(405, "not-supported")
            targets.append((kind, id_, True))
        elif request["method"] == "POST":
            kind = request["url"]
            found = matches(kind, request["ifNoneExist"], state) if "ifNoneExist" in request else []
            if len(found) > 1:
                raise Refused(412, "multiple-matches")
            if found:
                targets.append((kind, found[0]["id"], False))
            else:
                targets.append((kind, str(number), True))
                number += 1
        else:
            raise Refused(400, "not-supported")
        if targets[-1][:2] in seen:
            raise Refused(400, "duplicate")
        seen.add(targets[-1][:2])
        names[entry["fullUrl"]] = "/".join(targets[-1][:2])
        names["/".join(targets[-1][:2])] = "/".join(targets[-1][:2])
    answers = []
    for index, (entry, (kind, id_, writes)) in enumerate(zip(entries, targets)):
        if writes:
            resource = copy.deepcopy(entry["resource"])
            validate(resource, kind, names, state, f"Bundle.entry[{index}].resource")
            status, location = save(state, kind, id_, resource)
        else:
            status, location = "200 OK", f"{kind}/{id_}"
        answers.append({"response": {"status": status, "location": location}})
    STATE.clear()
    STATE.update(state)
    NEXT[0] = number
    WRITES[0] += 1
    return {"resourceType": "Bundle", "type": "transaction-response", "entry": answers}


def read(path, host):
    path, _, query = path.partition("?")
    if path == "metadata":
        return {"resourceType": "CapabilityStatement", "fhirVersion": "4.0.1", "rest": [{
            "mode": "server", "interaction": [{"code": "transaction"}, {"code": "batch"}],
            "resource": [{"type": kind, "updateCreate": MODE == "client", "conditionalCreate": True,
                          "interaction": [{"code": c} for c in ("read", "update", "create", "search-type")]}
                         for kind in KINDS]}]}
    if query:
        found = matches(path, query, STATE)
        page = int(urllib.parse.parse_qs(query).get("page", ["0"])[0])
        bundle = {"resourceType": "Bundle", "type": "searchset", "entry": [
            {"resource": r} for r in found[page * PAGE[0]:(page + 1) * PAGE[0]]]}
        if len(found) > (page + 1) * PAGE[0]:
            rest = re.sub(r"&page=\d+", "", query)
            bundle["link"] = [{"relation": "next", "url": f"http://{host}/fhir/{path}?{rest}&page={page + 1}"}]
        return bundle
    resource = STATE.get(tuple(path.split("/")))
    if resource is None:
        raise Refused(404, "not-found")
    return resource


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, tree, headers=()):
        octets = dump(tree).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/fhir+json")
        self.send_header("Content-Length", str(len(octets)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(octets)

    def cut(self):
        self.close_connection = True
        self.connection.shutdown(2)

    def respond(self, body):
        if self.path == "/test":
            if self.command == "GET":
                return self.answer(200, {"writes": WRITES[0], "resources": list(STATE.values())})
            told = json.loads(body)
            FAULTS[:] = told.get("faults", FAULTS)
            TOKEN[0] = told.get("token", TOKEN[0])
            FORBIDDEN[:] = told.get("forbidden", FORBIDDEN)
            KINDS[:] = told.get("kinds", KINDS)
            if told.get("copy"):
                COPY[0] = copy.deepcopy(STATE)
            if told.get("putBack"):
                STATE.clear()
                STATE.update(copy.deepcopy(COPY[0]))
            for resource in told.get("resources", []):
                STATE[(resource["resourceType"], resource["id"])] = load(json.dumps(resource))
            return self.answer(200, {})
        try:
            if TOKEN[0] and self.headers.get("Authorization") != TOKEN[0]:
                raise Refused(401, "login")
            path = self.path.removeprefix("/fhir").lstrip("/")
            if self.command == "GET":
                return self.answer(200, read(path, self.headers["Host"]))
            bundle = load(body)
            if bundle["type"] == "batch":
                answers = []
                for entry in bundle["entry"]:
                    try:
                        answers.append({"resource": read(entry["request"]["url"], self.headers["Host"]), "response": {"status": "200 OK"}})
                    except Refused as refused:
                        answers.append({"response": {"status": str(refused.status), "outcome": refused.outcome}})
                return self.answer(200, {"resourceType": "Bundle", "type": "batch-response", "entry": answers})
            if path or bundle["type"] != "transaction":
                raise Refused(400, "invalid")
            kinds = {entry["request"]["url"].split("/")[0] for entry in bundle["entry"]} | {"Bundle"}
            if kinds.intersection(FORBIDDEN):
                raise Refused(403, "forbidden")
            fault = FAULTS.pop(0) if FAULTS else None
            if fault == "cut before":
                return self.cut()
            if fault == "race":
                # Somebody else writes the same, before we do.
                for entry in bundle["entry"]:
                    if entry["request"]["method"] == "POST":
                        save(STATE, entry["request"]["url"], "x" + str(NEXT[0]), entry["resource"])
                        NEXT[0] += 1
                    else:
                        save(STATE, *entry["request"]["url"].split("/"), STATE.get(tuple(entry["request"]["url"].split("/")), entry["resource"]))
            if fault == "double":
                # The race that servers lose: each of two requests sees none, and both create.
                for entry in bundle["entry"]:
                    if entry["request"]["method"] == "POST" and entry["request"]["url"] != "Device":
                        save(STATE, entry["request"]["url"], str(NEXT[0]), entry["resource"])
                        entry["request"].pop("ifNoneExist")
                        NEXT[0] += 1
            if isinstance(fault, str) and fault.isdigit():
                raise Refused(int(fault), "transient", None, "72.5 was sent")
            done = transact(bundle)
            if fault == "cut after":
                return self.cut()
            if fault == "half":
                octets = dump(done).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(octets)))
                self.end_headers()
                self.wfile.write(octets[:len(octets) // 2])
                self.wfile.flush()
                return self.cut()
            self.answer(200, done)
        except Refused as refused:
            self.answer(refused.status, refused.outcome, [("Retry-After", "7")] if refused.status == 429 else [])

    def do_GET(self):
        self.respond(b"")

    def do_POST(self):
        self.respond(self.rfile.read(int(self.headers["Content-Length"])))


http.server.ThreadingHTTPServer.request_queue_size = 64
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
