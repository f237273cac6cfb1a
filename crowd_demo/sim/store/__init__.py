"""Where agents lie in memory: columns, ids, handles, reordering."""
