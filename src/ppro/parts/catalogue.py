"""The parts of the package, a line each: name and address."""

from ppro.parts.registry import Registry

STRATEGIES = Registry(
    "strategy",
    {
        "l2b": "ppro.nn.strategies.learn_to_break:LearnToBreak",
        "l2u": "ppro.nn.strategies.learn_to_update:LearnToUpdate",
        "none": "ppro.nn.strategies.full_depth:FullDepth",
    },
)
MEASURES = Registry(
    "priority measure",
    {
        "degree": "ppro.nn.priority.degree:Degree",
        "eigenvector": "ppro.nn.priority.eigenvector:Eigenvector",
        "heterophily": "ppro.nn.priority.heterophily:Heterophily",
    },
)
JUDGES = Registry(
    "kind of judges",
    {
        "train": "ppro.training.judges.train:TrainingNodes",
        "share": "ppro.training.judges.share:HeldBack",
        "folds": "ppro.training.judges.folds:Folds",
    },
)
METRICS = Registry(
    "metric",
    {
        "accuracy": "ppro.training.metrics:Accuracy",
        "balanced-accuracy": "ppro.training.metrics:BalancedAccuracy",
        "macro-f1": "ppro.training.metrics:MacroF1",
        "weighted-f1": "ppro.training.metrics:WeightedF1",
        "roc-auc": "ppro.training.metrics:RocAuc",
        "average-precision": "ppro.training.metrics:AveragePrecision",
        "log-loss": "ppro.training.metrics:LogLoss",
        "calibration-error": "ppro.training.metrics:CalibrationError",
    },
)
BACKBONES = Registry(
    "backbone",
    {
        "appnp": "ppro.nn.backbones.appnp:APPNP",
        "gat": "ppro.nn.backbones.gat:GAT",
        "gat-scores": "ppro.nn.backbones.gat_scores:GATScores",
        "gcn": "ppro.nn.backbones.gcn:GCN",
        "gcn-scores": "ppro.nn.backbones.gcn_scores:GCNScores",
        "gcnii": "ppro.nn.backbones.gcnii:GCNII",
        "grand": "ppro.nn.backbones.grand:GRAND",
        "res-gat": "ppro.nn.backbones.res_gat:ResGAT",
        "res-gcn": "ppro.nn.backbones.res_gcn:ResGCN",
        "res-sage": "ppro.nn.backbones.res_sage:ResSAGE",
        "sgc": "ppro.nn.backbones.sgc:SGC",
    },
)
RIVALS = Registry(
    "model",
    {
        "mlp": "ppro.nn.rivals.mlp:MLP",
        "gcn": "ppro.nn.rivals.gcn:GCN",
        "sgc": "ppro.nn.rivals.sgc:SGC",
        "gat": "ppro.nn.rivals.gat:GAT",
        "jknet": "ppro.nn.rivals.jknet:JKNet",
        "jknet-drop": "ppro.nn.rivals.jknet_drop:JKNetDrop",
        "appnp": "ppro.nn.rivals.appnp:APPNP",
        "gcnii": "ppro.nn.rivals.gcnii:GCNII",
        "gcnii-star": "ppro.nn.rivals.gcnii_star:GCNIIStar",
        "h2gcn": "ppro.nn.rivals.h2gcn:H2GCN",
        "geom-gcn": "ppro.nn.rivals.geom_gcn:GeomGCN",
        "gprgnn": "ppro.nn.rivals.gprgnn:GPRGNN",
        "dagnn": "ppro.nn.rivals.dagnn:DAGNN",
        "res-gcn": "ppro.nn.rivals.residual:ResGCN",
        "res-sage": "ppro.nn.rivals.residual:ResSAGE",
        "res-gat": "ppro.nn.rivals.residual:ResGAT",
        "l2q": "ppro.nn.rivals.l2p:L2Q",
        "l2s": "ppro.nn.rivals.l2p:L2S",
    },
)
REGISTRIES = (STRATEGIES, MEASURES, JUDGES, METRICS, BACKBONES, RIVALS)
"""All of them; datasets and generated graphs are records of :mod:`ppro.data`."""
