"""Who may do what: tokens, owners, hosts and origins."""
