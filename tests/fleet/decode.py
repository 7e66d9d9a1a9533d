"""Decodes messages of OTLP by the definitions that OpenTelemetry publishes for Python. Takes the kind
(logs or metrics) and the file of each message in turn; prints one JSON array of what is in them."""

import json
import sys

from google.protobuf.json_format import MessageToDict
from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

KINDS = {"logs": ExportLogsServiceRequest, "metrics": ExportMetricsServiceRequest}


def messages_in(value):
    if hasattr(value, "ListFields"):
        yield value
        for _, field in value.ListFields():
            for one in field if hasattr(field, "__iter__") and not isinstance(field, (str, bytes)) else [field]:
                yield from messages_in(one)


decoded = []
for kind, path in zip(sys.argv[1::2], sys.argv[2::2]):
    with open(path, "rb") as file:
        message = KINDS[kind].FromString(file.read())
    for part in messages_in(message):
        assert len(UnknownFieldSet(part)) == 0, f"{path}: unknown fields in {type(part).__name__}"
    decoded.append(MessageToDict(message))
print(json.dumps(decoded))
