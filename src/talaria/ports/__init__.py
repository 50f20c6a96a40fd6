"""Every Protocol between the parts. To replace a part, write one adapter and run its contract suite."""
