"""What a training is made of: typed settings, recipes, and what a search may choose."""
