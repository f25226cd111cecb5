"""Looks whether resources are what FHIR R4 asks for: check.py RESOURCES.ndjson

fhir.resources looks at the form and lets any code and unit pass, so what R4's definitions say beyond that is asserted here. Prints one line.
"""

import base64
import copy
import json
import sys

from fhir.resources.R4B.device import Device
from fhir.resources.R4B.documentreference import DocumentReference
from fhir.resources.R4B.observation import Observation
from fhirpathpy import evaluate
from fhirpathpy.models import models

# hl7.org/fhir/R4/observation-vitalsigns.html: the code that a profile asks for, and the only units that it takes.
PROFILES = {
    "heartrate": ("8867-4", {"/min"}),
    "resprate": ("9279-1", {"/min"}),
    "oxygensat": ("2708-6", {"%"}),
    "bodytemp": ("8310-5", {"Cel", "[degF]"}),
    "bodyheight": ("8302-2", {"cm", "[in_i]"}),
    "bodyweight": ("29463-7", {"g", "kg", "[lb_av]"}),
    "bmi": ("39156-5", {"kg/m2"}),
    "bp": ("85354-9", {"mm[Hg]"}),
}
PRESSURES = ["8480-6", "8462-4"]
# R4's Observation.status and invariants of Observation, of its components and of the vital signs (obs-3 has no use here).
STATUS = {"registered", "preliminary", "final", "amended", "corrected", "cancelled", "entered-in-error", "unknown"}
INVARIANTS = {
    "obs-6": "dataAbsentReason.empty() or value.empty()",
    "obs-7": "value.empty() or component.code.where(coding.intersect(%resource.code.coding).exists()).empty()",
    "vs-2": "(component.empty() and hasMember.empty()) implies (dataAbsentReason.exists() or value.exists())",
    "vs-3": "component.all(value.exists() or dataAbsentReason.exists())",
    "subject": "subject.reference.exists() and subject.reference.startsWith('Patient/')",
    "effective": "effective.exists()",
    "identifier": "identifier.all(system.exists() and value.exists())",
    "quantity": "(value.ofType(Quantity) | component.value.ofType(Quantity)).all(system = 'http://unitsofmeasure.org' and code.exists() and value.exists())",
}
# HL7's guides: hl7.org/fhir/uv/phr (ValueSet pcd-sleep-observation-code, -value), hl7.org/fhir/us/physical-activity (ValueSet
# pa-observation-code-activity, and the categories of pa-observation-base): codes of the resource, codes of its value, categories.
GUIDES = {
    "http://hl7.org/fhir/uv/phr/StructureDefinition/pcd-sleep-observation": (
        {"93831-6", "93830-8", "93829-0", "93832-4", "258158006"},
        {"248220008", "248218005", "60984000", "89129007", "261665006"},
        [],
    ),
    "http://hl7.org/fhir/us/physical-activity/StructureDefinition/pa-observation-activity-measure": (
        {"73985-4", "55411-3", "77592-4", "77593-2", "55426-1", "55425-3", "55424-6"},
        None,
        ["activity", "PhysicalActivity"],
    ),
}
SYSTEMS = {
    "http://loinc.org", "urn:iso:std:iso:11073:10101", "http://developer.apple.com/documentation/healthkit", "urn:vitalgate:quantity-type",
    "http://snomed.info/sct",
}  # fmt: skip


def codes(concept):
    return [coding["code"] for coding in concept["coding"] if coding["system"] == "http://loinc.org"]


