"""Pages: self-contained HTML files that load nothing; d3 (ISC: assets/d3.LICENSE) draws."""
