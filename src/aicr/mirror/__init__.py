"""What has to be mirrored before a recipe can be installed without the internet."""
