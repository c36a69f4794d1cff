"""Who may do what: tokens, tickets, owners, hosts and origins."""
