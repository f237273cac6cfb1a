"""What opens over the picture: lists, questions, menus, experiments."""
