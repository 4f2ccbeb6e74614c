"""What every folder needs: errors, files that a kill cannot damage, a lock, progress on stderr."""
