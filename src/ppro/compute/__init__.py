"""How it is computed: sparse products, propagation and its adjoint, dropout, features, layers."""
