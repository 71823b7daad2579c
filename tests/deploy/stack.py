"""What tests/deploy/run asks of a deployed stack.

check STACK   every resource is there, those of the nested stack too; what is not, is named
url STACK     prints the API's URL
socket STACK  prints where a WebSocket of the feed connects to, if there is a feed
mail DOMAIN   lets the account send mails from and to a domain
faults STACK  prints what the functions logged as errors
env STACK     prints the functions' environment variables, for functions that run elsewhere
"""

import os
import re
import sys

import boto3

NESTED = "AWS::CloudFormation::Stack"


def main() -> None:
    commands = {
        "check": check, "url": url, "socket": socket, "mail": mail, "faults": faults,
        "env": environment,
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
        if resource["ResourceType"] == NESTED:
            check(name_of(resource))


def url(stack: str) -> None:
    api = outputs(stack)["ApiId"]
    stages = boto3.client("apigatewayv2").get_stages(ApiId=api)["Items"]
    if [stage["StageName"] for stage in stages] != ["$default"]:
        sys.exit(f"the API's stages are {stages}")
    print(f"{os.environ['AWS_ENDPOINT_URL']}/_aws/execute-api/{api}/$default")


def socket(stack: str) -> None:
    if address := outputs(stack).get("FeedSocketUrl"):
        api, stage = re.fullmatch(r"wss://([^.]+)\..*/([^/]+)", address).groups()
        host = os.environ["AWS_ENDPOINT_URL"].replace("http", "ws", 1)
        print(f"{host}/_aws/execute-api/{api}/{stage}")


def outputs(stack: str) -> dict:
    (described,) = boto3.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
    return {output["OutputKey"]: output["OutputValue"] for output in described["Outputs"]}


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
    for resource in all_resources(stack):
        if resource["ResourceType"] != "AWS::Lambda::Function":
            continue
        function = aws_lambda.get_function(FunctionName=resource["PhysicalResourceId"])
        given = function["Configuration"].get("Environment", {}).get("Variables", {})
        for name, value in given.items():
            if variables.setdefault(name, value) != value:
                sys.exit(f"two functions have different values of {name}; one file can't say both")
    for name, value in sorted(variables.items()):
        print(f"{name}={value}")


def all_resources(stack: str):
    """Those of the nested stacks too."""
    for resource in resources_of(stack):
        yield resource
        if resource["ResourceType"] == NESTED:
            yield from all_resources(name_of(resource))


def name_of(nested: dict) -> str:
    return nested["PhysicalResourceId"].split("/")[1]


def resources_of(stack: str) -> list[dict]:
    pages = boto3.client("cloudformation").get_paginator("list_stack_resources")
    return [r for page in pages.paginate(StackName=stack) for r in page["StackResourceSummaries"]]


main()
