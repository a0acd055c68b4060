"""The graph: validated once and frozen, whatever library it comes from.

``core`` has ``Graph`` with the checks that every graph passes, ``large`` the form whose features
stay on disk, ``direction`` says whom a node reads from; ``labels`` turns labels of any kind into
numbers, ``ids`` finds nodes by their ids, ``convert`` takes graphs of other libraries with the help
of ``foreign``. Nothing here reads files or knows of models.
"""
