"""Cases as files: .xlsx, CSV, JSON Lines and promptfoo's tests in; .xlsx, CSV and JSON Lines out."""

from evals.datasets.spreadsheet.file import Existing, FileRead, say_place
from evals.datasets.spreadsheet.formats import read_cases
from evals.datasets.spreadsheet.table import Unreadable
from evals.datasets.spreadsheet.writing import CellTooLong, write_csv, write_template, write_xlsx

__all__ = ["CellTooLong", "Existing", "FileRead", "Unreadable", "read_cases", "say_place", "write_csv", "write_template", "write_xlsx"]
