"""The paper's tables and figures as commands: run what is missing, render from result files alone.

``experiment`` is what trains and when it is done, ``store`` where its file lies, ``pool`` how many
go side by side. ``cells`` makes experiments of what ``tables`` and ``figures`` want to know, with
the arrays of ``nodes``; ``contest``, ``variations``, ``rounds`` and ``choice`` find the recipes;
``fresh``, ``shipped``, ``added`` and ``automatic`` measure them on seeds of their own;
``statistics`` tells a difference from noise; ``render``, ``rounds_tables``, ``datasets`` and
``pages`` write what came out; ``sections`` gives each of these a name for the command. ``bench``
measures time and memory. No mathematics of the method and no command lives here.
"""
