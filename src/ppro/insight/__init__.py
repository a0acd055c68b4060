"""What a trained run says: explanations, the report, and metrics while it trains.

``explain`` follows every node of a run step by step, ``attribution`` says what its answers depend
on, ``story`` puts what is said of one node into plain values; ``report`` makes one HTML file of a
run, ``tracking`` tells other programs how a training goes. Nothing here trains, and nothing prints.
"""
