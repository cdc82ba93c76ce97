# SPDX-License-Identifier: Apache-2.0
"""Tests of tuning tasks that are rejected before a guest boots."""

import copy
import tempfile
import unittest

import ddt

from rally_vmperf.baseline import store
from rally_vmperf.questions import checks
from rally_vmperf.questions import table

GUESTS = "vmperf_guests@openstack"
VARIANTS = [
    {"name": "e1000", "image_properties": {"hw_vif_model": "e1000"}},
    {"name": "virtio", "image_properties": {"hw_vif_model": "virtio"}},
    {"name": "pinned", "extra_specs": {"hw:cpu_policy": "dedicated"}},
]
CONFIG = {
    "args": {"workloads": [{"name": "sysbench"}], "variants": VARIANTS},
    "contexts": {
        GUESTS: {"image": {"name": "i"}, "flavor": {"name": "f"}, "count": 1}
    },
    "runner_type": "serial",
    "runner": {"times": 7},
    "sla": {},
}
#: Limits on a metric of the task, and on none of it.
X, Y = {"cpu.*": 5}, {"disk.*": 5}


def variants(*others, **changes):
    """Return a change of the variants: others, and changes of the second."""
    first, two, *_ = copy.deepcopy(VARIANTS)
    return ("args", "variants"), [first, {**two, **changes}, *others]


def guests(**options):
    """Return a change of the options of guests."""
    return ("contexts", GUESTS), {**CONFIG["contexts"][GUESTS], **options}


def changed(*changes):
    """Return the configuration with values replaced."""
    config = copy.deepcopy(CONFIG)
    for (*parents, last), value in changes:
        place = config
        for key in parents:
            place = place[key]
        place[last] = value
    return config


