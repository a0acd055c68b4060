"""``ppro report``: what a run did, as one HTML file that opens anywhere."""

from ppro.insight.report.page import plotting_library, render, report_data

__all__ = ["plotting_library", "render", "report_data"]
