"""The report as JUnit XML: a testcase for each case and repetition. A known limitation that fails is a failure here too."""

import re
import xml.etree.ElementTree as ET

from evals.reports import ReportRow, RunReport
from evals.reports.wording import explain_row, name_row, public_names, say_facts, say_verdict, verdict_reasons

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: RunReport) -> str:
    """An XML document with one testsuite."""
    root = ET.Element("testsuites")
    suite = ET.SubElement(root, "testsuite", {"name": _xml(report.dataset), **_counts(report)})
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(report).items():
        ET.SubElement(properties, "property", {"name": name, "value": _xml(value)})
    names = public_names(report.rows)
    for row in report.rows:
        _add_case(suite, row, report, names)
    ET.SubElement(suite, "system-out").text = _xml("\n".join([*say_facts(report), *(reason for _, reason in verdict_reasons(report))]))
    ET.indent(root)
    return ET.tostring(root, encoding="utf-8", xml_declaration=True).decode() + "\n"


def _counts(report: RunReport) -> dict[str, str]:
    statuses = [row.status for row in report.rows]
    counted = {"failures": "falla", "errors": "error", "skipped": "sin correr"}
    return {"tests": str(len(statuses)), **{name: str(statuses.count(status)) for name, status in counted.items()}}  # type: ignore[arg-type]


def _properties(report: RunReport) -> dict[str, str]:
    return {
        "veredicto": say_verdict(report),
        "corrida": str(report.run_id),
        "version": str(report.version),
        "huella": report.version_hash,
        "modelo": report.model_name,
        "prompt": f"{report.prompt_variant} {report.prompt_hash}",
        "commit": report.commit,
        "reservados": str(report.held_out),
        "aperturas": str(report.openings),
    }


def _add_case(suite: ET.Element, row: ReportRow, report: RunReport, names: dict[str, str]) -> None:
    category = "reservado" if row.held_out else row.category
    case = ET.SubElement(suite, "testcase", {"classname": _xml(f"{report.dataset}.{category}"), "name": _xml(name_row(row, report, names))})
    if row.status == "sin correr":
        ET.SubElement(case, "skipped", {"message": "sin correr"})
    elif row.status != "pasa":
        kind = "limitación conocida" if row.known_limitation else row.status
        explanation = _xml(explain_row(row))
        ET.SubElement(case, "error" if row.status == "error" else "failure", {"type": kind, "message": explanation}).text = explanation


def _xml(text: str) -> str:
    """Without the characters that XML 1.0 has no way to write."""
    return _NOT_IN_XML.sub("", text)
