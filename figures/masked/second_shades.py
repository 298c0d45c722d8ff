"""Holds the shades of a second ordered parameter, in a figure where `Panel(ordered=True)` shows the first."""

SECOND_SHADES = ("#49006a", "#99017b", "#e23e99", "#f994b1")  # from dark to light: their order is seen in grey too
