"""The values of one round: terms and their canonical form, offers, reports, settlement, presets."""
