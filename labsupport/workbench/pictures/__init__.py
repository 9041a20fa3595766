"""Pictures: pure functions from values to one string, HTML tables or an SVG."""
