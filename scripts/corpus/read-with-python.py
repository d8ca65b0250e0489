"""What Python makes of a spreadsheet, as JSON: a second opinion for `npm run corpus`."""

import csv
import datetime
import json
import sys


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


def main():
    what = sys.argv[1]
    if what == "openpyxl":
        try:
            import openpyxl  # noqa: F401

            print("yes")
        except ImportError:
            print("no")
        return
    if what == "workbook":
        import openpyxl

        book = openpyxl.load_workbook(sys.argv[2], data_only=True)
        tabs = {tab.title: [[cell(value) for value in row] for row in tab.iter_rows(values_only=True)] for tab in book.worksheets}
        json.dump(tabs, sys.stdout)
        return
    csv.field_size_limit(sys.maxsize)
    with open(sys.argv[2], newline="", encoding=sys.argv[4]) as file:
        json.dump(list(csv.reader(file, delimiter=sys.argv[3])), sys.stdout)


main()
