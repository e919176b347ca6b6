"""The playground: a page that shows the parts of a served model, and the requests of that page."""
