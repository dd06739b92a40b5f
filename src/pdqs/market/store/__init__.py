"""Where the market's state lives: one database, its tables, its migrations."""
