# SPDX-License-Identifier: Apache-2.0
"""Tests for the verification of the settings of a group."""

import unittest

import ddt

from rally_vmperf.guests import models
from rally_vmperf.guests import verification
from rally_vmperf.measurement import finding
from tests.unit.guests import made


def verify(name, requested, vcpus=2, topology=None, **facts):
    """Return a requested setting, as a guest has it."""
    (setting,) = verification.verify(
        {name: requested},
        verification.Evidence(
            vcpus=vcpus, fingerprint=facts, topology=topology
        ),
    )
    return setting


def disk(**facts):
    """Return a disk as fingerprints have it."""
    return {"name": "sda", "driver": "sd", "bus": "scsi", **facts}


def node(**facts):
    """Return a NUMA node as Nova's topology has it."""
    return {"vcpu_set": [0, 1], "siblings": [], "memory_mb": 1, **facts}


VIRTIO_DISK = {"name": "vda", "driver": "virtio_blk", "bus": "virtio"}
CD_ROM = {"name": "sr0", "driver": "sr", "controller": "ata_piix"}


@ddt.ddt
class VerifyTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ("virtio", "virtio_net", "virtio", "applied"),
        ("e1000", "e1000", "e1000", "applied"),
        ("rtl8139", "8139cp", "rtl8139", "applied"),
        ("ne2k_pci", "ne2k-pci", "ne2k_pci", "applied"),
        ("e1000", "virtio_net", "virtio", "not_applied"),
        ("e1000", "", None, "not_proven"),
    )
    def test_vif_model(self, requested, driver, detected, outcome):
        cards = [{"name": "eth0", "driver": driver}]
        setting = verify("hw_vif_model", requested, network_interfaces=cards)
        self.assertEqual(
            (requested, detected, outcome),
            (setting.requested, setting.detected, setting.outcome),
        )

    def test_every_interface_has_the_model(self):
        cards = [{"driver": "e1000"}, {"driver": "virtio_net"}]
        setting = verify("hw_vif_model", "e1000", network_interfaces=cards)
        self.assertEqual(
            ("e1000, virtio", "not_applied"),
            (setting.detected, setting.outcome),
        )

    @ddt.unpack
    @ddt.data(
        ("hw_vif_multiqueue_enabled", "true", "2", 2, "applied"),
        ("hw:vif_multiqueue_enabled", "True", "1", 2, "not_applied"),
        ("hw_vif_multiqueue_enabled", "false", "1", 4, "applied"),
        ("hw_vif_multiqueue_enabled", "no", "4", 4, "not_applied"),
        ("hw_vif_multiqueue_enabled", "true", "1", 1, "not_proven"),
        ("hw_vif_multiqueue_enabled", "true", "", 2, "not_proven"),
    )
    def test_multiqueue(self, name, requested, queues, vcpus, outcome):
        cards = [{"driver": "virtio_net", "queues": queues}]
        setting = verify(name, requested, vcpus, network_interfaces=cards)
        self.assertEqual(outcome, setting.outcome)

    @ddt.unpack
    @ddt.data(
        ("hw_disk_bus", "virtio", VIRTIO_DISK, "virtio", "applied"),
        ("hw_disk_bus", "scsi", VIRTIO_DISK, "virtio", "not_applied"),
        (
            "hw_disk_bus",
            "scsi",
            disk(controller="virtio_scsi"),
            "scsi",
            "applied",
        ),
        ("hw_disk_bus", "ide", disk(controller="ata_piix"), "ide", "applied"),
        ("hw_disk_bus", "ide", disk(controller="ahci"), "sata", "not_applied"),
        ("hw_disk_bus", "ide", disk(controller=""), None, "not_proven"),
        (
            "hw_scsi_model",
            "virtio-scsi",
            disk(controller="virtio_scsi"),
            "virtio-scsi",
            "applied",
        ),
        (
            "hw_scsi_model",
            "virtio-scsi",
            disk(controller="sym53c8xx"),
            "lsilogic",
            "not_applied",
        ),
        ("hw_scsi_model", "virtio-scsi", VIRTIO_DISK, None, "not_proven"),
    )
    def test_disks(self, name, requested, fact, detected, outcome):
        """The drive of a config drive does not count."""
        setting = verify(name, requested, disks=[fact, CD_ROM])
        self.assertEqual(
            (detected, outcome), (setting.detected, setting.outcome)
        )

    @ddt.unpack
    @ddt.data(
        ("hw:numa_nodes", "2", "2", "applied"),
        ("hw_numa_nodes", "1", "2", "not_applied"),
        ("hw:cpu_sockets", "2", "2", "applied"),
        ("hw:cpu_cores", "3", "3", "applied"),
        ("hw:cpu_cores", "6", "3", "not_applied"),
        ("hw_cpu_threads", "2", "2", "applied"),
        ("hw_machine_type", "q35", "pc-q35-7.2", "applied"),
        ("hw_machine_type", "pc-q35-7.2", "pc-q35-7.2", "applied"),
        ("hw_machine_type", "pc", "pc-q35-7.2", "not_applied"),
    )
    def test_processors_and_machine_type(
        self, name, requested, detected, outcome
    ):
        setting = verify(
            name,
            requested,
            numa_nodes=2,
            sockets=2,
            cores=6,
            threads=12,
            machine_type="pc-q35-7.2",
        )
        self.assertEqual(
            (detected, outcome), (setting.detected, setting.outcome)
        )

    @ddt.unpack
    @ddt.data(
        ("dedicated", [node(cpu_pinning={"0": 4, "1": 5})], "applied"),
        ("dedicated", [node(cpu_pinning={"0": 4})], "not_applied"),
        ("mixed", [node(cpu_pinning={"0": 4})], "applied"),
        ("dedicated", [node(cpu_pinning={})], "not_applied"),
        ("dedicated", [], "not_applied"),
        ("shared", [], "applied"),
        ("dedicated", [node()], "not_proven"),
        ("dedicated", None, "not_proven"),
    )
    def test_cpu_policy(self, requested, nodes, outcome):
        topology = None if nodes is None else {"nodes": nodes}
        setting = verify("hw:cpu_policy", requested, topology=topology)
        self.assertEqual(outcome, setting.outcome)

    @ddt.unpack
    @ddt.data(
        ("require", [[0, 1]], "applied"),
        ("isolate", [[0, 1]], "not_applied"),
        ("isolate", [], "not_proven"),
        ("require", [], "not_proven"),
        ("prefer", [[0, 1]], "not_proven"),
    )
    def test_thread_policy(self, requested, siblings, outcome):
        topology = {"nodes": [node(siblings=siblings)]}
        setting = verify("hw:cpu_thread_policy", requested, topology=topology)
        self.assertEqual(outcome, setting.outcome)

    @ddt.unpack
    @ddt.data(
        ("2048", 2048, "applied"),
        ("2MB", 2048, "applied"),
        ("1GB", 2048, "not_applied"),
        ("large", 1048576, "applied"),
        ("large", 4, "not_applied"),
        ("small", 4, "applied"),
        ("large", None, "not_applied"),
        ("any", 4, "not_proven"),
    )
    def test_page_size(self, requested, page_kib, outcome):
        topology = {"nodes": [], "pagesize_kb": page_kib}
        setting = verify("hw:mem_page_size", requested, topology=topology)
        self.assertEqual(outcome, setting.outcome)

    @ddt.data(
        *verification._RULES, "quota:cpu_quota", "hw_rng_model", "hw:unknown"
    )
    def test_nothing_is_proven_without_facts(self, name):
        self.assertEqual("not_proven", verify(name, "1").outcome)


