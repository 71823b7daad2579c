"""Starts MiniStack as it is, but for one thing: it refuses alarms over a formula of metrics.

Such an alarm is kept here as one over the first metric of its formula, so that the rest of the nested
stack can be deployed and looked at. The log says so, and `run` repeats it.
"""

from ministack.app import main
from ministack.services.cloudformation import provisioners

record_of = provisioners._cw_metric_alarm_record


def recorded(name: str, properties: dict):
    if formula := properties.get("Metrics"):
        stat = next(metric["MetricStat"] for metric in formula if "MetricStat" in metric)
        print(f"SIMPLIFIED {name}: its formula became {stat['Metric']['MetricName']}", flush=True)
        properties = {
            **{key: value for key, value in properties.items() if key != "Metrics"},
            **stat["Metric"],
            "Period": stat["Period"],
            "Statistic": stat["Stat"],
        }
    return record_of(name, properties)


provisioners._cw_metric_alarm_record = recorded
main()
