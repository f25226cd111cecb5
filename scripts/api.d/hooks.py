"""What schemathesis has to know of the forms that the API speaks: all but JSON are text to it."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(_, value):
    if isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else json.dumps(value)).encode("utf-8", "surrogatepass")


@schemathesis.deserializer("application/x-ndjson", "text/csv")
def text(_, response):
    return response.content.decode("utf-8")
