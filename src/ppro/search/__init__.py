"""Settings from a search.

``methods`` names all that can be searched, with the spaces of its classes; ``offers`` are other
spaces by name: the ``grid`` of the paper, and those that ``table_spaces`` has for its tables;
``batches`` trains many runs in few programs; ``auto`` lets the settings of ``auto_candidates``
compete on the graph itself: ``auto_inputs`` brings its features to one scale, ``auto_search`` has
the rungs, ``auto_race`` trains side by side, ``auto_picking`` says which go on, ``auto_trials`` is
what was reached, ``auto_final`` is the training that follows and ``auto_time`` what time that
leaves to the search; ``choice`` says which recipe a training takes, ``schedule`` how controllers do
with few epochs; ``tuning`` searches on Optuna. Spaces live with their classes, and results of the
paper's tables in ``ppro.paper``.
"""
