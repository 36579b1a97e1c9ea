"""Probes of lab 01, attention intuition: the declarations of its exercises describe them all."""

from coursekit.probes.driving import Probe

PROBES: dict[str, Probe] = {}
