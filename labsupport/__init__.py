"""How agents remember, small enough to read: the library under the labs."""