@ddt.ddt
class FindingsTest(unittest.TestCase):
    def test_each_setting_that_is_not_verified(self):
        guest = made.guest(
            "g2",
            settings={
                "hw:cpu_policy": "dedicated",
                "quota:cpu_quota": "5000",
                "hw_vif_model": "e1000",
                "hw_disk_bus": "ide",
            },
            topology={"nodes": [node(cpu_pinning={})]},
        )
        fingerprint = {
            "network_interfaces": [{"driver": "virtio_net"}],
            "disks": [disk(controller="ata_piix")],
        }
        self.assertEqual(
            [
                finding.Finding(
                    "variant_not_applied",
                    "g2",
                    "hw:cpu_policy=dedicated was requested, g2 has shared",
                ),
                finding.Finding(
                    "variant_not_proven",
                    "g2",
                    "quota:cpu_quota=5000 was requested, neither g2 nor the "
                    "cloud shows it",
                ),
                finding.Finding(
                    "variant_not_applied",
                    "g2",
                    "hw_vif_model=e1000 was requested, g2 has virtio",
                ),
            ],
            verification.find_differences(guest, fingerprint),
        )

    @ddt.unpack
    @ddt.data(
        (["ssd", "ssd"], ["ssd", "ssd"], []),
        (["SSD", None], ["SSD", "standard"], []),
        ([None], ["standard"], []),
        (
            ["ssd", "hdd"],
            ["ssd", "standard"],
            ["volume_type=hdd, ssd was requested, g1 has ssd, standard"],
        ),
        (
            ["ssd"],
            [None],
            [
                "volume_type=ssd was requested, neither g1 nor the cloud "
                "shows it"
            ],
        ),
    )
    def test_types_of_volumes(self, requested, detected, details):
        volumes = tuple(
            models.Volume(
                id="v", size_gib=1, type=kind, requested_type=requested_kind
            )
            for kind, requested_kind in zip(detected, requested, strict=True)
        )
        found = verification.find_differences(made.guest(volumes=volumes), {})
        self.assertEqual(details, [each.detail for each in found])

    def test_guest_without_settings(self):
        self.assertEqual([], verification.find_differences(made.guest(), {}))
