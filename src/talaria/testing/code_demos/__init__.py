"""The scripted models of the demos that need a sandbox. They go by what their tools tell them."""
