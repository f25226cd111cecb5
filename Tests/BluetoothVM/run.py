"""Runs scenarios inside the machine: run.py FILE…   Ends with "N passed, N failed"; 1 where something failed.

A scenario is a Python file with a docstring (what it shows) and a function scenario(vm); see README.md beside this file.
"""
import importlib.util
import pathlib
import sys
import traceback

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here))
sys.dont_write_bytecode = True
from scenario import Scenario  # noqa: E402


def run(path):
    specification = importlib.util.spec_from_file_location(path.stem.replace('-', '_'), path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    vm = Scenario(path.stem)
    try:
        if getattr(module, 'SENSORS', ''):
            vm.radio(f'appear {module.SENSORS}')
        module.scenario(vm)
    except Exception:
        traceback.print_exc(file=sys.stdout)
        vm.check('ran to its end', False)
    vm.close(loses=getattr(module, 'LOSES', False))
    return vm


vms = [run(pathlib.Path(path).resolve()) for path in sys.argv[1:]]
passed, failed = sum(vm.passed for vm in vms), sum(vm.failed for vm in vms)
print(f'{passed} passed, {failed} failed', flush=True)
sys.exit(1 if failed or not passed else 0)
