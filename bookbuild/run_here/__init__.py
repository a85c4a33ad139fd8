"""Python in the page: the WebAssembly runtime, stand-ins for packages, and notes on cells."""
