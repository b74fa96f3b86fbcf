"""Random calls over the whole public face, each of which must be answered rightly or refused in words; what is not is
made short, and written as a script. `mcsim fuzz` does it from the command line (docs/reliability.md)."""

from mcsim.fuzz.campaign import Campaign
from mcsim.fuzz.case import Case, drawn_case
from mcsim.fuzz.play import Failure, played
from mcsim.fuzz.recorded import case_of
from mcsim.fuzz.script import replay, script_of
from mcsim.fuzz.shrink import shrunk

__all__ = ["Campaign", "Case", "Failure", "case_of", "drawn_case", "played", "replay", "script_of", "shrunk"]
