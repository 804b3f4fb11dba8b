"""The release: what an analyst gets, its bundle on disk, its words and pictures."""
