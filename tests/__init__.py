"""The checks of the workbook: `python3 lab.py test`."""
