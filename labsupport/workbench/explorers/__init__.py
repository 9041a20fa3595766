"""Explorers: the few lines that wire a picture to its sliders and menus, one module a lab."""
