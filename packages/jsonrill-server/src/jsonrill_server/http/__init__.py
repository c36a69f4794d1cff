"""The routes of the server: requests in, responses out."""
