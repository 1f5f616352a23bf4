"""A function of a user's own file becomes a problem: read, understood, adapted, sized, written."""
