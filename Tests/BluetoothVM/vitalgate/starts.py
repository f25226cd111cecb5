"""The program under test runs in the machine: its libraries are there."""
from scenario import LIMIT


def scenario(vm):
    program = vm.start(vm.vitalgate, '--version')
    vm.check('--version', program.process.wait(LIMIT) == 0, program.output().strip())
