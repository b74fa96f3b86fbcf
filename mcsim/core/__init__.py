"""What all other rooms stand on. It is imported before any kernel, so that what is missing is said at once."""

from mcsim.core.compiled import require_kernels

require_kernels()
