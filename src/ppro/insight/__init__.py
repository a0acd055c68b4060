"""What a run says: explanations, the report, and metrics while it trains."""
