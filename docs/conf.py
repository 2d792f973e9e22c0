"""How Sphinx builds the documentation: `make docs`."""

from karat import __version__

project = "karat"
version = release = __version__
extensions = ["myst_parser"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3
myst_disable_syntax = ["footnote_ref", "html_inline"]  # `[^\\w]` is no footnote, `<eos>` no tag
highlight_language = "text"

html_theme = "furo"
html_title = "karat"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
