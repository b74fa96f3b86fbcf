"""mcsim: rigid bodies in maximal coordinates."""
