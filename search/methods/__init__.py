"""The methods: a file each, over the same parts."""
