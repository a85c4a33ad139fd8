"""Files, locks, browsers, Node and npm: what the builder and the tools build on."""
