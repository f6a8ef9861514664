"""Plans that test themselves, without a cluster: cases beside a plan, and every path that answers can open."""
