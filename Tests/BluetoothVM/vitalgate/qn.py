"""A scale of QN's make: answered, weighed on, and told behind the commit; it does not hear the first acknowledgement, and nothing is stored twice."""
SENSORS = 'qn'


def weight(octets):
    return int.from_bytes(octets[5:7], 'big') * 0.01


def scenario(vm):
    vm.adopt('qn')
    hub = vm.run()
    vm.radio('lose qn 1')
    vm.check('weighed', vm.radio('measure qn 2') == 'record 2')
    heard = [line['heard'] for line in vm.ledger('qn') if line.get('event') == 'acknowledged']
    vm.check('acknowledged until it was heard', heard.count(True) >= 2 and False in heard, heard)
    sent = vm.records('qn', 'FFF1')
    vm.check('a final weight was repeated', len(sent) == 2 and len(vm.sent('qn', 'FFF1')) > 6)
    vm.arrive('each weight', 'bodyMass', [weight(octets) for octets in sent.values()])
    vm.check('stops', hub.stop() == 0)
    vm.only('each once', 'bodyMass', [weight(octets) for octets in sent.values()])
    vm.check_account()
