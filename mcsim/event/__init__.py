"""Event-driven simulation: smooth motion between events, and what happens at them (docs/theory/event_driven.md)."""
