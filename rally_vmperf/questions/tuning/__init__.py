"""The gain or loss of guests with other settings."""
