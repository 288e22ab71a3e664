"""Small Dask clusters for tests."""

import logging
import warnings
from contextlib import contextmanager

import pytest


@contextmanager
def dask_client(*, config=None, **options):
    """Start a small cluster, whatever it warns about."""
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings(), dask.config.set(config or {}):
        warnings.simplefilter("ignore")
        with (
            distributed.LocalCluster(
                dashboard_address=":0", silence_logs=logging.CRITICAL, **options
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
