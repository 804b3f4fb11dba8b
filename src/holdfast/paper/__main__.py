"""`python -m holdfast.paper` is `holdfast paper`."""

from holdfast.paper.cli import main

if __name__ == "__main__":
    main()
