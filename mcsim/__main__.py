"""python -m mcsim"""

import sys

from mcsim.cli import main

sys.exit(main())
