"""What a run asks of a cloud that is full of other people's things."""
