"""Raw outputs of tools that ran elsewhere, and baselines from them."""
