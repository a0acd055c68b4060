"""GraphML files, read by NetworkX once it is certain that they declare nothing dangerous."""

import io
import warnings
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError
from xml.parsers import expat

from ppro.data.files.edges import end_columns
from ppro.data.files.guard import check_file, check_size
from ppro.data.files.ids import node_ids
from ppro.data.files.pair import Pair, graph_of, resolved, text_columns
from ppro.data.files.reading import Reading
from ppro.data.files.schema import Layout, Schema
from ppro.data.files.tables import arrow, check_names, with_text
from ppro.errors import DataError

ENDS = ("source", "target")
LONGEST = 200
EXPANSION = 40
"""Bytes of memory that a byte of such a file can take."""


def read_graphml(path: Path, layout: Layout, schema: Schema | None = None) -> Reading:
    """Read a graph whose node attributes are the columns of a table; see ``read_pair``."""
    check_file(path)
    check_size(path, EXPANSION * path.stat().st_size)
    declared = _declared_nodes(path)
    graph = _parsed(path)
    nodes, edges = graph_tables(path, graph, declared)
    # The id of a GraphML node is part of the format; so are the ends of its edges.
    layout = layout.model_copy(update={"id": layout.id or "id"})
    layout = resolved(path, list(nodes.columns), layout, schema)
    ends = end_columns(path, list(edges.columns), *ENDS)
    nodes, edges = with_text(nodes, text_columns(layout)), with_text(edges, ends)
    ids = node_ids(path, nodes[layout.id])
    directed = bool(graph.is_directed())
    pair = Pair(path, nodes, path, edges, ids, ends, directed=directed)
    return graph_of(pair, layout, schema)


def graph_tables(path: Path, graph: Any, declared: Counter[str]) -> tuple[Any, Any]:
    """Return the nodes and edges of a NetworkX graph as two pandas frames."""
    pd = arrow("pandas")
    for node, count in declared.items():
        if count > 1:
            raise DataError(f"{path}: node {node!r} is there {count} times; give it another id")
    for node in graph:
        if node not in declared:
            raise DataError(f"{path}: an edge names {node!r}, which is no node; add the node")
    if not graph or not graph.number_of_edges():
        raise DataError(f"{path}: no nodes or no edges; PPro needs both")
    nodes = pd.DataFrame([{**values, "id": node} for node, values in graph.nodes(data=True)])
    check_names(path, list(nodes.columns))
    edges = [{**values, "source": u, "target": v} for u, v, values in graph.edges(data=True)]
    return nodes, pd.DataFrame(edges)


def _declared_nodes(path: Path) -> Counter[str]:
    """How often each node is declared; refuses document types before anything is expanded."""
    parser = expat.ParserCreate()
    found: Counter[str] = Counter()

    def refuse(*_: Any) -> None:
        raise DataError(
            f"{path}: it declares a document type or entities, which can be used to attack the "
            "reader; save the graph without DOCTYPE"
        )

    def count(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(":")[2] == "node":
            found[attributes.get("id", "")] += 1

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = count
    try:
        # In one piece: expat begins a token anew with every piece that does not end it.
        parser.Parse(path.read_bytes(), True)
    except expat.ExpatError as error:
        raise _broken(path, error) from None
    except (ValueError, LookupError, OverflowError) as error:
        raise _broken(path, error) from None
    return found


class _Whole(io.BytesIO):
    """A file that is read in one piece, whatever is asked for."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.read_bytes())

    def read(self, size: int | None = -1, /) -> bytes:
        """Return all that is left."""
        return super().read()


def _parsed(path: Path) -> Any:
    from networkx import NetworkXException, read_graphml

    try:
        with warnings.catch_warnings():
            # NetworkX remarks on attributes without a type, which are text here as well.
            warnings.simplefilter("ignore")
            return read_graphml(_Whole(path), node_type=str, force_multigraph=True)
    except (NetworkXException, ParseError, ValueError, KeyError, TypeError) as error:
        raise _broken(path, error) from None
    except (AttributeError, IndexError, RecursionError) as error:
        raise _broken(path, error) from None


def _broken(path: Path, error: Exception) -> DataError:
    reason = " ".join(str(error).split())[:LONGEST] or type(error).__name__
    return DataError(f"{path}: not a readable GraphML file ({reason}); write it again")
