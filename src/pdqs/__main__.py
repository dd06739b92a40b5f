"""``python -m pdqs``: the command line, where the script ``pdqs`` is not on the path."""

from pdqs.cli import main

if __name__ == "__main__":
    main()
