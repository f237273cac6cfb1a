"""The card of the last switch: what it gave, measured and proved beside the running crowd."""
