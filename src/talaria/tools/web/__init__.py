"""Tools for the web: pages, searches, requests to listed hosts, and described calls."""