def check(resource):
    """Raises ValueError where something is not as it has to be."""
    if resource["resourceType"] == "Device":
        Device.model_validate(resource)
        return
    if resource["resourceType"] == "DocumentReference":
        DocumentReference.model_validate(resource)
        if resource["status"] not in {"current", "superseded", "entered-in-error"} or "subject" not in resource:
            raise ValueError("status or subject")
        for content in resource["content"]:
            if len(base64.b64decode(content["attachment"]["data"], validate=True)) != content["attachment"]["size"]:
                raise ValueError("size")
        return
    Observation.model_validate(resource)
    if resource["status"] not in STATUS:
        raise ValueError("status")
    for name, expression in INVARIANTS.items():
        if evaluate(resource, expression, {"resource": resource}, models["r4"]) != [True]:
            raise ValueError(name)
    for concept in [resource["code"]] + [component["code"] for component in resource.get("component", [])]:
        if not {coding["system"] for coding in concept["coding"]} <= SYSTEMS:
            raise ValueError("an unknown system of codes")
    profiles = [url.rpartition("/")[2] for url in resource["meta"].get("profile", [])]
    if any(code in codes(resource["code"]) for code, _ in PROFILES.values()) and not profiles:
        raise ValueError("a vital sign without its profile")
    for url in resource["meta"].get("profile", []):
        if url not in GUIDES:
            continue
        own, values, categories = GUIDES[url]
        if not own & {coding["code"] for coding in resource["code"]["coding"]}:
            raise ValueError(f"{url}: code")
        if values and not values & {coding["code"] for coding in resource["valueCodeableConcept"]["coding"]}:
            raise ValueError(f"{url}: value")
        if not {c["code"] for category in resource["category"] for c in category["coding"]} >= set(categories):
            raise ValueError(f"{url}: category")
        if "effectivePeriod" not in resource and "effectiveDateTime" not in resource:
            raise ValueError(f"{url}: time")
    for profile in profiles:
        if resource["meta"]["profile"][0] in GUIDES:
            continue
        code, units = PROFILES[profile]
        if code not in codes(resource["code"]):
            raise ValueError(f"{profile}: code")
        if [c["code"] for category in resource["category"] for c in category["coding"]] != ["vital-signs"]:
            raise ValueError(f"{profile}: category")
        quantities = [q for part in [resource, *resource.get("component", [])] if (q := part.get("valueQuantity"))]
        if not {quantity["code"] for quantity in quantities} <= units:
            raise ValueError(f"{profile}: unit")
        if profile == "bp":
            if [codes(component["code"])[0] for component in resource["component"]] != PRESSURES:
                raise ValueError("bp: components")
        elif len(quantities) != 1 or "component" in resource:
            raise ValueError(f"{profile}: value")


with open(sys.argv[1], encoding="utf-8") as file:
    resources = [json.loads(line) for line in file]
for number, resource in enumerate(resources, 1):
    try:
        check(resource)
    except Exception as error:
        sys.exit(f"line {number} ({resource['id']}): {error}")

# What has to be refused is: else this would look at nothing.
rate = next(r for r in resources if r["meta"].get("profile") == ["http://hl7.org/fhir/StructureDefinition/heartrate"])
pressure = next(r for r in resources if r["meta"].get("profile") == ["http://hl7.org/fhir/StructureDefinition/bp"])
sleep = next(r for r in resources if r["meta"].get("profile", [""])[0].endswith("pcd-sleep-observation"))
document = next(r for r in resources if r["resourceType"] == "DocumentReference")
workout = next(r for r in resources if r["meta"].get("profile", [""])[0].endswith("pa-observation-activity-measure"))
faults = {
    "an unknown status": (rate, lambda r: r.update(status="banana")),
    "a time without an offset": (rate, lambda r: r.update(effectiveDateTime="2026-09-21T15:13:20")),
    "another unit": (rate, lambda r: r["valueQuantity"].update(code="Hz")),
    "no patient": (rate, lambda r: r.pop("subject")),
    "neither value nor reason": (rate, lambda r: r.pop("valueQuantity")),
    "value and reason": (rate, lambda r: r.update(dataAbsentReason={"text": "x"})),
    "no category": (rate, lambda r: r.update(category=[])),
    "a vital sign without its profile": (rate, lambda r: r["meta"].pop("profile")),
    "another code": (rate, lambda r: r["code"]["coding"][0].update(code="8310-5")),
    "components in another order": (pressure, lambda r: r["component"].reverse()),
    "a component without anything": (pressure, lambda r: r["component"][0].pop("valueQuantity")),
    "another stage of sleep": (sleep, lambda r: r["valueCodeableConcept"]["coding"][0].update(code="1")),
    "another code of sleep": (sleep, lambda r: r["code"]["coding"][0].update(code="1")),
    "a workout of no category": (workout, lambda r: r["category"].pop()),
    "a workout's unit of no system": (workout, lambda r: r["component"][0]["valueQuantity"].pop("system")),
    "a document of another size": (document, lambda r: r["content"][0]["attachment"].update(size=1)),
    "a document of nobody": (document, lambda r: r.pop("subject")),
    "an unknown element": (rate, lambda r: r.update(colour="red")),
}
for name, (resource, spoil) in faults.items():
    spoiled = copy.deepcopy(resource)
    spoil(spoiled)
    try:
        check(spoiled)
    except Exception:
        continue
    sys.exit(f"this was not refused: {name}")
print(f"FHIR R4: {len(resources)} resources are as they have to be, {len(faults)} faults refused")
