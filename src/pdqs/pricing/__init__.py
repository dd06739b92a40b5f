"""What an owner is paid: rules (families of curves) and their payment tables."""
