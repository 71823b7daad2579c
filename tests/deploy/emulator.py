"""Starts MiniStack as it is, but for one thing: it refuses alarms over a formula of metrics.

Such an alarm is kept here as one over the first metric of its formula or, if that is a query, over the
metric that the query sums up, so that the rest of the nested stack can be deployed and looked at. The
log says so, and `run` repeats it.
"""

import re

from ministack.app import main
from ministack.services.cloudformation import provisioners

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


provisioners._cw_metric_alarm_record = recorded
main()
