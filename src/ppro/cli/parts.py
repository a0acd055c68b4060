"""``ppro parts``: what plugs in, by kind, those of the user's scripts included."""

from ppro.cli import console


def parts() -> None:
    """List strategies, measures, judges, metrics, backbones, rivals and datasets by name.

    [bold]Examples[/bold]

      ppro parts

      ppro --load mine.py parts
    """
    from ppro.data import DATASETS
    from ppro.parts import REGISTRIES

    kinds = {registry.kind: dict(registry.items()) for registry in REGISTRIES}
    for kind, found in {**kinds, "dataset": DATASETS}.items():
        console.out.print(kind, style="bold")
        rows = [(f"  {name}", _title(part)) for name, part in found.items()]
        console.out.print(console.fields(rows))


def _title(part: object) -> str:
    """Return the title of a part, or the first line of what its class says of itself."""
    title = getattr(part, "title", "") or (part.__doc__ or "").strip().partition("\n")[0]
    return str(title).rstrip(".")
