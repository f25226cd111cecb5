#!/usr/bin/env python3
"""Which diseases a person is vaccinated against, by the codes of their immunization records.

Usage: vitalgate query immunizationRecord --format ndjson | checklist.py [--all]

A record's name may say nothing ("Shot"), or another thing in each clinic. Its CVX code does not: 94 is the vaccine against measles, mumps,
rubella and varicella. vaccines.tsv says against which diseases a code is, by the full vaccine name that the CDC gives it.
--all also lists the diseases without a record. A record says that a vaccine was given, not that somebody is protected.
"""

import json
import pathlib
import sys

CVX = ("http://hl7.org/fhir/sid/cvx", "urn:oid:2.16.840.1.113883.12.292")


def vaccines():
    rows = pathlib.Path(__file__).with_name("vaccines.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return {code: diseases.split(";") for code, _, diseases in (row.split("\t") for row in rows)}


def was_given(record):
    """Where a line tells the resource whole, it may say that the vaccine was not given."""
    resource = json.loads(record.get("octets") or "{}")
    return resource.get("status", "completed") == "completed" and not resource.get("wasNotGiven", False)


def main():
    if any(word in ("-h", "--help") for word in sys.argv[1:]):
        print(__doc__.strip())
        return 0
    diseases_of = vaccines()
    given = {}
    unknown = []
    for line in sys.stdin:
        record = json.loads(line)
        if not was_given(record):
            continue
        codes = [coding["code"] for coding in record["codes"] if coding["system"] in CVX and coding["code"]]
        diseases = sorted({disease for code in codes for disease in diseases_of.get(code, [])})
        date = record["dates"].get("occurrence", "date unknown")
        if not diseases:
            unknown.append((date, record["displayName"]))
        for disease in diseases:
            given.setdefault(disease, []).append(date)
    every = sorted({disease for diseases in diseases_of.values() for disease in diseases}, key=str.lower)
    for disease in every:
        if disease in given:
            print(f"[x] {disease}: {', '.join(sorted(given[disease]))}")
        elif "--all" in sys.argv[1:]:
            print(f"[ ] {disease}")
    for date, name in sorted(unknown):
        print(f"[?] {name}: {date} (no code that vaccines.tsv has)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
