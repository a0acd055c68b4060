"""The paper's tables and figures as commands: run what is missing, render from result files alone.

``experiment`` is what trains and when it is done, ``kept`` what is kept of it, ``store`` where its
file lies, ``recorded`` how it says settings, ``unfinished`` what is kept before that, ``pool`` how
many go side by side. ``cells`` makes experiments of what ``tables``, made of ``panels``, and
``figures`` want to know, with the arrays of ``nodes``; ``contest``, ``variations``, ``rounds``,
``taught`` and ``choice`` find the recipes, ``design`` those of the paper's design; ``fresh``,
``shipped`` with ``shipped_nodes`` and ``added`` measure them on seeds of their own.
``entrants`` lets methods meet on one graph: ``planted`` where depth must be personal, ``personal``
where nobody built it to be, ``equal_offers`` where backbone and strategies choose from the same,
``differing`` prefers nodes with steps of their own; ``planted_tables`` and ``personal_tables`` tell
what came of it. ``untuned`` is what one gets who sets nothing, beside tuned networks,
``untuned_tables`` what came of that. ``statistics`` tells a difference from noise; ``render``,
``chosen``, ``comparisons``, ``rounds_tables``, ``datasets`` and ``pages`` write what came out;
``sections`` gives each of these a name for the command. ``bench`` measures time and memory. No
mathematics of the method and no command lives here.
"""
