"""``ppro tune``: a search on Optuna that several workers can share.

``subject`` is what a search is about, ``spaces`` what it may choose from, ``sampling`` and
``pruning`` how it chooses, ``evaluation`` what a configuration is worth. ``study`` hands out trials
and ``worker`` trains them; ``storage``, ``journal``, ``postgres`` and ``guards`` keep a study whole
when workers die; ``session`` joins them, ``outcome`` and ``plots`` write what came out. Optuna is
needed here and nowhere else.
"""
