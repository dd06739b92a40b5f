"""How the site is built: `make docs`, from the pages of docs/, offline and with every warning an error."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))

import allowed_values
import generated_pages
import mathml

import pdqs

os.environ["PYTHONWARNINGS"] = "ignore::DeprecationWarning"  # of the notebooks' kernel, which is not ours to mend
os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # figures go into the pages
quiet = Path(tempfile.mkdtemp(prefix="pdqs-docs-"))  # a home for that kernel: nobody's settings, no chatter
atexit.register(shutil.rmtree, quiet, ignore_errors=True)
(quiet / "profile_default").mkdir()
(quiet / "profile_default" / "ipython_kernel_config.py").write_text("get_config().IPKernelApp.log_level = 40\n")
os.environ["IPYTHONDIR"] = str(quiet)

project = "pdqs"
author = "The pdqs authors"
copyright = "2026, the pdqs authors, Apache License 2.0"
version = release = pdqs.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc"]
exclude_patterns = ["_site"]
root_doc = "index"
language = "en"

html_theme = "furo"
html_title = f"pdqs {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_math_renderer = "mathml"
html_theme_options = {"source_edit_link": "", "top_of_page_buttons": []}
pygments_style = "friendly"
pygments_dark_style = "monokai"

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence", "attrs_inline"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 600  # by the clock, and machines are busy
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
default_role = "code"
highlight_language = "text"


def drop_absent(app: Sphinx, docname: str, source: list[str]) -> None:
    """Leave the pages on security out of the contents of a checkout that has none yet."""
    if docname == "explanation/index" and not (Path(app.srcdir) / "security").exists():
        source[0] = source[0].replace("../security/index\n", "")


def setup(app: Sphinx) -> None:
    """Write the generated pages before anything is read, and set mathematics without a script."""
    mathml.setup(app)
    app.connect("builder-inited", lambda built: generated_pages.write(Path(built.srcdir) / "reference" / "generated"))
    app.connect("source-read", drop_absent)
    app.connect("autodoc-process-docstring", allowed_values.append)
