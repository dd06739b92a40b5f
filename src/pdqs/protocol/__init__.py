"""What passes over the wire: messages, problem types and the retrying transport. Shared by owner and market."""
