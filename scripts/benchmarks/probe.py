"""The proxy's own command line, with one signal more: SIGUSR1 writes the number of unfinished tasks to a file.

Run by `load.py`: `python probe.py FILE serve ...`. Tasks cannot be seen from outside the process; all else is the
command as it is.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from proxy.__main__ import main

if __name__ == "__main__":
    counted = Path(sys.argv.pop(1))
    signal.signal(signal.SIGUSR1, lambda *_: counted.write_text(str(len(asyncio.all_tasks()))))
    main()
