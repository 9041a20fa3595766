"""What is measured, beside other libraries: `python3 lab.py bench`."""
