"""Prints the client's methods as JSON: name -> docstring."""

import inspect
import json

from point_cloud_client import PointCloudClient

methods = inspect.getmembers(PointCloudClient, inspect.isfunction)
print(json.dumps({name: inspect.getdoc(method) or "" for name, method in methods if not name.startswith("_")}))
