"""What Python makes of spreadsheets: a second opinion for `npm run corpus`. Takes a question and gives an answer on each line, as JSON."""

import csv
import datetime
import json
import sys
import warnings

try:
    import openpyxl
    from openpyxl.cell.cell import MergedCell
except ImportError:
    openpyxl = None


def cell(value):
    if isinstance(value, datetime.datetime):
        return value.isoformat(timespec="milliseconds" if value.microsecond else "seconds")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, datetime.time):
        return value.isoformat(timespec="milliseconds" if value.microsecond else "seconds")
    if isinstance(value, datetime.timedelta):
        ms = round(value.total_seconds() * 1000)
        seconds, ms = divmod(ms, 1000)
        minutes, seconds = divmod(seconds, 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours:02d}:{minutes:02d}:{seconds:02d}" + (f".{ms:03d}" if ms else "")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def tab(sheet):
    """The cells that are there only: a tab with one cell in its last row has a million others."""
    rows, covered = [], []
    for (row, column), found in sheet._cells.items():
        if isinstance(found, MergedCell):
            covered.append([row, column])
        elif found.value is not None:
            while len(rows) < row:
                rows.append([])
            of_row = rows[row - 1]
            of_row.extend([None] * (column - len(of_row)))
            of_row[column - 1] = cell(found.value)
    return {"rows": rows, "covered": covered, "surroundings": surroundings(sheet)}


def surroundings(sheet):
    """What lies around the cells, in words that two states of one tab can be compared by."""
    return sorted(
        [f"merged {area}" for area in sheet.merged_cells.ranges]
        + [f"validation {rule.sqref}" for rule in sheet.data_validations.dataValidation]
        + [f"conditional format {area.sqref}" for area in sheet.conditional_formatting]
        + [f"table {table.ref} {table.autoFilter and table.autoFilter.ref}" for table in sheet.tables.values()]
        + [f"filter {sheet.auto_filter.ref}"]
        + [f"chart {at}" for at, _ in enumerate(sheet._charts)]
        + [f"image {at}" for at, _ in enumerate(sheet._images)]
    )


def answer(question):
    if question["what"] == "openpyxl":
        return openpyxl is not None
    if question["what"] == "workbook":
        book = openpyxl.load_workbook(question["path"], data_only=True)
        return {sheet.title: tab(sheet) for sheet in book.worksheets}
    with open(question["path"], newline="", encoding=question["encoding"]) as file:
        return list(csv.reader(file, delimiter=question["delimiter"]))


def main():
    warnings.simplefilter("ignore")
    csv.field_size_limit(sys.maxsize)
    for line in sys.stdin:
        try:
            found = answer(json.loads(line))
        except Exception:  # Whatever it does not read is not compared.
            found = None
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


main()
