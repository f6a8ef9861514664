"""A plan as a picture, and a run as that picture with where it stands. Pure: objects in, text out."""
