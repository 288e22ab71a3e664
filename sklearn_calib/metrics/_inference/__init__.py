"""How sure is it? The debiased square, its moments, and the limits that follow from them."""
