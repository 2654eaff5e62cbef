"""Drives a Millrace server with the official Python client: `judge.py HOST:PORT`.

See ../judge-process.mjs for the lines it prints.
"""

import asyncio
import os
import sys

import catalog_cases
import cluster_cases
import group_cases
import http_cases
import message_cases
import offset_cases
import partition_cases
import poll_cases
import producer_cases
import restart_cases
import session_cases
import tls_cases
import transport_cases
import user_cases
from case import Judge

# The restart comes last: it ends the connection that the cases before it share.
CASES = [
    *session_cases.CASES,
    *catalog_cases.CASES,
    *message_cases.CASES,
    *poll_cases.CASES,
    *partition_cases.CASES,
    *offset_cases.CASES,
    *producer_cases.CASES,
    *user_cases.CASES,
    *group_cases.CASES,
    *transport_cases.CASES,
    *http_cases.CASES,
    *restart_cases.CASES,
]

# Encryption lies below all of it; these show that it carries what they do.
CASES_WITH_TLS = [
    *tls_cases.CASES,
    *catalog_cases.CASES,
    *message_cases.CASES,
    *user_cases.CASES,
    *group_cases.CASES,
    *transport_cases.CASES,
    *http_cases.CASES,
    *restart_cases.CASES,
]


async def main(address: str) -> None:
    judge = Judge(address)
    cases = CASES if judge.ca_file is None else CASES_WITH_TLS
    if "JUDGE_CLUSTER" in os.environ:
        cases = cluster_cases.CASES
    for case in cases:
        await judge.run(case)
    print(f"done {len(cases)}", flush=True)


asyncio.run(main(sys.argv[1]))