@ddt.ddt
class TestTuning(unittest.TestCase):
    """A tuning task is checked as a whole."""

    def check(self, *changes):
        """Check the task, with changes; return the warnings."""
        question = table.questions()["tuning"]
        task_request = question.create_task(changed(*changes))
        with tempfile.TemporaryDirectory() as folder:
            return checks.check_task(
                task_request, question, store.Store(folder)
            )

    @ddt.data(
        (),
        # The plain guest of the task is a variant, too.
        (variants({"name": "plain"}),),
        ((("args", "reference"), "pinned"),),
        ((("args", "order"), "shuffled"), (("runner", "times"), 2)),
        (guests(host="h1"),),
        (guests(server_group="affinity", count=2),),
        # Each negative number is no limit for libvirt.
        (variants(extra_specs={"quota:cpu_quota": "-5"}),),
        (
            guests(extra_specs={"quota:cpu_period": "10000"}),
            variants(extra_specs={"quota:cpu_quota": "5000"}),
        ),
        # The limit of the task is replaced before it reaches libvirt.
        (
            guests(extra_specs={"quota:cpu_quota": "900"}),
            (
                ("args", "variants"),
                [
                    {"name": name, "extra_specs": {"quota:cpu_quota": quota}}
                    for name, quota in (("a", "5000"), ("b", "6000"))
                ],
            ),
        ),
    )
    def test_sound(self, changes):
        """It raises no error, and gives no warning."""
        if changes == (variants({"name": "plain"}),):
            changes = (*changes, (("runner", "times"), 7))
        self.assertEqual([], self.check(*changes))

    @ddt.data(
        # 1: one name twice
        (
            [variants({"name": "e1000"})],
            r"^variants: 'e1000' is the name of 2 variants; each name must",
        ),
        # 2: nothing to compare
        (
            [(("args", "variants"), VARIANTS[:1])],
            r"^variants: must have at least 2 elements, and has 1$",
        ),
        # 3: no list of variants
        (
            [(("args", "variants"), {"virtio": {}})],
            r"^variants: .* is not of type 'array'",
        ),
        # 4: no such reference
        (
            [(("args", "reference"), "virtoi")],
            r"^reference='virtoi': must be the name of a variant \(e1000, vir",
        ),
        # 5: a property that is no text
        (
            [variants(image_properties={"hw_cpu_threads": 2})],
            r"^variants\[1\]\.image_properties\.hw_cpu_threads: 2 is not of "
            "type 'string'",
        ),
        # 6: a name of a property that no flavor can have
        (
            [variants(extra_specs={"hw cpu": "x"})],
            r"^variants\[1\]\.extra_specs: 'hw cpu' does not match",
        ),
        # 7: a field of images that is no property
        (
            [variants(image_properties={"min_ram": "1"})],
            r"^variants\[1\]\.image_properties: 'min_ram' should not be valid",
        ),
        # 8: a limit on vCPUs that libvirt rejects
        (
            [variants(extra_specs={"quota:cpu_quota": "900"})],
            r"^variants: virtio: quota:cpu_quota='900': must be an integer >= "
            "1000, .* in each 100000 that .* or negative for no limit$",
        ),
        (
            [
                guests(extra_specs={"quota:cpu_period": "10000"}),
                variants(extra_specs={"quota:cpu_quota": "999"}),
            ],
            r"^variants: virtio: quota:cpu_quota='999': must .*each 10000 t",
        ),
        (
            [variants(extra_specs={"quota:cpu_period": "500"})],
            r"^variants: virtio: quota:cpu_period='500': must be an integer "
            r"from 1000 to 1000000, in microseconds, or 0 for 100000$",
        ),
        (
            [guests(extra_specs={"quota:cpu_period": "2000000"})],
            r"^variants: e1000: quota:cpu_period='2000000': must be an integ",
        ),
        (
            [guests(extra_specs=["quota:cpu_period"])],
            r"^vmperf_guests\.extra_specs: .* is not of type 'object'",
        ),
        # 9: a key that nothing has
        (
            [variants(flavour={"name": "f"})],
            r"^variants\[1\]: .*'flavour' was unexpected.*; allowed keys: na",
        ),
        # 10: a name that is none
        (
            [variants(name="e 1000")],
            r"^variants\[1\]\.name: 'e 1000' does not match",
        ),
        # 12: no name
        (
            [(("args", "variants"), [*VARIANTS, {"host": "h2"}])],
            r"^variants\[3\]: 'name' is a required property",
        ),
        # 13: at the same time
        ([(("runner_type",), "constant")], r"^runner=constant: must be seri"),
        # 14: pairs of a single guest
        (
            [
                (
                    ("args", "workloads"),
                    [
                        {
                            "name": "ping",
                            "arguments": {"directions": ["guest_to_guest"]},
                        }
                    ],
                )
            ],
            r"^count=1: must be >= 2 for guest_to_guest",
        ),
        # 15: limits of another question
        (
            [(("sla",), {"vmperf_degradation": {"max_percent": {"*": 5}}})],
            r"^sla vmperf_degradation: applies to VMPerf.density, not to VMP",
        ),
        (
            [
                (
                    ("sla",),
                    {"vmperf_tuning": {"max_loss_percent": {"e1000": X}}},
                )
            ],
            r"^sla vmperf_tuning max_loss_percent: 'e1000' is the reference, "
            "which has no gain over itself; set a limit for another variant$",
        ),
        (
            [
                (
                    ("sla",),
                    {"vmperf_tuning": {"min_gain_percent": {"virtio": Y}}},
                )
            ],
            r"^sla vmperf_tuning min_gain_percent virtio: 'disk.\*' matches n",
        ),
        # 16: on different hosts
        (
            [guests(server_group="anti-affinity")],
            r"^server_group=anti-affinity: variants are compared on one host",
        ),
        # 17: in turn on several hosts
        ([guests(hosts=["a", "b"])], r"^hosts: variants are compared on one"),
        # 18: groups beside variants
        ([guests(groups=[{"name": "a"}])], r"'groups' was unexpected"),
        # 19: states and orders that are none
        (
            [(("args", "idle_guests"), "asleep")],
            r"^idle_guests='asleep': must be one of ",
        ),
        (
            [(("args", "order"), "random")],
            r"^order='random': must be one of listed, shuffled, blocks$",
        ),
        # 20: two places
        (
            [guests(host="h1"), variants(host="h2")],
            r"^variants: virtio: host contradicts host of vmperf_guests",
        ),
        (
            [
                guests(networks=[{"name": "a"}, {"name": "b"}]),
                variants(network={"name": "c"}),
            ],
            r"^variants: virtio: network contradicts networks of vmperf_gu",
        ),
        # 21: no repetition that counts
        (
            [(("args", "warmup"), 7)],
            r"^warmup=7: must be an integer from 0 to 6",
        ),
        # 22: nothing to boot
        ([(("contexts",), {})], r"^contexts: vmperf_guests is missing"),
    )
    @ddt.unpack
    def test_refused(self, changes, message):
        """Each by its name, with what to do."""
        with self.assertRaisesRegex(Exception, message) as caught:
            self.check(*changes)
        self.assertIsInstance(caught.exception, checks.REQUEST_ERRORS)

    @ddt.data(
        (
            [variants({"name": "plain"}, {"name": "same"})],
            ("same", "plain"),
        ),
        # A change to what the task has is none.
        (
            [
                guests(image_properties={"hw_vif_model": "e1000"}),
                variants({"name": "plain"}),
            ],
            ("plain", "e1000"),
        ),
    )
    @ddt.unpack
    def test_equal_variants(self, changes, names):
        """They are allowed, and a warning names them."""
        warnings = self.check(*changes, (("runner", "times"), 13))
        variant, other = names
        self.assertEqual(
            [
                f"variants: {variant} is equal to {other}: they differ by "
                "their boots only"
            ],
            warnings,
        )

    def test_warnings(self):
        """Names that Nova ignores, blocks that are not whole, other hosts."""
        warnings = self.check(
            variants(
                {"name": "far", "host": "h2"},
                image_properties={"hw_vif_modle": "e1000"},
            ),
            (("runner", "times"), 6),
        )
        self.assertEqual(3, len(warnings), warnings)
        self.assertEqual(
            "variants: virtio: Nova does not document 'hw_vif_modle', and "
            "ignores unknown names; did you mean hw_vif_model?",
            warnings[0],
        )
        self.assertRegex(
            warnings[1], "^order=blocks: 5 counted repetitions are"
        )
        self.assertIn("variant_host_differs", warnings[2])

    def test_plan(self):
        """Guests of one variant work at a time, for some minutes each."""
        question = table.questions()["tuning"]
        task_request = question.create_task(changed())
        self.assertEqual((1,), question.list_copies(task_request))
        self.assertEqual((), question.list_compared_copies(task_request))
        self.assertTrue(question.needs_one_host(task_request))
        self.assertEqual(1, task_request.warmup)
        two = question.create_task(
            changed((("args", "variants"), VARIANTS[:2]))
        )
        self.assertGreater(
            question.estimate_minutes(task_request),
            question.estimate_minutes(two),
        )
        stopped = question.create_task(
            changed((("args", "idle_guests"), "stopped"))
        )
        self.assertGreater(
            question.estimate_minutes(stopped),
            question.estimate_minutes(task_request),
        )
