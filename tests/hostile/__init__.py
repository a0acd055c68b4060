"""A corpus of hostile files, run folders, settings and environments, made by a seeded script.

``make hostile`` runs all of it: every case is a command of ``ppro`` in a process of its own, which
must end with exit code 0, or with exit code 2 and one line, in bounded time and memory. ``mutate``
spoils texts, trees and bytes; ``readers``, ``folders`` and ``words`` make the cases, ``running``
runs them and ``__main__`` writes the table of the documentation.
"""
