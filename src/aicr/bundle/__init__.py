"""How a recipe is applied: the deployment plan, its layout, one writer a deployer."""
