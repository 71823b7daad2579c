"""Starts MiniStack as it is, but for five things.

It refuses alarms over a formula of metrics. Such an alarm is kept here as one over the first metric of its formula or, if that is a query, over the
metric that the query sums up, so that the rest of the nested stack can be deployed and looked at. The
log says so, and `run` repeats it.

And it asks for permissions that AWS does not know: there is no `sns:PublishBatch` or `sqs:SendMessageBatch`,
permission to publish or send covers batches of ten; and a mail is sent by an identity, not by `*`.

And it transforms the outermost template only, while CloudFormation transforms nested ones as well; and when it
updates a nested stack, it forgets the attributes of what stays as it is, such as a table's ARN.

And it knows the connections of a WebSocket API only under the API's own host name, which nothing resolves here.
The functions ask for `/{stage}/@connections/{id}` of the one address that they have; the stack has one such API.
"""

import json
import re

from ministack import app
from ministack.core import iam_actions
from ministack.services import apigateway, cloudformation
from ministack.services.cloudformation import engine, provisioners

record_of = provisioners._cw_metric_alarm_record


def first_metric(formula: list) -> dict:
    for metric in formula:
        if stat := metric.get("MetricStat"):
            return {**stat["Metric"], "Period": stat["Period"], "Statistic": stat["Stat"]}
    query = re.search(r'(\w+)\((\w+)\) FROM SCHEMA\("(\w+)"', formula[0].get("Expression", ""))
    if not query:
        raise ValueError(f"an alarm over neither a metric nor a query: {formula}")
    statistic, name, namespace = query.groups()
    period = formula[0].get("Period", 300)
    return {"Namespace": namespace, "MetricName": name, "Period": period, "Statistic": statistic.title()}


def recorded(name: str, properties: dict):
    if formula := properties.get("Metrics"):
        metric = first_metric(formula)
        print(f"SIMPLIFIED {name}: its formula became {metric['MetricName']}", flush=True)
        rest = {key: value for key, value in properties.items() if key != "Metrics"}
        properties = {**rest, **metric}
    return record_of(name, properties)


action_of = iam_actions.extract_iam_action
resource_of = iam_actions.extract_resource_arn


def asked(*call):
    action = action_of(*call)
    return action.removesuffix("Batch") if action and action.startswith(("sns:", "sqs:")) else action


def about(service: str, method: str, path: str, headers: dict, body: bytes, *rest, **more):
    if service == "ses" and path.endswith("/outbound-emails"):
        sender = json.loads(body).get("FromEmailAddress", "")
        return f"arn:aws:ses:us-east-1:000000000000:identity/{sender.split('<')[-1].rstrip('>')}"
    return resource_of(service, method, path, headers, body, *rest, **more)


read = engine._parse_template


def transformed(text: str) -> dict:
    return engine._apply_transforms(read(text))


update = provisioners._update_resource


def updated(kind, physical, old, new, stack, logical=None, attributes=None):
    if attributes is None:
        known = cloudformation._stacks[stack]["_resources"].get(logical, {})
        attributes = known.get("Attributes")
    return update(kind, physical, old, new, stack, logical, attributes)


parse = app._parse_execute_api_url


def parsed(host: str, path: str):
    if connection := re.fullmatch(r"/([^/]+)(/@connections/[^/]+)", path):
        sockets = [id for id, api in apigateway._apis.items() if api["protocolType"] == "WEBSOCKET"]
        if len(sockets) == 1:
            return sockets[0], *connection.groups()
    return parse(host, path)


# Those who read the outermost template have the function under a name of their own.
engine._parse_template = transformed
provisioners._update_resource = updated
app._parse_execute_api_url = parsed
provisioners._cw_metric_alarm_record = recorded
iam_actions.extract_iam_action = asked
iam_actions.extract_resource_arn = about
app.main()
