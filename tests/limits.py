"""What reading a file may take: five seconds and 500 MB."""

import time
from contextlib import contextmanager

try:
    import resource
except ImportError:  # Windows
    resource = None

SECONDS = 5.0
MEGABYTES = 500


def peak_megabytes():
    """Return the most memory that this process has had, as far as the system tells."""
    if resource is None:
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def within_limits():
    """Fail if the body takes more than five seconds, or the process grows by more than 500 MB.

    Seconds of the processor, so that a busy machine fails nothing.
    """
    seconds, megabytes = time.thread_time(), peak_megabytes()
    yield
    seconds, megabytes = time.thread_time() - seconds, peak_megabytes() - megabytes
    assert seconds < SECONDS, f"it took {seconds:.1f} seconds"
    assert megabytes < MEGABYTES, f"it took {megabytes:.0f} MB"
