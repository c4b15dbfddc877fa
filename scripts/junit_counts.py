"""Prints "PASSED FAILED SKIPPED" of a JUnit file that ctest wrote."""
import sys
import xml.etree.ElementTree as ElementTree

passed = failed = skipped = 0
for case in ElementTree.parse(sys.argv[1]).iter("testcase"):
    status = case.get("status")
    if case.find("failure") is not None or status == "fail":
        failed += 1
    elif case.find("skipped") is not None or status in ("notrun", "disabled"):
        # A program that was never built is no skip: it is a test that we do not know the answer of.
        message = (case.find("skipped").get("message") or "") if case.find("skipped") is not None else ""
        if case.get("name", "").endswith("_NOT_BUILT") or "Unable to find" in message:
            failed += 1
        else:
            skipped += 1
    else:
        passed += 1
print(passed, failed, skipped)
