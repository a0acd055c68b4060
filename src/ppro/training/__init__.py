"""Algorithm 1 and what surrounds it, from a graph to a result.

``trainer`` is Algorithm 1 with ``optim``, ``run_values``, ``stopping`` (the best state of each
run), ``consistency`` and ``judges`` (who teaches the controllers); ``comparing`` is the same with
controllers that compare, and ``judging`` what teaches them; ``metrics`` and ``class_weights`` say
what counts; ``assessment`` measures a result by all metrics, class by class, ``verdicts`` says what
that means, and ``calibration`` makes probabilities honest; ``diagnosis`` tells whether the nodes of
a run differ in step and priority, ``divergence`` whether its losses were numbers,
``backbone_alone`` what the bare backbone reaches, ``paired`` whether a difference is more than
noise. ``arguments`` refuses what does not fit together, ``assembly`` makes inputs, model and rows,
``fit`` trains them over the cores with ``threads`` and ``workers``; ``memory`` foretells what it
takes, ``room`` whether there is as much; ``checkpoint`` and ``fingerprint`` let a killed training
go on; ``versions`` says what it was made with. Nothing here prints or knows a command.
"""
