"""What Talaria costs: every figure stands beside that of the same work written by hand, measured in the same run."""
