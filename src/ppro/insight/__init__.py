"""What a trained run says: explanations, the report, and metrics while it trains.

``explain`` follows every node of a run step by step into an ``explanation``, that of controllers
that compare by ``comparing``; ``attribution`` says what its answers depend on, ``priorities`` what
the priorities of a run did with the help of ``measures``, ``story`` puts what is said of one node
into plain values; ``report`` makes one HTML file of a run, ``tracking`` tells other programs how a
training goes. Nothing here trains, and nothing prints.
"""
