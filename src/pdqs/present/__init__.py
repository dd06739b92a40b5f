"""How results show themselves: text, HTML, figures, SVG."""
