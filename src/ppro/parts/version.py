"""The version of PPro, known also where it was never installed."""

VERSION = "0.1.0"
