"""python -m mcsim.cli"""

import sys

from mcsim.cli import main

sys.exit(main())
