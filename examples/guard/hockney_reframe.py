# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""ReFrame: is message passing slower than in a baseline?

    reframe -C settings.py -c hockney_reframe.py -r -S baseline=$PWD/baseline -S tolerance=5%

hockney starts its ranks itself, in an allocation on the hosts of the job, and is run without ReFrame's
launcher. The performance variables are the mean ratios of the operations, for ReFrame's log; the answer is
hockney's exit code, which takes into account how far launches differ, wrong data and unfinished checks.
"""

import json
import os

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher
from reframe.core.builtins import run_before, sanity_function, variable


@rfm.simple_test
class MessagePassing(rfm.RunOnlyRegressionTest):
    descr = "message passing is not slower than in the baseline"
    valid_systems = ["*"]  # noqa: RUF012
    valid_prog_environs = ["*"]  # noqa: RUF012
    executable = "hockney"
    time_limit = "30m"
    baseline = variable(str, value="baseline")
    """A run, or a folder of runs; a relative path is relative to this file."""
    tolerance = variable(str, value="5%")
    budget = variable(str, value="2m")
    undecided_passes = variable(bool, value=False)

    @run_before("run")
    def set_options(self):
        path = os.path.join(self.prefix, self.baseline)
        self.executable_opts = ["survey", "--check", path, "--tolerance", self.tolerance]
        self.executable_opts += ["--budget", self.budget, "--out", "checked", "--quiet", "--json"]
        self.executable_opts += ["--report", "comparison.html"]
        self.postrun_cmds = ["echo $? > exit_code"]
        self.keep_files = ["checked", "comparison.html", "exit_code"]

    @run_before("run")
    def without_launcher(self):
        self.job.launcher = getlauncher("local")()

    @sanity_function
    def is_not_slower(self):
        sn.evaluate(sn.assert_found(r"\S", self.stdout, "hockney ended with an error"))
        with open(os.path.join(self.stagedir, "exit_code")) as file:
            code = int(file.read())
        passes = (0, 4) if self.undecided_passes else (0,)
        return sn.assert_in(code, passes, self.document()["sentence"])

    @run_before("performance")
    def set_performance(self):
        document = self.document()
        has_parts = "parts_only_a" in document  # every node of 'hockney run nodes' is an operation
        self.perf_variables = {
            f"{each['operation']} {each['level']}" if has_parts else each["operation"]: (
                sn.make_performance_function(sn.defer(each["mean_ratio"]), "ratio")
            )
            for each in document["operations"]
        }

    def document(self):
        with open(os.path.join(self.stagedir, self.stdout.evaluate())) as file:
            return json.load(file)["comparison"]
