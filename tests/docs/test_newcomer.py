"""The newcomer's script reads the built page as a reader does."""

from __future__ import annotations

from .newcomer import steps_of
from .pages import Saved, Typed

BUILT = """
<div class="literal-block-wrapper docutils container">
<div class="code-block-caption"><span class="caption-text">a.py</span><a class="headerlink" href="#id1">¶</a></div>
<div class="highlight-python notranslate"><div class="highlight"><pre><span></span>
<span class="kn">import</span> <span class="nn">csv</span>
</pre></div></div></div>
<div class="highlight-console notranslate"><div class="highlight">
<pre><span></span><span class="gp">$ </span>pdqs<span> </span>plan
<span class="go">Plan</span>
<span class="gp">$ </span>python<span> </span>a.py
</pre></div></div>
<div class="highlight-python notranslate"><div class="highlight"><pre>&gt;&gt;&gt; 1</pre></div></div>
"""


def test_files_and_commands_are_copied_from_the_built_page() -> None:
    saved, first, second = steps_of(BUILT)
    assert isinstance(saved, Saved)
    assert (saved.name, saved.text.strip()) == ("a.py", "import csv")
    assert first == Typed("pdqs plan", "Plan")
    assert isinstance(second, Typed)
    assert second.command == "python a.py"
