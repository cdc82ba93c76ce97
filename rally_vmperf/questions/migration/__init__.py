"""What a live migration costs a running guest."""
