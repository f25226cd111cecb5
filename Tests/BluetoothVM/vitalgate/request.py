"""`devices request`: a report on a device that nobody adopted. It has what was sent, and neither the device's address nor its name."""
import json

SENSORS = 'heart,bthome'


def request(vm, name, channel, *options):
    """The report's text, its lines, and the frames of a channel: a sensor sends each second, and a slow machine is listened to for longer."""
    for seconds in (8, 60):
        code, text, said = vm.hub('devices', 'request', vm.address(name), '--seconds', str(seconds), *options)
        report = [json.loads(line) for line in text.splitlines()]
        heard = [bytes.fromhex(line['octets']) for line in report if line.get('channel') == channel]
        if heard:
            break
    vm.check(f'{name}: a report', code == 0, said)
    return text, report, heard


def hides(vm, name, text):
    octets = vm.address(name).split(':')
    forms = [':'.join(octets), ''.join(octets), ''.join(reversed(octets))]
    vm.check(f'{name}: its address is not in it', not any(form.lower() in text.lower() for form in forms))
    own = f'VM {name}'
    vm.check(f'{name}: nor its name', own not in text and own.encode().hex() not in text.lower())


def scenario(vm):
    text, _, heard = request(vm, 'bthome', 'advert:FCD2')
    vm.check('what it advertised, as it was sent', heard and not set(heard) - set(vm.sent('bthome', 'adv:FCD2')), len(heard))
    hides(vm, 'bthome', text)

    text, report, heard = request(vm, 'heart', 'gatt:2A37', '--connect')
    vm.check('what it said, as it was sent', heard and not set(heard) - set(vm.sent('heart', '2A37')), len(heard))
    offers = [offer for line in report if line.get('event') == 'device' for offer in line['about'].get('offers', [])]
    vm.check('what it offers', any('2A37' in offer.upper() for offer in offers), offers)
    hides(vm, 'heart', text)

    with open('/tmp/report.ndjson', 'w', encoding='utf-8') as file:
        file.write(text)
    code, draft, said = vm.hub('profile', 'suggest', '--capture', '/tmp/report.ndjson')
    vm.check('a draft is made of it', code == 0 and '2A37' in draft.upper(), said)
    vm.check('nobody is adopted by it', vm.hub('devices', 'list', '--format', 'ndjson')[1] == '')
