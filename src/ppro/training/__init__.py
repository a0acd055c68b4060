"""Algorithm 1 and what surrounds it, from a graph to a result.

``trainer`` is Algorithm 1 with ``optim``, ``run_values``, ``stopping`` (the best state of each
run), ``consistency`` and ``controller_split`` (who teaches the controllers); ``metrics`` and
``class_weights`` say what counts. ``assembly`` makes inputs, model and rows, ``fit`` trains them
over the cores with ``threads`` and ``workers``; ``memory`` foretells what it takes; ``checkpoint``
and ``fingerprint`` let a killed training go on. Nothing here prints or knows a command.
"""
