"""python -m labsupport.miniagent PROMPT [--session FILE] [--context-max-chars N]"""
import sys

from labsupport.miniagent.cli import main

if __name__ == "__main__":
    sys.exit(main())
