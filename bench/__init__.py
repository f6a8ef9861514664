"""Benchmarks: how fast runs park and go on again, what that costs, and how quickly the plugin starts.

Everything runs on this machine, on control planes of its own. Where a prototype's folder is there, the same
driver measures it in the same run, and the ratios are what counts: times vary from machine to machine.
"""
