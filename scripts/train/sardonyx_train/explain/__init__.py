"""Maps of how much a network's policy and value depend on each square, by occlusion and Grad-CAM."""
