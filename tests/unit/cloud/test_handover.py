import json
import unittest

import jsonschema
from rally_openstack.environment.platforms import existing

from rally_vmperf.cloud import handover


class EnvironmentSpecTestCase(unittest.TestCase):
    def test_rally_accepts_both(self):
        for user, role, other in (
            ("admin", "admin", "users"),
            ("member", "users", "admin"),
        ):
            with self.subTest(user):
                spec = handover.environment_spec(user, "secret")
                inner = json.loads(json.dumps(spec))["existing@openstack"]
                jsonschema.validate(inner, existing.OpenStack.CONFIG_SCHEMA)
                self.assertIn(role, inner)
                self.assertNotIn(other, inner)
