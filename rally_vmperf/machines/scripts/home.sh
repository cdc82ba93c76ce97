# Print the home directory of whoever runs this.
printf %s "$HOME"
