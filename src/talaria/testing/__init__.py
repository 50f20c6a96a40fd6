"""Parts to test with: scripted models, a model server, contract suites. The package itself never imports them."""
