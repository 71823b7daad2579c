"""What tests/deploy/run asks of a deployed stack.

check STACK   every resource is there, those of the nested stack too; what is not, is named
routes STACK  makes the routes that the template's HttpApi events describe, unless the cloud did;
              prints the API's URL
socket STACK  prints where a WebSocket of the stack's one WebSocket API connects to
mail DOMAIN   lets the account send mails from and to a domain
faults STACK  prints what the functions logged as errors
env STACK     prints the functions' environment variables, for functions that run elsewhere
router        the routes that Cargo.toml has for `cargo lambda watch` are the template's
"""

import os
import sys
from pathlib import Path

import boto3
import tomlkit
from samcli.yamlhelper import yaml_parse

ROOT = Path(__file__).parents[2]
FUNCTION = "AWS::Serverless::Function"
# What is left beside `/{code}`: the router takes no `/{*unclaimed}` next to it.
UNCLAIMED = ["/", "/{code}/{*unclaimed}"]


def main() -> None:
    commands = {
        "check": check, "routes": routes, "socket": socket, "mail": mail, "faults": faults,
        "env": environment, "router": router,
    }
    command, *arguments = sys.argv[1:]
    commands[command](*arguments)


def mail(domain: str) -> None:
    boto3.client("ses").verify_domain_identity(Domain=domain)


def check(stack: str) -> None:
    cloudformation = boto3.client("cloudformation")
    status = cloudformation.describe_stacks(StackName=stack)["Stacks"][0]["StackStatus"]
    resources = resources_of(stack)
    print(f"   {stack}: {status}, {len(resources)} resources")
    if not status.endswith("_COMPLETE") or "ROLLBACK" in status:
        sys.exit(f"{stack} is {status}")
    for resource in resources:
        if not resource["ResourceStatus"].endswith("_COMPLETE"):
            sys.exit(f"{resource['LogicalResourceId']} is {resource['ResourceStatus']}")
        if resource["ResourceType"] == "AWS::CloudFormation::Stack":
            check(resource["PhysicalResourceId"].split("/")[1])


def routes(stack: str) -> None:
    gateway = boto3.client("apigatewayv2")
    physical = {r["LogicalResourceId"]: r["PhysicalResourceId"] for r in resources_of(stack)}
    apis = set()
    for name, event in http_events():
        api = physical[event["ApiId"]["Ref"]]
        apis.add(api)
        made = {route["RouteKey"] for route in gateway.get_routes(ApiId=api)["Items"]}
        if (key := route_key(event)) not in made:
            target = integration(gateway, api, physical[name])
            gateway.create_route(ApiId=api, RouteKey=key, Target=target)
    (api,) = apis
    stages = [stage["StageName"] for stage in gateway.get_stages(ApiId=api)["Items"]]
    if stages != ["$default"]:
        sys.exit(f"the API's stages are {stages}")
    print(f"{os.environ['AWS_ENDPOINT_URL']}/_aws/execute-api/{api}/$default")


def socket(stack: str) -> None:
    gateway = boto3.client("apigatewayv2")
    physical = {r["PhysicalResourceId"] for r in resources_of(stack)}
    apis = [api for api in gateway.get_apis()["Items"] if api["ProtocolType"] == "WEBSOCKET"]
    (api,) = (api["ApiId"] for api in apis if api["ApiId"] in physical)
    (stage,) = (stage["StageName"] for stage in gateway.get_stages(ApiId=api)["Items"])
    host = os.environ["AWS_ENDPOINT_URL"].replace("http", "ws", 1)
    print(f"{host}/_aws/execute-api/{api}/{stage}")


def router() -> None:
    cargo = tomlkit.parse((ROOT / "Cargo.toml").read_text()).unwrap()
    written = cargo["workspace"]["metadata"]["lambda"]["watch"]["router"]
    functions = template()["Resources"]
    wanted = {
        path: Path(functions[name]["Properties"]["CodeUri"]).name
        for name, event in http_events()
        for path in ([event["Path"]] if "Path" in event else UNCLAIMED)
    }
    for path in sorted(wanted.keys() | written.keys()):
        if wanted.get(path) != written.get(path):
            sys.exit(
                f"{path} is {written.get(path)} in Cargo.toml and {wanted.get(path)} in the template"
            )


def template() -> dict:
    return yaml_parse((ROOT / "template.yaml").read_text())


def http_events():
    """Each function's logical id with the properties of each of its HttpApi events."""
    for name, resource in template()["Resources"].items():
        if resource["Type"] == FUNCTION:
            for event in resource["Properties"].get("Events", {}).values():
                if event["Type"] == "HttpApi":
                    yield name, event["Properties"]


def route_key(event: dict) -> str:
    return f"{event['Method']} {event['Path']}" if "Path" in event else "$default"


def integration(gateway, api: str, function: str) -> str:
    arn = boto3.client("lambda").get_function(FunctionName=function)["Configuration"]["FunctionArn"]
    for known in gateway.get_integrations(ApiId=api)["Items"]:
        if known.get("IntegrationUri") == arn:
            return f"integrations/{known['IntegrationId']}"
    made = gateway.create_integration(
        ApiId=api, IntegrationType="AWS_PROXY", IntegrationUri=arn, PayloadFormatVersion="2.0"
    )
    return f"integrations/{made['IntegrationId']}"


def faults(stack: str) -> None:
    logs = boto3.client("logs")
    for group in logs.describe_log_groups()["logGroups"]:
        found = logs.filter_log_events(logGroupName=group["logGroupName"], filterPattern="ERROR")
        for event in found["events"][-10:]:
            print(f"{group['logGroupName']}: {event['message']}")


def environment(stack: str) -> None:
    variables = {
        name: os.environ[name]
        for name in ("AWS_ENDPOINT_URL", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    }
    aws_lambda = boto3.client("lambda")
    for resource in resources_of(stack):
        if resource["ResourceType"] != "AWS::Lambda::Function":
            continue
        function = aws_lambda.get_function(FunctionName=resource["PhysicalResourceId"])
        given = function["Configuration"].get("Environment", {}).get("Variables", {})
        for name, value in given.items():
            if variables.setdefault(name, value) != value:
                sys.exit(f"two functions have different values of {name}; one file can't say both")
    for name, value in sorted(variables.items()):
        print(f"{name}={value}")


def resources_of(stack: str) -> list[dict]:
    pages = boto3.client("cloudformation").get_paginator("list_stack_resources")
    return [r for page in pages.paginate(StackName=stack) for r in page["StackResourceSummaries"]]


main()
