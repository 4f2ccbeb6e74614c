"""Which squares a network's opinion hangs on: occlusion and Grad-CAM maps of policy and value."""
