"""Rewriting plan files: formatting and edits that keep comments, the order of keys and the author's quotes.

The text itself is edited, at the places that the YAML parser names, and never written anew from values: what an
edit does not mean to change keeps every character. Each result is read again and compared with what it has to
say before it is handed out.
"""
