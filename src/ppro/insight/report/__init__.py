"""``ppro report``: what a run did, as one HTML file that opens anywhere.

``page`` puts the file together from ``assets``; ``summary``, ``measured``, ``curves``,
``figures``, ``relations`` and ``explorer`` make its data, with a ``layout`` of the graph and
``packing`` of arrays. The words for strategies, measures and metrics come from the parts
themselves, so the page's script knows none of them by name.
"""

from ppro.insight.report.page import plotting_library, render, report_data

__all__ = ["plotting_library", "render", "report_data"]
