"""Commands of maintainers: set-up, measurements, findings, mutation testing, audits."""
