"""The paper: priorities, controllers, strategies, losses, PPro itself, its backbones and rivals."""
